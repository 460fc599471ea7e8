import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import type { Kin } from './row-reader.ts'

/** Not every account has a grant: the one of the next grant is looked for among so many first. */
const NEAR = 8

/** A grant mostly repeats what its account says, and grants come in the order of their accounts. */
export class AccountTexts implements Kin {
  readonly #accounts: readonly JsonObject[]
  #places: Map<JsonValue | undefined, number> | undefined
  #at = -1

  constructor(accounts: readonly JsonObject[]) {
    this.#accounts = accounts
  }

  likely(field: string): string | undefined {
    if (field === 'account_id') return text(this.#accounts[this.#at + 1]?.['id'])
    const account = this.#accounts[this.#at]
    if (!account) return undefined
    if (field === 'person') return text(account['identifier'])
    if (field === 'access') return text(tokenOf(account)?.['access_token'])
    return field === 'refresh_token' ? text(tokenOf(account)?.['refresh_token']) : undefined
  }

  instead(field: string, said: string): string {
    if (field !== 'account_id') return said
    const next = this.#accounts.slice(this.#at + 1, this.#at + 1 + NEAR).findIndex(({ id }) => id === said)
    this.#at = next < 0 ? this.#placeOf(said) : this.#at + 1 + next
    return text(this.#accounts[this.#at]?.['id']) ?? said
  }

  #placeOf(id: string): number {
    this.#places ??= new Map(this.#accounts.map((account, at) => [account['id'], at]))
    return this.#places.get(id) ?? -1
  }
}

function tokenOf({ credentials }: JsonObject): JsonObject | undefined {
  const token = isJsonObject(credentials) ? credentials['oauth_token'] : undefined
  return isJsonObject(token) ? token : undefined
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
