import { isJsonObject, type JsonObject, own } from '../domain/json.ts'
import type { Answer } from './answer.ts'
import type { Api } from './target.ts'

/**
 * The accounts and providers that a run has created at the target, and removes at its end. Their names start with the prefix of
 * the run; nothing without it is deleted, even when the target's lists contain it.
 */
export class TestResources {
  readonly #api: Api
  readonly prefix: string
  /** How each of them is removed, by a name of its own. */
  readonly #removals = new Map<string, () => Promise<Answer>>()
  #names = 0

  constructor(api: Api, prefix: string) {
    this.#api = api
    this.prefix = prefix
  }

  /** A name that nothing else has. */
  name(label = ''): string {
    this.#names += 1
    return `${this.prefix}-${this.#names}${label === '' ? '' : `-${label}`}`
  }

  /** An identifier that no other account has. */
  identifier(label = ''): string {
    return `${this.name(label)}@conform.example`
  }

  /** Adds the account of an answer, if its name is one of this run. */
  addAccount(answer: Answer): void {
    if (answer.status > 201) return
    const account = objectAt(answer, 'connected_account')
    if (account) this.#add(account)
  }

  addProvider(answer: Answer): void {
    if (answer.status > 201) return
    const provider = objectAt(answer, 'provider') ?? {}
    const [identifier, display] = [own(provider, 'identifier'), own(provider, 'display_name')]
    if (typeof identifier === 'string' && typeof display === 'string' && display.startsWith(this.prefix))
      this.#addAt(`/custom-providers/${encodeURIComponent(identifier)}`)
  }

  /** Adds an MCP config that the run has created. */
  addConfig(id: string): void {
    this.#addAt(`/mcp/configs/${id}`)
  }

  #addAt(path: string): void {
    this.#removals.set(path, () => this.#api.delete(path))
  }

  /** Removes them, and every other account with the prefix; answers what is left. */
  async removeAll(): Promise<string[]> {
    // A service that fails to search may remove what is known by its id all the same.
    await this.#findAccounts().catch(() => undefined)
    const removals = [...this.#removals]
    this.#removals.clear()
    const left: string[] = []
    for (const [what, remove] of removals) {
      const status = await remove().then(
        (answer) => answer.status,
        () => 0,
      )
      if (status !== 200 && status !== 404) left.push(what)
    }
    return left
  }

  /** Accounts that a magic link created were never in an answer. */
  async #findAccounts(): Promise<void> {
    let token = ''
    for (let page = 0; page < 100; page += 1) {
      const query = { query: this.prefix, page_size: 30, page_token: token === '' ? undefined : token }
      const answer = await this.#api.get('/connected_accounts:search', query)
      if (answer.status !== 200) return
      for (const account of listAt(answer, 'connected_accounts')) this.#add(account)
      const next = answer.at('next_page_token')
      if (typeof next !== 'string' || next === '' || next === token) return
      token = next
    }
  }

  #add(account: JsonObject): void {
    const [id, identifier] = [own(account, 'id'), own(account, 'identifier')]
    if (typeof id === 'string' && typeof identifier === 'string' && identifier.startsWith(this.prefix))
      this.#removals.set(id, () => this.#api.post('/connected_accounts:delete', { id }))
  }
}

function objectAt(answer: Answer, path: string): JsonObject | undefined {
  try {
    const value = answer.at(path)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function listAt(answer: Answer, path: string): JsonObject[] {
  const value = answer.at(path)
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
