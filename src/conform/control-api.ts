import type { JsonObject, JsonValue } from '../domain/json.ts'
import type { Answer } from './answer.ts'
import type { ClientCredentials, Target } from './target.ts'

export type Decision = 'approve' | 'deny'

/** The control API of a toolmock: consent without a browser, and environments whose clock a check may move. */
export class ControlApi {
  readonly #target: Target
  readonly #adminToken: string | undefined
  readonly #environments = new Set<string>()

  constructor(target: Target, adminToken: string | undefined) {
    this.#target = target
    this.#adminToken = adminToken
  }

  call(method: string, path: string, body?: JsonValue): Promise<Answer> {
    const headers = {
      ...(this.#adminToken === undefined ? {} : { Authorization: `Bearer ${this.#adminToken}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    return this.#target.send({
      method,
      path: `/_mock${path}`,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  }

  /** Decides a magic link as its user would; answers where the browser is sent. @throws Broken */
  async decide(link: string, decision: Decision): Promise<URL> {
    const id = new URL(link).pathname.split('/').at(-1) ?? ''
    const answer = await this.call('POST', `/links/${encodeURIComponent(id)}/complete`, { decision })
    return new URL(answer.is(200).string('redirect_url'))
  }

  /** A new environment, which `removeEnvironments` removes. @throws Broken */
  async createEnvironment(): Promise<{ environment: TestEnvironment; client: ClientCredentials }> {
    const answer = (await this.call('POST', '/environments', {})).is(201)
    const name = answer.string('name')
    this.#environments.add(name)
    const client = { id: answer.string('client_id'), secret: answer.string('client_secret') }
    return { environment: new TestEnvironment(name, this), client }
  }

  /** Removes the environments that were created here; answers how many are left. */
  async removeEnvironments(): Promise<number> {
    let left = 0
    for (const name of this.#environments) {
      const { status } = await this.call('DELETE', `/environments/${encodeURIComponent(name)}`)
      if (status !== 200) left += 1
    }
    this.#environments.clear()
    return left
  }
}

/** An environment of a toolmock that only one check uses. */
export class TestEnvironment {
  readonly #name: string
  readonly #control: ControlApi

  constructor(name: string, control: ControlApi) {
    this.#name = name
    this.#control = control
  }

  /** Moves the clock on by a duration such as `90s` or `2h`. @throws Broken */
  async advance(by: string): Promise<void> {
    await this.#call('PUT', '/clock', { advance: by })
  }

  /** Applies an event such as `disconnect` to an account. @throws Broken */
  async accountEvent(accountId: string, event: string): Promise<void> {
    await this.#call('POST', `/accounts/${encodeURIComponent(accountId)}/${event}`)
  }

  /** Applies an event such as `disable` to a connection. @throws Broken */
  async connectionEvent(keyId: string, event: string): Promise<void> {
    await this.#call('POST', `/connections/${encodeURIComponent(keyId)}/${event}`)
  }

  /** Lets the third parties answer every call that matches with this status. @throws Broken */
  async thirdPartyAnswers(status: number, on: JsonObject = {}): Promise<void> {
    const respond = { status, headers: { 'Retry-After': '2' }, body: { error: 'conform' } }
    const rule = { name: 'every call', at: 'third_party', on, do: [{ respond }] }
    await this.#call('PUT', '/scenarios/conform', { name: 'conform', rules: [rule] })
    await this.#call('POST', '/scenarios/conform/start')
  }

  async #call(method: string, path: string, body?: JsonObject): Promise<void> {
    const answer = await this.#control.call(method, `${path}?environment=${encodeURIComponent(this.#name)}`, body)
    answer.is(200)
  }
}
