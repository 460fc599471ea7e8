import { type ConnectOptions, createToolmock, ToolmockError } from '../../index.ts'
import type { ContractExpectation, TestLabel, Toolmock, ToolmockEnvironment, ToolmockOptions } from '../../index.ts'
import { ANYTHING, checkOptions, invalidArgument, oneOf } from '../library/arguments.ts'
import { RULES, runningServer } from '../library/create-toolmock.ts'
import { toolmockOf } from '../library/toolmock.ts'
import { systemTime } from '../../state/model/time-and-ids.ts'

// What is the same in every test runner. The files beside this one only connect it with the fixtures or hooks of their runner.

/** How the server is started, or where one runs. Under `toolmock run` the server of the run is used. */
export interface ToolmockTestOptions extends ToolmockOptions {
  /** Options of the connection to a server that runs already. */
  readonly connection?: ConnectOptions
  /**
   * Fails a test whose client does not keep the contract; `{}` allows no violation, undefined checks nothing. A test that sends no
   * request passes unless `allowNoRequests` is false.
   */
  readonly contract?: Omit<ContractExpectation, 'everywhere'>
  /**
   * `test`: an environment for each test, when absent. `worker`: one for all tests of a worker, reset before each, for a program
   * under test that is started once with its credentials.
   */
  readonly scope?: 'test' | 'worker'
}

/** The fixtures of a test. */
export interface ToolmockFixtures {
  /** An environment for this test alone, made before it and removed after it; with the scope `worker` that of `toolmock`. */
  mock: ToolmockEnvironment
  /** Its server; there is one for each worker of the runner. */
  toolmock: Toolmock
}

const TEST_RULES = { ...RULES, connection: ANYTHING, contract: ANYTHING, scope: oneOf('test', 'worker') }

/**
 * The server of a worker.
 * @throws ToolmockError as `createToolmock`
 */
export async function startServer(options: ToolmockTestOptions): Promise<Toolmock> {
  checkOptions('toolmock', options, TEST_RULES)
  const { connection, contract, scope, ...serverOptions } = options
  if (scope === 'worker' && contract)
    throw invalidArgument(
      'toolmock: the contract of a single test is checked in an environment of its own; leave contract or scope out',
    )
  const server = connection && (await runningServer(serverOptions, connection))
  return server ? toolmockOf(server) : createToolmock(serverOptions)
}

/** The servers of one worker: each is started when it is first asked for, and all are closed together. */
export class TestServers implements AsyncDisposable {
  readonly #started = new Map<object, Promise<Toolmock>>()

  /** The server of these options, which are known by their identity. */
  of(options: ToolmockTestOptions): Promise<Toolmock> {
    const started = this.#started.get(options)
    if (started) return started
    const server = startServer(options)
    this.#started.set(options, server)
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of await Promise.allSettled(this.#started.values())) {
      if (server.status === 'fulfilled') await server.value.close()
    }
  }
}

/** How many refused requests are explained below a failed test. */
const MAX_EXPLAINED = 20

/** One test, with its environment. */
export class TestRun implements AsyncDisposable {
  readonly mock: ToolmockEnvironment
  readonly #toolmock: Toolmock
  readonly #options: ToolmockTestOptions
  /** In milliseconds, as `real_at`. */
  readonly #began: number
  /** Ids of requests: a test may have parts that fail on their own. */
  readonly #explained = new Set<string>()

  private constructor(mock: ToolmockEnvironment, toolmock: Toolmock, options: ToolmockTestOptions, began: number) {
    this.mock = mock
    this.#began = began
    this.#toolmock = toolmock
    this.#options = options
  }

  static async begin(toolmock: Toolmock, options: ToolmockTestOptions, test: TestLabel): Promise<TestRun> {
    const began = systemTime()
    if (options.scope !== 'worker') {
      return new TestRun(await toolmock.environment(undefined, { test }), toolmock, options, began)
    }
    await toolmock.reset()
    return new TestRun(toolmock, toolmock, options, began)
  }

  /**
   * The end of the test, or of a part of it, when the runner knows how it went.
   * @returns for a failed one the explanation of every answer of 400 and above, and of every request with a finding
   * @throws ToolmockError CONTRACT_BROKEN by the option `contract`
   */
  async end(failed: boolean): Promise<string | undefined> {
    const { contract } = this.#options
    // A test that closed its environment has no journal to read any more.
    if (failed) return this.#explainRefusals().catch(() => undefined)
    if (contract) await this.mock.contract.verify({ allowNoRequests: true, ...contract })
    return undefined
  }

