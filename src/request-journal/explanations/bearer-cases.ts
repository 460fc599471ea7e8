import { instant } from '../../domain/instant.ts'
import { own } from '../../domain/json.ts'
import type { RecordedEntry } from '../entry.ts'
import { masked } from '../masking.ts'
import { answerOf, type Case, type Finding, named } from './case.ts'

/** 401: which token came, who got it, and what became of it (5.4, G15). */
export function unauthenticated(of: Case): Finding {
  const token = bearerOf(of.entry)
  return {
    because: of.message === '' ? 'There was no valid bearer token.' : `${of.message}.`,
    basis: '5.3, 5.4, G15',
    facts: token === undefined ? ['The request carried no bearer token.'] : tokenFacts(of, token),
    advice: [
      'Get a token with POST /oauth/token (grant_type=client_credentials) and send it as Authorization: Bearer TOKEN.',
      'A client that keeps its token has to get a new one after a 401: scenarios and the clock can end one at any time.',
    ],
  }
}

function tokenFacts({ entry, earlier, environment }: Case, token: string): string[] {
  const issuer = earlier.findLast(
    (each) => each.operation === 'create_token' && own(answerOf(each), 'access_token') === token,
  )
  const stored = environment?.model.tables.bearer_tokens.get(token)
  const at = instant(entry.at)
  const end = stored && `It ends at ${stored.expires_at}; the clock said ${at} then.`
  const missing = `Environment ${JSON.stringify(entry.environment)} does not know it (any more).`
  return [
    `The request carried the token ${masked(token)}.`,
    issuer ? `It was issued by ${named(issuer)}.` : 'No request in this journal was given it.',
    end ?? missing,
  ]
}

function bearerOf({ requestHeaders }: RecordedEntry): string | undefined {
  const at = requestHeaders.findIndex((name, place) => place % 2 === 0 && name.toLowerCase() === 'authorization')
  const [scheme = '', token = ''] = (at < 0 ? '' : (requestHeaders[at + 1] ?? '')).split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** The token endpoint's 401 (G14). */
export function invalidClient({ environment, message }: Case): Finding {
  const known = [...(environment?.model.tables.clients.values() ?? [])].map(({ id }) => id)
  return {
    because: message === '' ? 'The client credentials are wrong.' : `${message}.`,
    basis: '5.1, G14',
    facts: [`Clients of this environment: ${known.join(', ') || 'none'}. The client id chooses the environment.`],
    advice: [
      'Use the client id and secret that the start printed, that the seed declares, or that creating the environment answered.',
    ],
  }
}
