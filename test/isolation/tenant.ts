import { expect } from 'vitest'
import type { JsonObject } from '../../src/domain/json.ts'
import type { Answer, HttpClient } from './http-client.ts'

/** What the whole test knows of its tenants. */
export interface Neighbourhood {
  readonly client: HttpClient
  /** Everything that was ever issued to a tenant, by what was issued: nothing is issued twice. */
  readonly issued: Map<string, string>
  /** Every account that there was at some time, and whose it is. */
  readonly accounts: { readonly id: string; readonly owner: string }[]
}

/** A connected account as its tenant remembers it. */
export interface KnownAccount {
  readonly id: string
  readonly connector: string
  readonly identifier: string
}

/** Where the clock of tenant n starts: a year of its own, so that a time tells whose it is. */
const startOf = (number: number): number => Date.UTC(2030 + number, 0, 1)

/**
 * One test run among others on the same server: an environment of its own, and everything that its operations must have
 * left there. Whatever an answer shows of another tenant fails the test.
 */
export class Tenant {
  readonly name: string
  readonly neighbours: Neighbourhood
  readonly accounts = new Map<string, KnownAccount>()
  /** The ids of all requests of the API that it has sent. */
  readonly sent: string[] = []
  /** Where its frozen clock has to stand. */
  now: number
  calls = 0
  readonly clientId: string
  readonly #authorization: string

  private constructor(neighbours: Neighbourhood, number: number, { id, token }: { id: string; token: string }) {
    this.neighbours = neighbours
    this.name = nameOf(number)
    this.now = startOf(number)
    this.clientId = id
    this.#authorization = `Bearer ${token}`
  }

  /** Moves in: makes the environment and signs in to it. */
  static async moveIn(neighbours: Neighbourhood, number: number): Promise<Tenant> {
    const { client } = neighbours
    const clock = { now: new Date(startOf(number)).toISOString(), frozen: true }
    const made = await client.send('POST', '/_mock/environments', { body: { name: nameOf(number), clock } })
    expect(made.status).toBe(201)
    const { client_id, client_secret } = made.body as { client_id: string; client_secret: string }
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const signedIn = await client.send('POST', '/oauth/token', { body: form })
    return new Tenant(neighbours, number, { id: client_id, token: signedIn.body['access_token'] as string })
  }

  /** A call of the API; its id tells whose it is. */
  async api(status: number, method: string, path: string, body?: object): Promise<JsonObject> {
    const id = `${this.name}-request-${this.sent.length}`
    this.sent.push(id)
    const headers = { Authorization: this.#authorization, 'X-Request-Id': id }
    return this.#seen(status, await this.#send(method, `/api/v1${path}`, { headers, body }))
  }

  /** A call of the control API, about its environment. */
  async control(status: number, method: string, path: string, body?: object): Promise<JsonObject> {
    return this.#seen(status, await this.#send(method, `/_mock${path}?environment=${this.name}`, { body }))
  }

  /** A browser that follows a link. */
  async follow(link: string): Promise<URLSearchParams> {
    const answer = await this.#send('GET', link.slice(new URL(link).origin.length), {})
    this.#seen(302, answer)
    return new URL(answer.location ?? '').searchParams
  }

  /** Remembers that something was issued to this tenant, and to nobody before. */
  wasIssued(thing: unknown): string {
    const text = String(thing)
    expect(this.neighbours.issued.get(text), `${text} was issued before`).toBeUndefined()
    this.neighbours.issued.set(text, this.name)
    return text
  }

  async #send(method: string, path: string, sent: Parameters<HttpClient['send']>[2]): Promise<Answer> {
    this.calls += 1
    return this.neighbours.client.send(method, path, sent)
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
