import type { JsonObject, JsonValue } from '../../model/domain/json.ts'
import type { ServiceResponse } from './service-response.ts'
import type { ConformTarget } from './target.ts'

export type ConsentDecision = 'approve' | 'deny'

/** The control API of a toolmock: consent without a browser, and environments whose clock a check may move. */
export class ControlApi {
  readonly #target: ConformTarget
  readonly #adminToken: string | undefined

  constructor(target: ConformTarget, adminToken: string | undefined) {
    this.#target = target
    this.#adminToken = adminToken
  }

  call(method: string, path: string, body?: JsonValue): Promise<ServiceResponse> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      ...(this.#adminToken === undefined ? {} : { Authorization: `Bearer ${this.#adminToken}` }),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    return this.#target.send({ method, path: `/_mock${path}`, headers, body: text })
  }

  /** Decides a magic link as its user would; answers where the browser is sent. @throws Broken */
  async decide(link: string, decision: ConsentDecision): Promise<URL> {
    const id = new URL(link).pathname.split('/').at(-1) ?? ''
    const response = await this.call('POST', `/links/${encodeURIComponent(id)}/complete`, { decision })
    return new URL(response.is(200).string('redirect_url'))
  }

  /** A new environment of a seed, else of the server's, and what only one check does in it. @throws Broken */
  async createEnvironment(seed?: JsonObject) {
    const response = (await this.call('POST', '/environments', seed ? { seed } : {})).is(201)
    const name = response.string('name')
    const change = async (method: string, path: string, body?: JsonObject, status = 200): Promise<void> => {
      ;(await this.call(method, `${path}?environment=${encodeURIComponent(name)}`, body)).is(status)
    }
    return {
      name,
      client: { id: response.string('client_id'), secret: response.string('client_secret') },
      /** Moves the clock on by a duration such as `90s` or `2h`. */
      advance: (by: string) => change('PUT', '/clock', { advance: by }),
      /** Applies an event such as `disconnect` to an account. */
      accountEvent: (id: string, event: string) => change('POST', `/accounts/${encodeURIComponent(id)}/${event}`),
      /** Applies an event such as `disable` to a connection. */
      connectionEvent: (id: string, event: string) => change('POST', `/connections/${encodeURIComponent(id)}/${event}`),
      /** Another connection of a provider. */
      addConnection: (key_id: string, provider_key: string) =>
        change('POST', '/connections', { key_id, provider_key }, 201),
      addConnector: (document: JsonObject & { connector: string }) =>
        change('PUT', `/connectors/${document.connector}`, document),
      /** Lets the third parties do this at every call that matches, or answer it with this status. */
      thirdPartyAnswers: async (does: number | JsonObject, on: JsonObject = {}) => {
        const respond = { status: does, headers: { 'Retry-After': '2' }, body: { error: 'conform' } }
        const rule = { name: 'every call', at: 'third_party', on, do: [typeof does === 'number' ? { respond } : does] }
        await change('PUT', '/scenarios/conform', { name: 'conform', rules: [rule] })
        await change('POST', '/scenarios/conform/start')
      },
      remove: () => this.call('DELETE', `/environments/${encodeURIComponent(name)}`),
    }
  }
}

/** An environment of a toolmock that only one check uses. */
export type TestEnvironment = Awaited<ReturnType<ControlApi['createEnvironment']>>
