import { type JsonValue, parsedJson, textOf } from '../../model/domain/json.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { type ServiceResponse, everyPage } from './service-response.ts'
import type { Api } from './target.ts'

/** All names start with the run's prefix, but for those of a recording; nothing else is deleted, even when listed. */
export class TestResources {
  readonly #api: Api
  readonly prefix: string
  /** How each of them is removed, by a name of its own. */
  readonly #removals = new Map<string, () => Promise<ServiceResponse>>()
  #names = 0

  constructor(api: Api, prefix: string) {
    this.#api = api
    this.prefix = prefix
  }

  name(label = ''): string {
    this.#names += 1
    return `${this.prefix}-${this.#names}${label === '' ? '' : `-${label}`}`
  }

  identifier(): string {
    return `${this.name()}@conform.example`
  }

  /** Adds the account of an answer, if its name is one of this run, or the run has just created it. */
  addAccount({ status, text }: ServiceResponse, isCreated = false): void {
    if (status <= 201) this.#addAccount(valueAt(parsedJson(text), 'connected_account'), isCreated)
  }

  /** As `addAccount`. */
  addProvider({ status, text }: ServiceResponse, isCreated = false): void {
    const provider = valueAt(parsedJson(text), 'provider')
    const [identifier, display] = ['identifier', 'display_name'].map((field) => textOf(valueAt(provider, field)))
    if (status <= 201 && identifier && (isCreated || display?.startsWith(this.prefix)))
      this.addAt(`/custom-providers/${encodeURIComponent(identifier)}`)
  }

  /** Adds what the run has created at a path, such as an MCP config. */
  addAt(path: string): void {
    this.add(path, () => this.#api.delete(path))
  }

  /** Adds anything else that the run has created. */
  add(what: string, remove: () => Promise<ServiceResponse>): void {
    this.#removals.set(what, remove)
  }

  /** Removes them, and every other account with the prefix; answers what is left. */
  async removeAll(): Promise<string[]> {
    // A service that fails to search may remove what is known by its id all the same.
    await this.#findAccounts().catch(() => undefined)
    const removals = [...this.#removals]
    this.#removals.clear()
    const left: string[] = []
    for (const [what, remove] of removals) {
      const response = await remove().catch(() => undefined)
      if (response?.status !== 200 && response?.status !== 404) left.push(what)
    }
    return left
  }

  /** Accounts that a magic link created were never in an answer. */
  async #findAccounts(): Promise<void> {
    await everyPage(async (page_token) => {
      const query = { query: this.prefix, page_size: 30, page_token }
      const response = (await this.#api.get('/connected_accounts:search', query)).is(200)
      for (const account of response.list('connected_accounts')) this.#addAccount(account)
      return response
    })
  }

  #addAccount(account: JsonValue | undefined, isCreated = false): void {
    const [id, identifier] = ['id', 'identifier'].map((field) => textOf(valueAt(account, field)))
    if (id && (isCreated || identifier?.startsWith(this.prefix)))
      this.add(id, () => this.#api.post('/connected_accounts:delete', { id }))
  }
}
