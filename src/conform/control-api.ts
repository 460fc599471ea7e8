import type { JsonValue } from '../domain/json.ts'
import type { Answer } from './answer.ts'
import type { Client } from './api.ts'
import type { Wire } from './wire.ts'

export type Decision = 'approve' | 'deny'

/** The control API of a toolmock: consent without a browser, and environments whose clock the run may move. */
export class ControlApi {
  readonly #wire: Wire
  readonly #adminToken: string | undefined
  readonly #environments = new Set<string>()

  constructor(wire: Wire, adminToken: string | undefined) {
    this.#wire = wire
    this.#adminToken = adminToken
  }

  call(method: string, path: string, body?: JsonValue): Promise<Answer> {
    const headers = {
      ...(this.#adminToken === undefined ? {} : { Authorization: `Bearer ${this.#adminToken}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    const ask = { method, path: `/_mock${path}`, headers }
    return this.#wire.send(body === undefined ? ask : { ...ask, body: JSON.stringify(body) })
  }

  /** Decides a magic link as its user would; answers where the browser is sent. @throws Broken */
  async decide(link: string, decision: Decision): Promise<URL> {
    const answer = await this.complete(link, decision)
    return new URL(answer.is(200).string('redirect_url'))
  }

  complete(link: string, decision: Decision): Promise<Answer> {
    const id = new URL(link).pathname.split('/').at(-1) ?? ''
    return this.call('POST', `/links/${encodeURIComponent(id)}/complete`, { decision })
  }

  /** A new environment, which {@link clear} removes. @throws Broken */
  async environment(): Promise<{ name: string; client: Client }> {
    const answer = (await this.call('POST', '/environments', {})).is(201)
    const name = answer.string('name')
    this.#environments.add(name)
    return { name, client: { id: answer.string('client_id'), secret: answer.string('client_secret') } }
  }

  /** Removes the environments that were made here; answers how many are left. */
  async clear(): Promise<number> {
    let left = 0
    for (const name of this.#environments) {
      const { status } = await this.call('DELETE', `/environments/${encodeURIComponent(name)}`)
      if (status !== 200) left += 1
    }
    this.#environments.clear()
    return left
  }
}
