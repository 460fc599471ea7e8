import { setTimeout as delay } from 'node:timers/promises'
import { DECISIONS } from '../magic-links/consent-flow.ts'
import { now } from '../state/environment.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import { completeMagicLink } from './actions.ts'
import { valueOf } from './body.ts'
import type { ControlCall, ControlReply, ControlRoute } from './context.ts'
import { ControlError } from './control-error.ts'
import { aText, oneOf, readFields } from './fields.ts'
import { waitMsOf } from './waiting.ts'

/** Consent without a browser (G31). */
export const LINK_ROUTES: readonly ControlRoute[] = [
  {
    about: 'environment',
    operation: 'list_links',
    method: 'GET',
    path: '/links',
    query: ['wait_ms'],
    handle: listLinks,
  },
  {
    about: 'environment',
    operation: 'complete_link',
    method: 'POST',
    path: '/links/{id}/complete',
    body: 'required',
    handle: complete,
  },
]

const DECISION_FORMS = { decision: oneOf(DECISIONS), as: aText }

interface OpenLinkView {
  id: string
  link: string
  connector: string
  identifier: string
  expiry: string
}

/** Open and unexpired ones, oldest first; with `wait_ms` as soon as there is one, or when the time is over. */
async function listLinks(call: ControlCall): Promise<ControlReply> {
  const { context, environment, query } = call
  const waitMs = waitMsOf(query)
  let links = openLinks(call)
  if (links.length === 0 && waitMs > 0) {
    await anEntry(call, waitMs, () => (links = openLinks(call)).length > 0)
    // The environment may have been removed while this was waiting.
    if (context.registry.environment(environment.name) !== environment) links = []
  }
  return { status: 200, body: { links } }
}

/** Links come with requests: whoever waits for one looks again after each entry of the journal. */
async function anEntry(
  { context, environment, response }: ControlCall,
  ms: number,
  there: () => boolean,
): Promise<void> {
  const over = new AbortController()
  const end = (): void => over.abort()
  const stop = context.journals.of(environment).subscribe(({ event }) => {
    if (event === 'entry' && there()) end()
  })
  response.on('close', end)
  context.closing.addEventListener('abort', end)
  try {
    await delay(ms, undefined, { signal: over.signal }).catch(() => undefined)
  } finally {
    stop()
    response.off('close', end)
    context.closing.removeEventListener('abort', end)
  }
}

function openLinks({ context, environment, request }: ControlCall): OpenLinkView[] {
  const { tables, linkIndex } = environment.model
  const baseUrl = context.baseUrl(request)
  const present = now(environment)
  const links: OpenLinkView[] = []
  for (const { id, account_id, expires_at: expiry } of linkIndex.open()) {
    const account = tables.accounts.get(account_id)
    if (!account || expiry <= present) continue
    const { connector, identifier } = account
    links.push({ id, link: `${baseUrl}/magic/${id}`, connector, identifier, expiry })
  }
  return links
}

async function complete(call: ControlCall): Promise<ControlReply> {
  const { context, request, body, path, trace } = call
  const { decision, as } = readFields(body && (await valueOf(body)), DECISION_FORMS, { required: ['decision'] })
  if (decision === undefined) throw new Error('a required field was read as absent')
  const id = path['id'] ?? ''
  const environment = homeOf(call, id)
  const baseUrl = context.baseUrl(request)
  return { status: 200, body: await completeMagicLink(context, environment, id, { decision, as, baseUrl, trace }) }
}

/** A link belongs to its environment without anybody saying so; whoever names another one is told. */
function homeOf({ context, query, environment }: ControlCall, id: string): StoredEnvironment {
  const found = context.registry.byMagicLink(id)
  if (found && (!query.has('environment') || found.environment === environment)) return found.environment
  throw new ControlError(
    'LINK_NOT_FOUND',
    `there is no magic link ${JSON.stringify(id.slice(0, 100))} in this environment`,
  )
}
