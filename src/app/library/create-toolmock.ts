import { ADMIN_TOKEN_RULE, isAdminToken } from '../../model/domain/secret.ts'
import { BASE_URL_RULE, isBaseUrl } from '../../model/domain/base-url.ts'
import type { AppOptions } from '../app.ts'
import type { SharedOptions } from '../shared-options.ts'
import { BOOLEAN, checkOptions, invalidArgument, oneOf, type Rule, TEXT, TEXTS, wholeNumberRule } from './arguments.ts'
import { readConnection, type ConnectOptions } from './connection.ts'
import { ControlClient } from './control-client.ts'
import { instantOf } from '../../model/domain/instant.ts'
import { withoutUndefined } from '../../model/domain/json.ts'
import { isScenarioPath, nameWith, type ScenarioParameters } from '../../model/domain/scenario.ts'
import { ToolmockError } from './toolmock-error.ts'
import { type EnvironmentParts, sharedToolmock, type Toolmock, toolmockOf } from './toolmock.ts'
import type { ScenarioDocument } from './types.ts'

const LOOPBACK = '127.0.0.1'

/** How `createToolmock` starts a mock; every option may be left out. The flags of `toolmock start` mean the same. */
export interface ToolmockOptions extends SharedOptions {
  /**
   * A server that runs already: an environment of its own is made there. Under `toolmock run` that is the server of the run,
   * when this is absent. What the mock starts with is `scenario`, `scenarios`, `clock`, `freeze` and `idSeed` then; the options of
   * a server are refused.
   */
  readonly url?: string | undefined
  /**
   * A configuration file; by default the one that `toolmock start` would read here. It says what the mock is: seeds, scenarios,
   * extensions, clocks, strictness, webhooks; never where it listens or what it writes. Options win over it; `false` reads none.
   */
  readonly config?: string | false | undefined
  /** A scenario that runs from the start in every environment: the name of a bundled one, or a file. */
  readonly scenario?: string
  /** What `scenario` takes in place of its own tool, connector and account: `{ tool: 'crm_find', identifier: '*' }`. */
  readonly with?: ScenarioParameters
  /** Several scenarios. */
  readonly scenarios?: readonly string[]
  /** Where clocks start, ISO 8601 with a time zone, or a day in UTC; at the current time when absent. */
  readonly clock?: string | Date
  /** The file that keeps the model; in memory when absent. */
  readonly state?: string
  /** Port to serve on; a free one when absent. */
  readonly port?: number
  /** Address to serve on; 127.0.0.1 when absent. */
  readonly host?: string
  /** HTTPS (G50): with a temporary certificate authority, whose file is in `env.NODE_EXTRA_CA_CERTS`, or with your own PEM files. */
  readonly tls?: boolean | { readonly cert: string; readonly key: string }
  /** What callers of the control API must send, with `url` the token of that server; the methods of the mock send it themselves. */
  readonly adminToken?: string
  /** How many entries the request journal of an environment keeps; 10,000 when absent. */
  readonly journalSize?: number
}

/**
 * Starts a mock in this process: in memory and on a free port by default. Under `toolmock run`, or with `url`, it
 * makes an environment of its own on the server that is there.
 *
 *     await using mock = await createToolmock({ scenario: 'token-dies-mid-run' })
 *
 * @throws ToolmockError INVALID_ARGUMENT for an unknown option or a value that is not allowed; NOT_STARTED with what and where,
 * for a file that cannot be used or an address that is in use
 */
export async function createToolmock(options: ToolmockOptions = {}): Promise<Toolmock> {
  checkOptions('createToolmock', options, RULES)
  const server = await runningServer(options)
  if (server) return sharedToolmock(server)
  // A program that only calls `connect` does not load the server.
  const { createApp } = await import('../app.ts')
  const app = await appOptions(options)
    .then(createApp)
    .catch((error: unknown) => {
      throw startFailure(error)
    })
  const { host = LOOPBACK, port = 0, adminToken } = options
  try {
    const { url } = await app.listen({ host, port })
    const { client, trust } = app
    return toolmockOf({
      control: new ControlClient({ url, adminToken, own: true }, 'default'),
      env: { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client.id, TOOLMOCK_CLIENT_SECRET: client.secret, ...trust },
      end: () => app.close(),
    })
  } catch (error) {
    await app.close()
    throw startFailure(error)
  }
}

