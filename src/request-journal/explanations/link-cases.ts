import { quote } from '../../domain/text.ts'
import { instant } from '../../domain/instant.ts'
import { own } from '../../domain/json.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Table } from '../../state/model/table.ts'
import type { RecordedEntry } from '../entry.ts'
import { accountFacts, answerOf, type Case, type Finding, named, sentText } from './case.ts'

const NEW_LINK = 'Create a new magic link and send the user through it.'

/** Verify's 404: what became of the auth request, and by which request (3.1, G32). */
export function authRequestNotFound(of: Case): Finding {
  const { entry, environment } = of
  const id = sentText(entry, 'auth_request_id') ?? ''
  const request = environment?.model.tables.auth_requests.get(id)
  return {
    because: of.message === '' ? 'There is no pending flow with this auth_request_id.' : `${of.message}.`,
    basis: '3.1, 4.7, G32',
    facts: [
      ...(request ? outcomeFacts(of, request) : ['No consent of this environment made this auth_request_id.']),
      ...redirectFact(of, id),
    ],
    advice: [
      request?.outcome === 'consumed'
        ? 'Verify once for each redirect; a second click or a retry gets this 404.'
        : NEW_LINK,
    ],
  }
}

function outcomeFacts({ entry, earlier }: Case, request: AuthRequest): string[] {
  const at = instant(entry.at)
  switch (request.outcome) {
    case 'pending':
      return [`It is pending until ${request.expires_at}; the clock said ${at} then.`]
    case 'expired':
      return [`It expired at ${request.expires_at}; the clock said ${at}.`]
    case 'consumed': {
      const verified = earlier.findLast((each) => verifiedWith(each, request.id))
      return [verified ? `It was consumed by ${named(verified)}.` : 'It was consumed before.']
    }
    case 'superseded': {
      const later = earlier.findLast(({ trace }) => approved(trace.transitions, request.account_id))
      return [later ? `It was superseded by the consent in ${named(later)}.` : 'A later consent superseded it.']
    }
  }
}

function verifiedWith(entry: RecordedEntry, id: string): boolean {
  return entry.operation === 'verify_user' && entry.status === 200 && sentText(entry, 'auth_request_id') === id
}

function approved(transitions: RecordedEntry['trace']['transitions'], account: string): boolean {
  return transitions.some(({ event, account_id }) => account_id === account && event.startsWith('consent_approved'))
}

/** The redirect that told the application of the request. */
function redirectFact({ entry, earlier }: Case, id: string): string[] {
  if (id === '') return []
  const name = entry.vocabulary?.wire('auth_request_id') ?? 'auth_request_id'
  const told = earlier.findLast(({ responseHeaders }) =>
    (responseHeaders['Location'] ?? '').includes(`${name}=${encodeURIComponent(id)}`),
  )
  return told ? [`The application was told of it by the redirect of ${named(told)}.`] : []
}

/** Verify's 403: the two identifiers side by side, which the answer keeps to itself (4.7, G57). */
export function identifierMismatch(of: Case): Finding {
  const { entry, environment } = of
  const request = environment?.model.tables.auth_requests.get(sentText(entry, 'auth_request_id') ?? '')
  return {
    because: 'The identifier of the request is not the one that the magic link was made for.',
    basis: '3.1, 4.7, G57',
    facts: [
      `Asserted: ${quote(sentText(entry, 'identifier') ?? '')}; stored with the auth request: ${quote(request?.identifier ?? '')}.`,
      'The auth request stays pending, and nothing was changed.',
      ...accountFacts(of),
    ],
    advice: [
      'Send the identifier of the user who is logged in to the application; if it really differs, somebody else followed the link.',
    ],
  }
}

/** A page that says that its link does not lead on (G28). */
export function linkProblem(because: string, advice: string = NEW_LINK): (of: Case) => Finding {
  return (of) => ({
    because: of.entry.failure ? `${because} The page says: ${of.entry.failure}.` : because,
    basis: '2.3, G28',
    facts: [...linkFacts(of), ...accountFacts(of)],
    advice: [advice],
  })
}

function linkFacts({ entry, earlier, environment }: Case): string[] {
  const link = environment && linkOf(entry, environment.model.tables.magic_links)
  if (!link) return []
  const maker = earlier.findLast((each) => {
    const made = each.operation === 'create_magic_link' ? own(answerOf(each), 'link') : undefined
    return typeof made === 'string' && made.endsWith(`/magic/${link.id}`)
  })
  return [
    ...(maker ? [`The link was made by ${named(maker)}.`] : []),
    `It works until ${link.expires_at}; the clock said ${instant(entry.at)}.`,
    ...(link.completed_at === undefined ? [] : [`Its flow was completed at ${link.completed_at}.`]),
  ]
}

/** By the address of the link, or by the state that came back from the third party. */
function linkOf({ url }: RecordedEntry, links: Table<MagicLink>): MagicLink | undefined {
  const [path = '', query = ''] = url.split('?')
  const id = /^\/magic\/([^/]+)$/.exec(path)?.[1]
  if (id !== undefined) return links.get(id)
  const state = new URLSearchParams(query).get('state')
  if (state !== null) for (const link of links.values()) if (link.oauth_state === state) return link
  return undefined
}
