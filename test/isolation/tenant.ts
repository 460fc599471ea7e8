import { expect } from 'vitest'
import type { JsonObject } from '../../src/model/domain/json.ts'
import type { Answer, HttpClient } from './http-client.ts'

/** What all tenants of the test share. */
export interface SharedRecord {
  readonly client: HttpClient
  /** The tenant of each issued id, token or link; the service never issues one twice. */
  readonly issued: Map<string, string>
  /** Every account that was ever created, with its tenant. */
  readonly accounts: { readonly id: string; readonly owner: string }[]
}

/** The tenant's own record of a connected account. */
export interface KnownAccount {
  readonly id: string
  readonly connector: string
  readonly identifier: string
}

/** Where the clock of tenant n starts: each tenant has its own year, so that a time identifies the tenant. */
const startOf = (number: number): number => Date.UTC(2030 + number, 0, 1)

/**
 * One test run among others on the same server: its environment, and a record of everything that its operations created
 * there. An answer that shows data of another tenant fails the test.
 */
export class Tenant {
  readonly name: string
  readonly shared: SharedRecord
  readonly accounts = new Map<string, KnownAccount>()
  /** The ids of all API requests that the tenant has sent. */
  readonly sent: string[] = []
  /** The expected time of its frozen clock. */
  now: number
  calls = 0
  readonly clientId: string
  readonly #authorization: string

  private constructor(shared: SharedRecord, number: number, { id, token }: { id: string; token: string }) {
    this.shared = shared
    this.name = nameOf(number)
    this.now = startOf(number)
    this.clientId = id
    this.#authorization = `Bearer ${token}`
  }

  /** Creates the environment and signs in to it. */
  static async create(shared: SharedRecord, number: number): Promise<Tenant> {
    const { client } = shared
    const clock = { now: new Date(startOf(number)).toISOString(), frozen: true }
    const made = await client.send('POST', '/_mock/environments', { body: { name: nameOf(number), clock } })
    expect(made.status).toBe(201)
    const { client_id, client_secret } = made.body as { client_id: string; client_secret: string }
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const signedIn = await client.send('POST', '/oauth/token', { body: form })
    return new Tenant(shared, number, { id: client_id, token: signedIn.body['access_token'] as string })
  }

  /** Calls the API; the request id identifies the tenant. */
  async api(status: number, method: string, path: string, body?: object): Promise<JsonObject> {
    const id = `${this.name}-request-${this.sent.length}`
    this.sent.push(id)
    const headers = { Authorization: this.#authorization, 'X-Request-Id': id }
    return this.#seen(status, await this.#send(method, `/api/v1${path}`, { headers, body }))
  }

  /** Calls the control API for its environment. */
  async control(status: number, method: string, path: string, body?: object): Promise<JsonObject> {
    return this.#seen(status, await this.#send(method, `/_mock${path}?environment=${this.name}`, { body }))
  }

  /** Follows a link as a browser; returns the query of the redirect. */
  async follow(link: string): Promise<URLSearchParams> {
    const answer = await this.#send('GET', link.slice(new URL(link).origin.length), {})
    this.#seen(302, answer)
    return new URL(answer.location ?? '').searchParams
  }

  /** Records that something was issued to this tenant, and fails if it was issued before. */
  wasIssued(thing: unknown): string {
    const text = String(thing)
    expect(this.shared.issued.get(text), `${text} was issued before`).toBeUndefined()
    this.shared.issued.set(text, this.name)
    return text
  }

  async #send(method: string, path: string, sent: Parameters<HttpClient['send']>[2]): Promise<Answer> {
    this.calls += 1
    return this.shared.client.send(method, path, sent)
  }

  #seen(status: number, answer: Answer): JsonObject {
    expect(answer.status, `${this.name}: ${answer.text}`).toBe(status)
    const foreign = [...answer.text.matchAll(/tenant-\d\d/g)].map(String).filter((name) => name !== this.name)
    expect(foreign, `${this.name} was shown ${answer.text}`).toEqual([])
    return answer.body
  }
}

function nameOf(number: number): string {
  return `tenant-${String(number).padStart(2, '0')}`
}
