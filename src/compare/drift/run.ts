import { ServiceResponse } from '../conform/service-response.ts'
import type { Check } from '../conform/check.ts'
import { CheckContext } from '../conform/context.ts'
import { ControlApi } from '../conform/control-api.ts'
import { TestResources } from '../conform/resources.ts'
import { chosenChecks, runAll } from '../conform/run.ts'
import { Api, type ClientCredentials, ConformTarget } from '../conform/target.ts'
import { operationAt } from '../../model/contract/route.ts'
import type { JsonObject } from '../../model/domain/json.ts'
import { isLoopback } from '../../model/domain/loopback.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { failureReason, type HttpRequest, redirectAway } from '../../platform/http-client.ts'
import type { DriftRemedy } from './findings.ts'
import type { Exchange } from './har.ts'
import { mcpSettingsOf } from './mcp.ts'
import { type Allowed, PermittedTarget } from './permission.ts'
import { withRemedies } from './remedies.ts'
import { compareExchanges } from './replay.ts'
import { type DriftReport, reportOf } from './report.ts'
import { holdSame, mirrorOf } from './mirror.ts'

/** What accounts are called that a run creates at the service. */
export const PREFIX = 'toolmock-drift-'

export interface MockOptions {
  /** Settings of its seed, and lines of a configuration file. */
  readonly choices: DriftRemedy
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
export async function findDrift(options: DriftOptions): Promise<DriftResult> {
  const { baseUrl, client, prefix, progress, signal } = options
  const service = new Service(options)
  const { api, resources } = service
  const leftovers: string[] = []
  const withMock = <T>(
    choices: DriftRemedy,
    seed: JsonObject | undefined,
    use: (mock: ConformTarget) => Promise<T>,
  ): Promise<T> =>
    options.withMock({ choices, seed }, async (url) => {
      const target = new ConformTarget(url)
      return use(target).finally(() => target.close())
    })
  try {
    await api.token().catch((error: unknown) => {
      throw new StartError(`${baseUrl} gives no token: ${failureReason(error)}`)
    })
    const seed = options.mirror
      ? await withMock({}, undefined, (mock) => mirrorOf(api, new Api(mock, client)))
      : undefined
    const suite = options.recording ? undefined : await withMock({}, seed, (mock) => suiteExchanges(options, mock))
    const recording = options.recording ?? suite?.exchanges ?? []
    const compared = await withMock({}, seed, async (mock) =>
      compareExchanges({
        ...{ exchanges: recording, mock, client, service, signal },
        ...(suite && { prefix, held: suite.held, isSame: await holdSame([mock, service], client) }),
        progress: (done, check) => progress?.(`${done}/${recording.length} requests${check ? `, ${check.id}` : ''}`),
      }),
    ).finally(async () => {
      leftovers.push(...(await resources.removeAll()))
    })
    const { exchanges } = service
    const findingsWith = (choices: DriftRemedy) =>
      withMock(choices, seed, async (mock) =>
        (await compareExchanges({ exchanges, mock, client, prefix, signal })).list(),
      )
    const list = compared.list()
    const findings =
      options.tryRemedies === false
        ? list
        : await withRemedies(list, { mcp: mcpSettingsOf(exchanges), signal, progress, findingsWith })
    return { report: reportOf(findings, compared.gaps()), leftovers }
  } finally {
    service.close()
  }
}

/** The mock answers, so that each check goes to its end; one with a request that the service may not get is skipped. */
async function suiteExchanges(options: DriftOptions, mock: ConformTarget) {
  const { client, prefix, adminToken, signal } = options
  const target = new SuiteTarget(mock.baseUrl, allowedBy(options))
  const control = options.controlApi ? new ControlApi(target, adminToken) : undefined
  const api = new Api(target, client)
  const context = new CheckContext({ api, prefix, control, connector: undefined, allowProviderChanges: true })
  const checks = chosenChecks({ only: options.only })
  const progress = (done: number, total: number, id: string): void => {
    target.check = checks[done]
    options.progress?.(`${done}/${total} ${id}`)
  }
  const outcomes = await runAll(checks, context, { progress, signal })
  target.close()
  return { exchanges: target.exchanges, held: checks.filter((_, at) => outcomes[at]?.result === 'held') }
}

function allowedBy({ baseUrl, allowWrites: writes, prefix }: DriftOptions): Allowed {
  return { isLocal: isLoopback(new URL(baseUrl).hostname), writes, prefix }
}

const CREATES: ReadonlySet<string | undefined> = new Set(['create_connected_account', 'create_custom_provider'])

class Service extends PermittedTarget {
  readonly api: Api
  readonly resources: TestResources

  constructor(options: DriftOptions) {
    super(options.baseUrl, allowedBy(options))
    this.api = new Api(this, options.client)
    this.resources = new TestResources(this.api, options.prefix)
  }

  override async send(request: HttpRequest): Promise<ServiceResponse> {
    const response = await super.send(request)
    const location = redirectAway(response, this.baseUrl)
    if (location === undefined) return response
    throw new StartError(
      `${request.method} ${request.path.replace(/\?.*/, '')} leads to ${location}: name that one with --base-url`,
    )
  }

  /** A service that breaks off is compared too: its status is 0 then. */
  protected override async responseTo(request: HttpRequest): Promise<ServiceResponse> {
    const response = await this.send(request).catch((error: unknown) => {
      if (error instanceof StartError) throw error
      return new ServiceResponse(`${request.method} ${request.path}`, 0, {}, failureReason(error))
    })
    if (response.status === 200 || response.status === 201) this.#registerForRemoval(request, response)
    return response
  }

  /** What is removed at the end: what has a name of this run, what a request of a recording has created, environments of checks. */
  #registerForRemoval({ method, path, headers }: HttpRequest, response: ServiceResponse): void {
    const isCreate = response.status === 201 && CREATES.has(operationAt(method, path.replace(/\?.*/, '')))
    this.resources.addAccount(response, isCreate)
    this.resources.addProvider(response, isCreate)
    if (method !== 'POST' || path !== ENVIRONMENTS) return
    const name = response.string('name')
    this.resources.add(`environment ${name}`, () =>
      this.send({ method: 'DELETE', path: `${path}/${encodeURIComponent(name)}`, headers }),
    )
  }
}

const ENVIRONMENTS = '/_mock/environments'

/** The mock that answers the conformance suite. */
class SuiteTarget extends PermittedTarget {
  /** What asks. */
  check: Check | undefined

  override send(request: HttpRequest): Promise<ServiceResponse> {
    // A link of the mock is one of the service too, below its own address.
    const isLink = request.path.startsWith(`${this.baseUrl}/`)
    return this.ask(isLink ? { ...request, path: request.path.slice(this.baseUrl.length) } : request, this.check)
  }
}
