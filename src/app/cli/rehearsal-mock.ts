import type { ServiceResponse } from '../../compare/conform/service-response.ts'
import { ControlApi } from '../../compare/conform/control-api.ts'
import { ConformTarget } from '../../compare/conform/target.ts'
import type { WithMock } from '../../compare/record/recording-files.ts'
import type { RehearsalMock } from '../../compare/record/rehearsal.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import type { JsonObject } from '../../model/domain/json.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import type { App } from '../app.ts'
import { withApp } from './serve-while.ts'

/** Serves with the seed of a recording on a free port of loopback. */
export const withAppMock: WithMock = ({ seed, mcp }, use) =>
  withApp({ seeds: [seed], mcp }, (app, url) => use(new AppMock(app, url)))

/** A mock of this process, by its control API. */
class AppMock implements RehearsalMock {
  readonly target: ConformTarget
  readonly client: App['client']
  readonly #api: ControlApi
  readonly #journal: ReturnType<App['services']['journals']['of']>
  /** Those that count. */
  readonly entries: StoredEntry[] = []
  /** How many entries of the journal count, or were left out. */
  #read = 0

  constructor({ services, client }: App, url: string) {
    this.target = new ConformTarget(url, undefined, false)
    this.client = client
    this.#api = new ControlApi(this.target, undefined)
    this.#journal = services.journals.of(services.defaultEnvironment() ?? services)
  }

  async save(): Promise<void> {
    this.entries.push(...this.#journal.since(this.#read).filter(({ kind }) => kind === 'request'))
    await this.#callControl('PUT', '/snapshots/before')
    this.#read = this.#journal.appended
  }

  async restore(): Promise<void> {
    await this.#callControl('POST', '/snapshots/before/restore')
    this.#read = this.#journal.appended
  }

  async sendUnder(rule: JsonObject, request: HttpRequest): Promise<ServiceResponse> {
    await this.#callControl('PUT', '/scenarios/recorded', { name: 'recorded', rules: [rule] })
    await this.#callControl('POST', '/scenarios/recorded/start')
    this.#read = this.#journal.appended
    try {
      return await this.target.send(request)
    } finally {
      await this.#callControl('POST', '/scenarios/recorded/stop')
    }
  }

  async #callControl(method: string, path: string, body?: JsonObject): Promise<void> {
    ;(await this.#api.call(method, path, body)).is(200, 201, 204)
  }
}
