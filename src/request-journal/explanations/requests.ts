import { violationText } from '../../domain/errors.ts'
import { instant } from '../../domain/instant.ts'
import { own } from '../../domain/json.ts'
import { isSessionToken } from '../../domain/session-token.ts'
import { nearest } from '../../domain/suggestion.ts'
import { quote } from '../../domain/text.ts'
import type { RecordedEntry } from '../entry.ts'
import { masked } from '../../domain/masking.ts'
import { pathOf } from '../view.ts'
import { answerOf, type Cause, type Evidence, type Explainer, named, sentText } from './evidence.ts'

/** A check of the request's form; the facts are the violations, or the message of the answer. */
export function formCheck(basis: string, because: string, ...advice: string[]): Explainer {
  return ({ message, entry }) => ({
    because,
    basis,
    facts: entry.violations.length > 0 ? entry.violations.map(violationText) : message === '' ? [] : [message],
    advice,
  })
}

export const validationFailed: Explainer = formCheck(
  '7.2, G52',
  'The request breaks the contract of the operation (spec/openapi.yaml).',
  'Correct these fields; the operation in spec/openapi.yaml lists all of them.',
)

export function pathNotFound({ entry, message }: Evidence): Cause {
  const { didYouMean: meant } = entry
  return {
    because: `${message === '' ? `${entry.method} ${quote(pathOf(entry))} is not served` : message.replace(/; did you mean .*$/s, '')}.`,
    basis: 'G8',
    facts: [],
    advice: meant === null ? ['Compare the path with spec/openapi.yaml.'] : [`Did you mean ${meant}?`],
  }
}

export function methodNotAllowed({ entry, message }: Evidence): Cause {
  return {
    because: `The path is served, but not with ${entry.method}.`,
    basis: 'G8',
    facts: message === '' ? [] : [message],
    advice: [`Use ${entry.didYouMean ?? 'a method of the Allow header'}.`],
  }
}

export function invalidConnector({ entry, environment, message }: Evidence): Cause {
  const sent = sentText(entry, 'connector') ?? ''
  const known = [...(environment?.model.tables.connections.values() ?? [])].map(({ key_id }) => key_id)
  const meant = nearest(sent, known)
  return {
    because: sent
      ? `No connection of environment ${quote(entry.environment)} has the key_id ${quote(sent)}.`
      : `${message}.`,
    basis: '4.6, G19',
    facts: [`Its connections: ${known.slice(0, 40).join(', ') || 'none'}.`],
    advice: [
      ...(meant === undefined ? [] : [`Did you mean ${quote(meant)}?`]),
      'Use one of its connections, create a custom provider, or add a connector (PUT /_mock/connectors/{name}).',
    ],
  }
}

export function providerNotFound({ message, environment }: Evidence): Cause {
  const known = [...(environment?.model.tables.providers.values() ?? [])].filter(({ is_custom }) => is_custom)
  return {
    because: message === '' ? 'No custom provider has that identifier.' : `${message}.`,
    basis: '4.12, 4.13, G40',
    facts: [`Custom providers now: ${known.map(({ identifier }) => identifier).join(', ') || 'none'}.`],
    advice: ['Use the identifier from the answer of the create; a deleted provider does not come back.'],
  }
}

const MINT =
  'Make a session token for this server: POST /api/v1/mcp/connections/{key_id}/tokens, or POST /api/v1/mcp/configs/{id}/tokens for the server of a config.'

/** 401: which token was sent, which request issued it, and when it expired (5.4, G15). */
export function unauthenticated(evidence: Evidence): Cause {
  const token = bearerOf(evidence.entry)
  const because = evidence.message === '' ? 'The request has no valid bearer token.' : `${evidence.message}.`
  if (token !== undefined && isSessionToken(token)) return { because, basis: 'G61, G67', facts: [], advice: [MINT] }
  return {
    because,
    basis: '5.3, 5.4, G15',
    facts: token === undefined ? ['The request has no bearer token.'] : tokenFacts(evidence, token),
    advice: [
      'Get a token from POST /oauth/token (grant_type=client_credentials) and send it as Authorization: Bearer TOKEN.',
      'A client that caches its token has to get a new one after a 401: scenarios and the clock can end it at any time.',
    ],
  }
}

function tokenFacts({ entry, earlier, environment }: Evidence, token: string): string[] {
  const issuer = earlier.findLast(
    (each) => each.operation === 'create_token' && own(answerOf(each), 'access_token') === token,
  )
  const stored = environment?.model.tables.bearer_tokens.get(token)
  const at = instant(entry.at)
  const expiry = stored && `It expires at ${stored.expires_at}; the clock said ${at}.`
  const missing = `Environment ${quote(entry.environment)} does not have it, or no longer.`
  return [
    `The token of the request is ${masked(token)}.`,
    issuer ? `It was issued by ${named(issuer)}.` : 'No request in this journal issued it.',
    expiry ?? missing,
  ]
}

function bearerOf({ requestHeaders }: RecordedEntry): string | undefined {
  const at = requestHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization')
  const [scheme = '', token = ''] = (at < 0 ? '' : (requestHeaders[at + 1] ?? '')).split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** The 401 of the token endpoint (G14). */
export function invalidClient({ environment, message }: Evidence): Cause {
  const known = [...(environment?.model.tables.clients.values() ?? [])].map(({ id }) => id)
  return {
    because: message === '' ? 'The client credentials are wrong.' : `${message}.`,
    basis: '5.1, G14',
    facts: [`Clients of this environment: ${known.join(', ') || 'none'}. The client id chooses the environment.`],
    advice: [
      'Use a client id and secret that the server printed at its start, the seed declares, or the answer of POST /_mock/environments contains.',
    ],
  }
}
