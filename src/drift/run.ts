import { Answer, Skipped } from '../conform/answer.ts'
import type { Check } from '../conform/check.ts'
import { CheckContext } from '../conform/context.ts'
import { ControlApi } from '../conform/control-api.ts'
import { TestResources } from '../conform/resources.ts'
import { chosen, runAll } from '../conform/run.ts'
import { Api, type ClientCredentials, Target } from '../conform/target.ts'
import { operationAt } from '../contract/route.ts'
import { type JsonObject, parsedJson } from '../domain/json.ts'
import { isLoopback } from '../domain/loopback.ts'
import { StartError } from '../domain/start-error.ts'
import { failureReason, type HttpRequest } from '../http-client.ts'
import { type AskingCheck, Findings, type Remedy } from './findings.ts'
import type { Exchange } from './har.ts'
import { Permission } from './permission.ts'
import { withRemedies } from './remedies.ts'
import { compareExchanges, type ComparedService, learn } from './replay.ts'
import { type DriftReport, reportOf } from './report.ts'
import { holdSame, mirrorOf } from './mirror.ts'
import { ValueMap } from './value-map.ts'

/** What accounts are called that a run creates at the service. */
export const PREFIX = 'toolmock-drift-'

export interface MockOptions {
  /** Settings of its seed, and lines of a configuration file. */
  readonly choices: Remedy
  /** What the service lists, where that differs from the seed that was asked for. */
  readonly seed: JsonObject | undefined
}

export interface DriftOptions {
  readonly baseUrl: string
  readonly client: ClientCredentials
  /** What the names of this run begin with: `PREFIX` and what no other run has. */
  readonly prefix: string
  /** Serves a mock with the same client while `use` works. */
  readonly withMock: <Result>(options: MockOptions, use: (url: string) => Promise<Result>) => Promise<Result>
  /** Whether the mock gets the connectors that the service lists, in place of the bundled ones. */
  readonly mirror: boolean
  /** Sent in place of the requests of the conformance suite. */
  readonly recording?: readonly Exchange[] | undefined
  readonly allowWrites: boolean
  readonly only?: readonly string[] | undefined
  /** Give consent and move the clock by the control API: the service is a toolmock. */
  readonly controlApi?: boolean | undefined
  readonly adminToken?: string | undefined
  /** Look for settings that make the mock answer alike, which sends the requests to it again; yes when absent. */
  readonly tryRemedies?: boolean | undefined
  readonly progress?: ((line: string) => void) | undefined
  /** Ends the run after the current request; what it has created is removed all the same. */
  readonly signal?: AbortSignal | undefined
}

export interface DriftResult {
  readonly report: DriftReport
  /** What could not be removed from the service. */
  readonly leftovers: readonly string[]
}

/** Compares a service with a mock. @throws StartError when the service cannot be asked */
export async function drift(options: DriftOptions): Promise<DriftResult> {
  const { baseUrl, client, prefix, signal } = options
  const isLocal = isLoopback(new URL(baseUrl).hostname)
  const service = new Service(baseUrl, new Permission({ isLocal, writes: options.allowWrites, prefix }))
  const api = new Api(service, client)
  const resources = new TestResources(api, prefix)
  service.resources = resources
  try {
    await api.token().catch((error: unknown) => {
      throw new StartError(`${baseUrl} gives no token: ${failureReason(error)}`)
    })
    const seed = options.mirror
      ? await withMock(options, {}, undefined, (mock) => mirrorOf(api, new Api(mock, client)))
      : undefined
    const { recording, progress } = options
    const compared = await withMock(options, {}, seed, (mock) =>
      recording
        ? compareExchanges({
            ...{ exchanges: recording, mock, client, service, signal },
            progress: progress && ((done, total) => progress(`${done}/${total} requests`)),
          })
        : compareSuite(options, mock, service),
    ).finally(async () => {
      service.leftovers.push(...(await resources.removeAll()))
    })
    if (service.failure) throw service.failure
    const { exchanges } = service
    const findingsWith = (choices: Remedy) =>
      withMock(options, choices, seed, async (mock) =>
        (await compareExchanges({ exchanges, mock, client, prefix, signal })).list(),
      )
    const found = compared.list()
    const findings =
      options.tryRemedies === false ? found : await withRemedies(found, { signal, progress, findingsWith })
    return { report: reportOf(findings, compared.gaps()), leftovers: service.leftovers }
  } finally {
    service.close()
  }
}

function withMock<T>(
  { withMock: serve }: DriftOptions,
  choices: Remedy,
  seed: JsonObject | undefined,
  use: (mock: Target) => Promise<T>,
): Promise<T> {
  return serve({ choices, seed }, async (url) => {
    const target = new Target(url)
    return use(target).finally(() => target.close())
  })
}

