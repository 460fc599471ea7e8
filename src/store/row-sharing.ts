import type { Account } from '../domain/account.ts'
import type { Grant } from '../domain/grant.ts'
import type { JsonObject } from '../domain/json.ts'

/** Values that repeat do so soon: what was not seen among so many is forgotten. */
const REMEMBERED = 4096

/**
 * Makes rows that were just parsed, and that nobody else holds yet, share what is equal in them: of a large model nearly
 * half is the same texts over and over. Rows are immutable, so that nobody can tell.
 */
export class RowSharing {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, string[]>()
  readonly #nothing: JsonObject = {}

  account(row: Account): void {
    row.connection_id = this.#text(row.connection_id)
    row.updated_at = this.#text(row.updated_at)
    row.organization_id = this.#text(row.organization_id)
    row.user_id = this.#text(row.user_id)
    if (row.token_expires_at !== undefined) row.token_expires_at = this.#text(row.token_expires_at)
    if (Object.keys(row.api_config).length === 0) row.api_config = this.#nothing
    const { oauth_token } = row.credentials
    if (oauth_token) oauth_token.scopes = this.#list(oauth_token.scopes)
  }

  /** A grant mostly repeats what its account says. */
  grant(row: Grant, account: Account | undefined): void {
    row.scopes = this.#list(row.scopes)
    if (row.expires_at !== undefined) row.expires_at = this.#text(row.expires_at)
    if (!account) return
    row.account_id = account.id
    if (row.person === account.identifier) row.person = account.identifier
    const { access_token, refresh_token } = account.credentials.oauth_token ?? {}
    if (row.access === access_token) row.access = access_token
    if (row.refresh_token === refresh_token) row.refresh_token = refresh_token
  }

  #text(text: string): string {
    return remembered(this.#texts, text, text)
  }

  #list(list: string[]): string[] {
    return remembered(this.#lists, list.join('\n'), list)
  }
}

function remembered<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  if (map.size >= REMEMBERED) map.clear()
  map.set(key, value)
  return value
}
