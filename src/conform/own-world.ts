import type { Answer } from './answer.ts'
import type { ControlApi } from './control-api.ts'

/** An environment of a toolmock that one check has to itself. */
export class OwnEnvironment {
  readonly #name: string
  readonly #control: ControlApi

  constructor(name: string, control: ControlApi) {
    this.#name = name
    this.#control = control
  }

  /** Moves its clock on by a duration such as `90s` or `2h`. @throws Broken */
  async advance(by: string): Promise<void> {
    await this.#changed('PUT', '/clock', { advance: by })
  }

  /** Makes something happen to an account, such as `disconnect`. @throws Broken */
  async happen(accountId: string, event: string): Promise<void> {
    await this.#changed('POST', `/accounts/${encodeURIComponent(accountId)}/${event}`)
  }

  /** Makes something happen to a connection, such as `disable`. @throws Broken */
  async connection(keyId: string, event: string): Promise<void> {
    await this.#changed('POST', `/connections/${encodeURIComponent(keyId)}/${event}`)
  }

  /** Starts one of the bundled scenarios. @throws Broken */
  async start(scenario: string): Promise<void> {
    await this.#changed('POST', `/scenarios/${scenario}/start`)
  }

  async #changed(method: string, path: string, body?: Record<string, string>): Promise<Answer> {
    const answer = await this.#control.call(method, `${path}?environment=${encodeURIComponent(this.#name)}`, body)
    return answer.is(200)
  }
}