/**
 * Controls a server that runs elsewhere, with the interface of one in this process. `close` leaves it running.
 *
 * Without a URL it is `createToolmock()`: under `toolmock run` an environment of its own on the server of the run, elsewhere a
 * server of its own.
 * @param url where it serves, as `TOOLMOCK_URL` says
 * @throws ToolmockError INVALID_ARGUMENT, UNREACHABLE, NO_TOOLMOCK, ENVIRONMENT_NOT_FOUND, ADMIN_TOKEN_REQUIRED
 */
export async function connect(url?: string, options: ConnectOptions = {}): Promise<Toolmock> {
  checkOptions('connect', options, CONNECT_RULES)
  if (url !== undefined) return toolmockOf(await readConnection(url, options))
  const [option] = Object.entries(options).find(([, value]) => value !== undefined) ?? []
  if (option !== undefined) throw invalidArgument(`connect: ${option} is about a server that runs; give its URL first`)
  return createToolmock()
}

/**
 * The server that is used in place of one of its own, with what its environments are made with; undefined when there is none.
 * @throws ToolmockError INVALID_ARGUMENT for an option that only a server of its own can have
 * @internal
 */
export async function runningServer(
  options: ToolmockOptions,
  connectOptions: ConnectOptions = {},
): Promise<EnvironmentParts | undefined> {
  const {
    url,
    scenario: _scenario,
    scenarios: _scenarios,
    with: _with,
    clock,
    freeze,
    idSeed,
    adminToken,
    config,
    ...others
  } = options
  const run = process.env['TOOLMOCK_RUN']
  const address = url ?? (run === '' ? undefined : run)
  if (address === undefined) return undefined
  const serverOptions = { ...others, config: config === false ? undefined : config }
  refuseServerOptions(url === undefined ? { ...serverOptions, adminToken } : serverOptions, url === undefined)
  const names = scenarioNames(options)
  const read = names.length === 0 ? undefined : await readScenarios(names)
  const defaults = Object.entries({ clock, freeze, idSeed, scenarios: read }).filter(([, value]) => value !== undefined)
  const parts = await readConnection(
    address,
    adminToken === undefined ? connectOptions : { adminToken, ...connectOptions },
  )
  return { ...parts, defaults: Object.fromEntries(defaults) }
}

function scenarioNames({ scenario, with: parameters, scenarios = [] }: ToolmockOptions): string[] {
  if (parameters && scenario === undefined) throw invalidArgument('createToolmock: with goes with scenario')
  return [...(scenario === undefined ? [] : [nameWith(scenario, parameters)]), ...scenarios]
}

function refuseServerOptions(options: object, isUnderRun: boolean): void {
  const names = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (names.length === 0) return
  const flagOf = (name: string) =>
    isUnderRun ? (RULES as Readonly<Record<string, OptionRule>>)[name]?.flag : undefined
  const flags = names.flatMap((name) => flagOf(name) ?? [])
  const withoutFlag = names.filter((name) => flagOf(name) === undefined)
  const advice = [
    ...(flags.length > 0 ? [`give toolmock run ${flags.join(' ')} instead`] : []),
    ...(withoutFlag.length > 0 ? [`leave ${withoutFlag.join(' and ')} out`] : []),
  ]
  const what = names.length === 1 ? 'is an option' : 'are options'
  const where = isUnderRun ? 'toolmock run' : '`url`'
  throw invalidArgument(
    `createToolmock: ${names.join(' and ')} ${what} of a server of its own, and the server of ${where} is used here: ${advice.join(', ')}`,
  )
}

/** Files are read here: the server may run on another machine. @throws ToolmockError NOT_STARTED */
async function readScenarios(names: readonly string[]): Promise<(string | ScenarioDocument)[]> {
  const [{ readTextFile }, { SourceText }] = await Promise.all([
    import('../../files/text-files.ts'),
    import('../../files/source-text.ts'),
  ])
  try {
    return await Promise.all(
      names.map(async (name) =>
        isScenarioPath(name)
          ? (new SourceText(await readTextFile(name), name).value as unknown as ScenarioDocument)
          : name,
      ),
    )
  } catch (error) {
    throw startFailure(error)
  }
}