/** The requests of the conformance suite. The mock answers its checks, and so each of them goes through to its end. */
async function compareSuite(options: DriftOptions, mock: Target, service: Service): Promise<Findings> {
  const { client, prefix, adminToken, progress, signal } = options
  const findings = new Findings(prefix, await holdSame([mock, service], client))
  const target = new PairedTarget(mock.baseUrl, service, findings)
  const control = options.controlApi ? new ControlApi(target, adminToken) : undefined
  const api = new Api(target, client)
  const context = new CheckContext({ api, prefix, control, connector: undefined, allowProviderChanges: true })
  const checks = chosen({ only: options.only })
  const ending = AbortSignal.any([target.ending.signal, ...(signal ? [signal] : [])])
  const outcomes = await runAll(checks, context, {
    progress: (done, total, id) => {
      target.check = checks.find((each) => each.id === id)
      progress?.(`${done}/${total} ${id}`)
    },
    signal: ending,
  })
  await control?.removeEnvironments().catch(() => service.leftovers.push('environments of the run'))
  target.close()
  for (const { result, basis } of outcomes) if (result === 'held') findings.exercise({ basis })
  return findings
}

const CREATES: ReadonlySet<string | undefined> = new Set(['create_connected_account', 'create_custom_provider'])

/** The service, with what was asked and answered. */
class Service extends Target implements ComparedService {
  readonly exchanges: Exchange[] = []
  resources: TestResources | undefined
  readonly leftovers: string[] = []
  /** Why the run cannot go on. */
  failure: StartError | undefined
  readonly #host: string
  readonly #permission: Permission

  constructor(baseUrl: string, permission: Permission) {
    super(baseUrl)
    this.#host = new URL(baseUrl).host
    this.#permission = permission
  }

  /** @throws Skipped for a request that may not be sent */
  admit(request: HttpRequest): void {
    this.#permission.check(request)
  }

  override async send(request: HttpRequest): Promise<Answer> {
    const answer = await super.send(request)
    const location = answer.headers.location ?? ''
    if (answer.status >= 300 && answer.status < 400 && URL.canParse(location) && new URL(location).host !== this.#host)
      throw new StartError(
        `${request.method} ${request.path.replace(/\?.*/, '')} leads to ${new URL(location).host}: name that host with --base-url`,
      )
    return answer
  }

  /** Sends a request of the comparison. A service that breaks off is compared too: its status is 0 then. */
  async ask(request: HttpRequest, check: AskingCheck | undefined): Promise<Answer> {
    const answer = await this.send(request).catch((error: unknown) => {
      if (error instanceof StartError) throw (this.failure = error)
      return new Answer(`${request.method} ${request.path}`, 0, {}, failureReason(error))
    })
    this.exchanges.push({ request, answer, check })
    this.#permission.addAccount(parsedJson(answer.text))
    if (answer.status === 200 || answer.status === 201) this.#keep(request, answer)
    return answer
  }

  /** What is removed at the end: what has a name of this run, and what a request of a recording has created. */
  #keep({ method, path }: HttpRequest, answer: Answer): void {
    const isCreate = answer.status === 201 && CREATES.has(operationAt(method, path.replace(/\?.*/, '')))
    this.resources?.addAccount(answer, isCreate)
    this.resources?.addProvider(answer, isCreate)
  }
}

/** Sends each request to the mock and, with the service's own ids and tokens, to the service; one after the other. */
class PairedTarget extends Target {
  check: Check | undefined
  /** Ends the run when the service cannot be asked any more. */
  readonly ending = new AbortController()
  readonly #service: Service
  readonly #findings: Findings
  readonly #map = new ValueMap()
  #last: Promise<unknown> = Promise.resolve()

  constructor(mockUrl: string, service: Service, findings: Findings) {
    super(mockUrl)
    this.#service = service
    this.#findings = findings
    this.#map.pair(mockUrl, service.baseUrl)
  }

  override send(request: HttpRequest): Promise<Answer> {
    // A link of the mock is one of the service too, below its own address.
    const path = request.path.startsWith(`${this.baseUrl}/`) ? request.path.slice(this.baseUrl.length) : request.path
    const sent = this.#last.then(() => this.#sendBoth({ ...request, path }))
    this.#last = sent.catch(() => undefined)
    return sent
  }

  async #sendBoth(request: HttpRequest): Promise<Answer> {
    if (this.ending.signal.aborted) throw new Skipped('the run has ended')
    const { check } = this
    const theirs = this.#map.request(request)
    this.#service.admit(theirs)
    const mock = await super.send(request)
    try {
      const service = await this.#service.ask(theirs, check)
      this.#findings.add({ request, mock, service, map: this.#map, check })
      learn(this.#map, request, mock, service)
    } catch (error) {
      this.ending.abort()
      throw error
    }
    return mock
  }
}