  async #explainRefusals(): Promise<string | undefined> {
    const { journal, name } = this.mock
    const refused = (await journal.requests()).filter(
      ({ id, status, findings }) => (status >= 400 || findings.length > 0) && !this.#explained.has(id),
    )
    const strangers = await this.#unknownTokens()
    if (refused.length === 0) return strangers.join('') || undefined
    for (const { id } of refused) this.#explained.add(id)
    const texts = await Promise.all(
      refused.slice(0, MAX_EXPLAINED).map(async ({ id }) => (await journal.explain(id)).text),
    )
    const more = refused.length - texts.length
    const head = `toolmock, environment ${name}: why requests were answered with 400 and above, or what is wrong with them`
    return [head, ...texts, ...(more > 0 ? [`… and ${more} more`] : []), ...strangers].join('\n\n')
  }

  /** What a test cannot find in its own journal: a token that no environment has issued belongs to none. */
  async #unknownTokens(): Promise<string[]> {
    const { mock } = this
    const all = await this.#toolmock.journal.requests({ status: 401 })
    const count = all.filter(
      ({ environment, client, error_code, real_at, request: { headers } }) =>
        environment !== mock.name &&
        client === null &&
        Date.parse(real_at) >= this.#began &&
        'authorization' in headers &&
        error_code === 'UNAUTHENTICATED',
    ).length
    if (count === 0) return []
    const requests = count === 1 ? '1 request' : `${count} requests`
    return [`toolmock: ${requests} with an unknown token reached the server during this test`]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#options.scope !== 'worker') await this.mock.close()
  }
}

/** The tests of one file, in a runner that has hooks and no fixtures. */
export class TestHooks {
  /** The environment of the test that runs. */
  readonly mock: ToolmockEnvironment
  readonly #options: ToolmockTestOptions
  #toolmock: Toolmock | undefined
  #run: TestRun | undefined
  /** The full name of the test that runs. */
  #running: string | undefined

  constructor(options: ToolmockTestOptions) {
    this.#options = options
    this.mock = environmentProxy((member) => this.#currentEnvironment(member))
  }

  async start(): Promise<void> {
    this.#toolmock = await startServer(this.#options)
  }

  /**
   * Makes the environment of a test. A part of the test that runs has that of the whole. The environment before it is removed
   * only now: the runner's later hooks may use it.
   */
  async begin(test: TestLabel): Promise<void> {
    if (this.#running !== undefined) {
      if (test.label.startsWith(`${this.#running} > `)) return
      const message = `useToolmock: ${JSON.stringify(test.label)} begins while ${JSON.stringify(this.#running)} runs, and both would have one environment; let them run one after the other, or give each its own: await toolmock.environment() of createToolmock()`
      throw new ToolmockError('NO_ENVIRONMENT', message)
    }
    this.#running = test.label
    const toolmock = this.#toolmock
    if (!toolmock) throw new ToolmockError('NO_ENVIRONMENT', 'useToolmock: its server has not started')
    await this.#run?.[Symbol.asyncDispose]()
    this.#run = await TestRun.begin(toolmock, this.#options, test)
  }

  /** @returns the explanation, as `TestRun.end` */
  async end(label: string, failed: boolean): Promise<string | undefined> {
    if (label === this.#running) this.#running = undefined
    return this.#run?.end(failed)
  }

  async stop(): Promise<void> {
    await this.#run?.[Symbol.asyncDispose]()
    await this.#toolmock?.close()
    this.#run = this.#toolmock = undefined
  }

  #currentEnvironment(member: PropertyKey): ToolmockEnvironment {
    const environment = this.#run?.mock ?? (this.#options.scope === 'worker' ? this.#toolmock : undefined)
    if (environment) return environment
    const message = `useToolmock: there is no environment yet, so it has no ${String(member)}; read it in a test or in beforeEach, and with the option scope: 'worker' also in a hook that runs once before all tests`
    throw new ToolmockError('NO_ENVIRONMENT', message)
  }
}

/** An object whose members are those of the environment that is there when one of them is read. */
function environmentProxy(environment: (member: PropertyKey) => ToolmockEnvironment): ToolmockEnvironment {
  return new Proxy({} as ToolmockEnvironment, {
    get: (_, member) => Reflect.get(environment(member), member) as unknown,
    has: (_, member) => Reflect.has(environment(member), member),
    ownKeys: () => Reflect.ownKeys(environment('members')),
    getOwnPropertyDescriptor: (_, member) => Reflect.getOwnPropertyDescriptor(environment(member), member),
  })
}