const CLOCK: Rule = {
  allowed:
    'an instant from 1970 on with its time zone, such as 2026-01-31T12:00:00Z, a day in UTC, such as 2026-01-31, or a Date',
  accepts: (value) =>
    Number(typeof value === 'string' ? instantOf(value) : value instanceof Date ? value : Number.NaN) >= 0,
}

const textRule = (allowed: string, isAllowed: (text: string) => boolean): Rule => ({
  allowed,
  accepts: (value) => typeof value === 'string' && isAllowed(value),
})
const CONFIG: Rule = {
  allowed: 'the name of a file, or false',
  accepts: (value) => value === false || TEXT.accepts(value),
}

const BASE_URL = textRule(BASE_URL_RULE, isBaseUrl)

const PARAMETERS: Rule = {
  allowed: 'an object of tool, connector and identifier, whose values are texts',
  accepts: (value) => typeof value === 'object' && value !== null && Object.values(value).every(TEXT.accepts),
}

const TLS: Rule = {
  allowed: 'true, or { cert, key } with the names of PEM files',
  accepts: (value) => {
    if (typeof value === 'boolean') return true
    const { cert, key } = (value ?? {}) as Record<string, unknown>
    return TEXT.accepts(cert) && TEXT.accepts(key)
  },
}

interface OptionRule extends Rule {
  /** The flag of `toolmock run` that means the same. */
  readonly flag?: string
}

export const RULES = {
  scenario: TEXT,
  scenarios: TEXTS,
  seeds: { ...TEXTS, flag: '--seed' },
  extensions: { ...TEXTS, flag: '--extension' },
  with: PARAMETERS,
  clock: CLOCK,
  freeze: BOOLEAN,
  idSeed: wholeNumberRule(0, 999_999_999),
  strict: { ...BOOLEAN, flag: '--strict' },
  documentedOnly: { ...BOOLEAN, flag: '--documented-only' },
  state: TEXT,
  fresh: BOOLEAN,
  durability: oneOf('strict', 'relaxed'),
  port: wholeNumberRule(0, 65_535),
  host: TEXT,
  baseUrl: BASE_URL,
  descriptors: { ...TEXTS, flag: '--descriptors' },
  mcp: { ...BOOLEAN, flag: '--mcp' },
  tls: { ...TLS, flag: '--tls' },
  adminToken: textRule(ADMIN_TOKEN_RULE, isAdminToken),
  allowHosts: TEXTS,
  allowOutbound: { ...BOOLEAN, flag: '--allow-outbound' },
  watch: BOOLEAN,
  bodyLimit: { ...wholeNumberRule(1, 999_999_999), flag: '--body-limit' },
  journalSize: { ...wholeNumberRule(1, 10_000_000), flag: '--journal-size' },
  journalFile: { ...TEXT, flag: '--journal' },
  url: BASE_URL,
  config: { ...CONFIG, flag: '--config' },
} satisfies Record<keyof ToolmockOptions, OptionRule>

const CONNECT_RULES = {
  clientId: TEXT,
  clientSecret: TEXT,
  adminToken: TEXT,
  environment: TEXT,
  ca: TEXT,
} satisfies Record<keyof ConnectOptions, Rule>

async function appOptions(options: ToolmockOptions): Promise<AppOptions> {
  const {
    scenario: _scenario,
    with: _with,
    clock,
    tls,
    journalSize,
    host = LOOPBACK,
    port: _port,
    url: _url,
    config,
    ...same
  } = options
  const allScenarios = scenarioNames(options)
  const { configuredMock } = await import('../cli/configured-mock.ts')
  const configured = config === false ? {} : await configuredMock(config)
  const ownOptions: AppOptions = {
    ...same,
    scenarios: allScenarios.length === 0 ? undefined : allScenarios,
    clock: clock === undefined ? undefined : new Date(clock).toISOString(),
    baseUrl: options.baseUrl?.replace(/\/+$/, ''),
    journalCapacity: journalSize,
    tls: tls === true ? { hosts: [host] } : tls === false ? undefined : tls,
  }
  return { ...configured, ...withoutUndefined(ownOptions) }
}

function startFailure(error: unknown): ToolmockError {
  if (error instanceof ToolmockError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ToolmockError('NOT_STARTED', `toolmock did not start: ${message}`, { cause: error })
}
