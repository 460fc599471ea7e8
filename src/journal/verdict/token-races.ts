import type { Finding } from '../../model/domain/finding.ts'
import type { TokenEvent } from '../../model/domain/request-trace.ts'
import type { StoredEntry } from '../request-journal/entry.ts'
import { violation } from '../request-journal/findings.ts'
import { type CountedFinding, CountedFindings, findingKey, type FoundIn, foundIn } from './counted-findings.ts'

/** How many renewals, and how many uses of older tokens, a record keeps. */
const MAX_EVENTS = 1000

type Mistake = Pick<Finding, 'field' | 'code' | 'found' | 'allowed'>
type Suspect = Exclude<TokenEvent, { kind: 'renewed' }>

/** How the clients of an environment used refresh tokens that rotate. Requests are recorded in the order of their ends. */
export class TokenRaces {
  /** By the token that was spent: what replaced it, and in which request. */
  readonly #renewed = new Map<string, { readonly next: string; readonly request: string }>()
  /** By token: the request that stored it last. */
  readonly #stored = new Map<string, string>()
  readonly #suspects: { readonly event: Suspect; readonly operation: string; readonly found: FoundIn }[] = []

  see(entry: StoredEntry): void {
    const { operation, id: request } = entry
    for (const event of entry.trace.tokens) {
      if (event.kind === 'renewed') setNewest(this.#renewed, event.token, { next: event.next, request })
      else {
        const place = foundIn(entry)
        if (event.kind === 'stored') setNewest(this.#stored, event.token, request)
        if (this.#suspects.length === MAX_EVENTS) this.#suspects.shift()
        this.#suspects.push({ event, operation: operation ?? 'token_refresh', found: place })
      }
    }
  }

  add(races: TokenRaces): void {
    for (const [token, renewal] of races.#renewed) setNewest(this.#renewed, token, renewal)
    for (const [token, request] of races.#stored) setNewest(this.#stored, token, request)
    this.#suspects.push(...races.#suspects.slice(0, MAX_EVENTS - this.#suspects.length))
  }

  addTo(findings: CountedFindings): void {
    for (const { event, operation, found } of this.#suspects) {
      const item =
        event.kind === 'replayed' ? this.#replayMistake(event.token, found) : this.#overwrittenMistake(event, found)
      if (item) findings.add(violation({ ...item, operation }), found)
    }
  }

  #replayMistake(token: string, { id: request }: FoundIn): Mistake {
    const first = this.#renewed.get(token)?.request ?? 'an earlier request'
    return {
      field: 'refresh_token',
      code: 'refresh_token_replayed',
      found: `the one that ${first} had spent, in ${request}`,
      allowed: 'must be the refresh token that the last renewal answered',
    }
  }

  /** Undefined where a client stores a token that is no older, or where the newer one is none that a client has stored. */
  #overwrittenMistake({ token, former }: Suspect & { kind: 'stored' }, { id: request }: FoundIn): Mistake | undefined {
    const first = this.#stored.get(former)
    if (first === undefined || !this.#isRenewalOf(former, token)) return undefined
    return {
      field: 'connected_account.authorization_details.oauth_token.refresh_token',
      code: 'credentials_overwritten_by_older',
      found: `one that was spent for the one that ${first} had stored, in ${request}`,
      allowed: 'must not be older than the one that is stored',
    }
  }

  /** Whether a token came of another one by renewals. */
  #isRenewalOf(token: string, from: string): boolean {
    const visited = new Set<string>()
    for (
      let at = this.#renewed.get(from)?.next;
      at !== undefined && !visited.has(at);
      at = this.#renewed.get(at)?.next
    ) {
      if (at === token) return true
      visited.add(at)
    }
    return false
  }
}

function setNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MAX_EVENTS && oldest !== undefined) map.delete(oldest)
}

/** What clients of these environments got wrong with tokens that rotate. Each pair of requests is a finding of its own. */
export function tokenRaces(environments: readonly TokenRaces[]): Iterable<CountedFinding> {
  const findings = new CountedFindings((item) => `${findingKey(item)}\n${item.found}`)
  for (const races of environments) races.addTo(findings)
  return findings.list()
}
