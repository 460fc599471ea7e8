import { quote } from '../../domain/text.ts'
import { instant } from '../../domain/instant.ts'
import { own } from '../../domain/json.ts'
import type { LifecycleEvent } from '../../domain/lifecycle.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Table } from '../../state/model/table.ts'
import type { RecordedEntry } from '../entry.ts'
import { accountFacts, answerOf, type Evidence, type Cause, named, sentText } from './evidence.ts'

const NEW_LINK = 'Create a new magic link and send the user through it.'

/** Verify's 404: what happened to the auth request, and in which request (3.1, G32). */
export function authRequestNotFound(evidence: Evidence): Cause {
  const { entry, environment } = evidence
  const id = sentText(entry, 'auth_request_id') ?? ''
  const request = environment?.model.tables.auth_requests.get(id)
  return {
    because: evidence.message === '' ? 'No pending flow has this auth_request_id.' : `${evidence.message}.`,
    basis: '3.1, 4.7, G32',
    facts: [
      ...(request ? outcomeFacts(evidence, request) : ['No consent in this environment created this auth_request_id.']),
      ...redirectFact(evidence, id),
    ],
    advice: [
      request?.outcome === 'consumed'
        ? 'Verify once for each redirect: a second click or a retry gets this 404.'
        : NEW_LINK,
    ],
  }
}

function outcomeFacts({ entry, earlier }: Evidence, request: AuthRequest): string[] {
  const at = instant(entry.at)
  switch (request.outcome) {
    case 'pending':
      return [`It is pending until ${request.expires_at}; the clock said ${at}.`]
    case 'expired':
      return [`It expired at ${request.expires_at}; the clock said ${at}.`]
    case 'consumed': {
      const verified = earlier.findLast((each) => verifiedWith(each, request.id))
      return [
        verified
          ? `It was consumed by ${named(verified)}.`
          : 'It was consumed by a request that is no longer in the journal.',
      ]
    }
    case 'superseded': {
      const later = earlier.findLast(({ trace }) => approved(trace.transitions, request.account_id))
      return [later ? `It was superseded by the consent in ${named(later)}.` : 'A later consent superseded it.']
    }
    case 'withdrawn': {
      const ended = earlier.findLast(({ trace }) => withdrew(trace.transitions, request.account_id))
      return [ended ? `It ended with ${named(ended)}.` : 'It ended when its account was disconnected.']
    }
  }
}

function verifiedWith(entry: RecordedEntry, id: string): boolean {
  return entry.operation === 'verify_user' && entry.status === 200 && sentText(entry, 'auth_request_id') === id
}

/** The events that end what waits for verification ("States"). */
const WITHDRAWING: ReadonlySet<LifecycleEvent> = new Set([
  'disconnected',
  'provider_deleted',
  'type_changed',
  'type_changed_ready',
])

function withdrew(transitions: RecordedEntry['trace']['transitions'], account: string): boolean {
  return transitions.some(({ event, account_id }) => account_id === account && WITHDRAWING.has(event))
}

function approved(transitions: RecordedEntry['trace']['transitions'], account: string): boolean {
  return transitions.some(({ event, account_id }) => account_id === account && event.startsWith('consent_approved'))
}

/** The redirect that carried the auth_request_id to the application. */
function redirectFact({ entry, earlier }: Evidence, id: string): string[] {
  if (id === '') return []
  const name = entry.vocabulary?.wire('auth_request_id') ?? 'auth_request_id'
  const redirect = earlier.findLast(({ responseHeaders }) =>
    (responseHeaders['Location'] ?? '').includes(`${name}=${encodeURIComponent(id)}`),
  )
  return redirect ? [`The application received it in the redirect of ${named(redirect)}.`] : []
}

/** Verify's 403: the two identifiers side by side. The answer does not contain them (4.7, G57). */
export function identifierMismatch(evidence: Evidence): Cause {
  const { entry, environment } = evidence
  const request = environment?.model.tables.auth_requests.get(sentText(entry, 'auth_request_id') ?? '')
  return {
    because: 'The identifier of the request differs from the one that the magic link was created for.',
    basis: '3.1, 4.7, G57',
    facts: [
      `Sent: ${quote(sentText(entry, 'identifier') ?? '')}; stored with the auth request: ${quote(request?.identifier ?? '')}.`,
      'The auth request stays pending; nothing was changed.',
      ...accountFacts(evidence),
    ],
    advice: [
      'Send the identifier of the user who is logged in to the application. If it really differs, another user followed the link.',
    ],
  }
}

/** A page that says why its link cannot be used (G28). */
export function linkProblem(because: string, advice: string = NEW_LINK): (evidence: Evidence) => Cause {
  return (evidence) => ({
    because: evidence.entry.failure ? `${because} The page says: ${evidence.entry.failure}.` : because,
    basis: '2.3, G28',
    facts: [...linkFacts(evidence), ...accountFacts(evidence)],
    advice: [advice],
  })
}

function linkFacts({ entry, earlier, environment }: Evidence): string[] {
  const link = environment && linkOf(entry, environment.model.tables.magic_links)
  if (!link) return []
  const maker = earlier.findLast((each) => {
    const made = each.operation === 'create_magic_link' ? own(answerOf(each), 'link') : undefined
    return typeof made === 'string' && made.endsWith(`/magic/${link.id}`)
  })
  return [
    ...(maker ? [`The link was created by ${named(maker)}.`] : []),
    `It is valid until ${link.expires_at}; the clock said ${instant(entry.at)}.`,
    ...(link.completed_at === undefined ? [] : [`Its flow was completed at ${link.completed_at}.`]),
  ]
}

/** By the address of the link, or by the `state` that the third party sent back. */
function linkOf({ url }: RecordedEntry, links: Table<MagicLink>): MagicLink | undefined {
  const [path = '', query = ''] = url.split('?')
  const id = /^\/magic\/([^/]+)$/.exec(path)?.[1]
  if (id !== undefined) return links.get(id)
  const state = new URLSearchParams(query).get('state')
  if (state !== null) for (const link of links.values()) if (link.oauth_state === state) return link
  return undefined
}
