import { CONTRACT_FORMATS } from '../verdict/formats/formats.ts'
import { isDatabaseUrl } from '../app/options.ts'
import type { Instant } from '../domain/instant.ts'
import { isScenarioPath } from '../domain/scenario.ts'
import { LOG_LEVELS } from './log.ts'

/** Commands that show and change one environment of a running server by its control API. */
const CONTROL_COMMANDS = [
  'logs',
  'explain',
  'links',
  'accounts',
  'clock',
  'scenario',
  'snapshot',
  'reset',
  'webhooks',
] as const
export type ControlCommandName = (typeof CONTROL_COMMANDS)[number]

export const COMMAND_NAMES = [
  'start',
  'stop',
  'env',
  'run',
  'validate',
  'init',
  'config',
  'connector',
  'state',
  'conform',
  'drift',
  'record',
  'report',
  'descriptors',
  ...CONTROL_COMMANDS,
  'mcp',
  'healthcheck',
  'completion',
] as const
export type CommandName = (typeof COMMAND_NAMES)[number]

/** One flag as data: parsing, its variable, the help text and the table in `docs/commands.md` come from it. */
export interface Flag {
  /** Without the dashes; the variable is `TOOLMOCK_` and this in capitals. */
  readonly name: string
  readonly short?: string
  readonly commands: readonly CommandName[]
  readonly kind: FlagKind
  /** Stands for the value in the help text: `--port N`. */
  readonly placeholder?: string
  readonly default?: string | number | boolean | readonly string[]
  /** Whether a variable can set it too; a list is comma-separated there. */
  readonly variable: boolean
  /** Whether a value is the path of a file, which in a configuration file is relative to that file. */
  readonly isPath?: (value: string) => boolean
  readonly help: string
}

type TextKind = 'text' | 'admin-token' | 'list' | 'url' | 'instant'
export type FlagKind =
  | { readonly type: 'switch' | TextKind }
  | { readonly type: 'whole'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly allowed: readonly string[] }

const SERVERS = ['start', 'run'] as const
const always = (): boolean => true
const isNotDatabase = (state: string): boolean => !isDatabaseUrl(state)
const isNotBundled = (path: string): boolean => path !== 'bundled'
const CALLERS = ['report', 'healthcheck', 'mcp', 'env', ...CONTROL_COMMANDS] as const

type ValueOptions = Pick<Flag, 'kind' | 'placeholder' | 'default' | 'short' | 'isPath'>

const SWITCH = { kind: { type: 'switch' } } as const
const valued = <const Type extends TextKind>(type: Type, placeholder: string) =>
  ({ kind: { type }, placeholder }) as const
const whole = (placeholder: string, min: number, max: number) =>
  ({ kind: { type: 'whole', min, max }, placeholder }) as const
const choice = <const Allowed extends readonly string[]>(placeholder: string, allowed: Allowed) =>
  ({ kind: { type: 'choice', allowed }, placeholder }) as const

/** A flag that a variable can set too. */
const flag = <const Name extends string, const Of extends readonly CommandName[], Values extends ValueOptions>(
  name: Name,
  commands: Of,
  taken: Values,
  help: string,
) => ({ name, commands, ...taken, help, variable: true as boolean })

/** A flag without a variable. */
const flagOnly: typeof flag = (...given) => ({ ...flag(...given), variable: false })

/** Every flag of every command, in the order of the help texts. */
const FLAGS = [
  flag('url', CALLERS, valued('url', 'URL'), 'the server to ask (from host and port by default)'),
  flag(
    'port',
    ['start', ...CALLERS],
    { ...whole('N', 0, 65_535), default: 8665 },
    'port of the server; `start` takes a free one for 0',
  ),
  flag(
    'host',
    ['start', ...CALLERS],
    { ...valued('text', 'H'), default: '127.0.0.1' },
    'address of the server; 0.0.0.0 for all addresses of the machine',
  ),
  flag(
    'base-url',
    ['start'],
    valued('url', 'URL'),
    "what links and redirects are built on (from the request's Host by default)",
  ),
  flagOnly('base-url', ['conform'], valued('url', 'URL'), 'the implementation to check (TOOLMOCK_URL by default)'),
  flagOnly('base-url', ['drift'], valued('url', 'URL'), 'the service to compare with (TOOLMOCK_URL by default)'),
  flag(
    'state',
    ['start'],
    { ...valued('text', 'FILE'), default: '.toolmock/state.json', isPath: isNotDatabase },
    'the whole model, one JSON file; or postgres://USER:PASSWORD@HOST/DATABASE, for several replicas of which one is active',
  ),
  flag(
    'state-schema',
    ['start', 'state'],
    { ...valued('text', 'NAME'), default: 'toolmock' },
    'with a database: the schema that has its tables, which are made when they are missing',
  ),
  flag(
    'lease',
    ['start'],
    { ...whole('MS', 2000, 600_000), default: 6000 },
    'with a database: after this time without a sign of the active replica another one takes over',
  ),
  flag(
    'replica-url',
    ['start'],
    valued('url', 'URL'),
    'with a database: where the other replicas call this one (by default where it listens)',
  ),
  flag('in-memory', ['start'], SWITCH, 'no state file'),
  flag('fresh', ['start'], SWITCH, 'ignore and replace an existing state'),
  flag(
    'durability',
    ['start'],
    { ...choice('D', ['strict', 'relaxed']), default: 'strict' },
    'strict answers once a change is on disk; relaxed answers at once, and a crash may lose the latest changes',
  ),
  flag(
    'min-operations',
    ['run', 'report'],
    valued('text', 'N|N%'),
    'the verdict fails when fewer operations have answered a success',
  ),
  flag(
    'min-statuses',
    ['run', 'report'],
    valued('text', 'N|N%'),
    'the verdict fails when fewer of the declared statuses have been answered',
  ),
  flag(
    'allow-no-requests',
    ['run', 'report'],
    SWITCH,
    'passes when no operation was called; without it `run` and `report --fail` fail then, because nothing was judged',
  ),
  flag(
    'allow-violation',
    ['run', 'report'],
    valued('list', 'OPERATION[:FIELD]'),
    'what is provoked on purpose: of an operation, of one of its fields, or `unknown_path[:/PATH]`',
  ),
  flag(
    'fail-on',
    ['run', 'report'],
    choice('W', ['warning', 'unread']),
    'the verdict fails for every warning too (warning), or for fields and parameters that nothing reads (unread)',
  ),
  flag(
    'report',
    ['run', 'report'],
    { ...valued('list', 'FILE'), isPath: always },
    'the whole report, by the ending of its name: .json, .txt, .xml (JUnit), .sarif, .html or code-quality-report.json (GitLab)',
  ),
  flagOnly(
    'cases',
    ['run'],
    valued('text', 'FILE'),
    'run CMD once for each case of this file, with a mock of its own each time; exit 3 when a case fails',
  ),
  flag(
    'parallel',
    ['run'],
    { ...whole('N', 1, 1000), default: 1 },
    'with `--cases`: so many of them at the same time; what a command prints then comes once it has ended',
  ),
  flag(
    'repeat',
    ['run'],
    { ...whole('N', 1, 1000), default: 1 },
    'with `--cases`: run each of them so often; a run whose requests, answers or effects differ from the first one fails',
  ),
  flag(
    'seed',
    SERVERS,
    { ...valued('list', 'PATH'), default: ['bundled'], isPath: isNotBundled },
    'a file, with the `connectors` folder beside it, or a directory in place of the bundled seed; give `bundled` too to add to it',
  ),
  flag(
    'scenario',
    SERVERS,
    { ...valued('list', 'NAME_OR_FILE'), isPath: isScenarioPath },
    'runs from the start, in every environment',
  ),
  flag(
    'extension',
    [...SERVERS, 'validate'],
    { ...valued('list', 'NAME_OR_FILE'), isPath: isScenarioPath },
    'answers for a part of the service that the mock does not serve: `organizations`, or a file of your own',
  ),
  flag(
    'clock',
    SERVERS,
    valued('instant', 'ISO'),
    'where the clock of a new environment starts (at the current time by default)',
  ),
  flag('freeze', SERVERS, SWITCH, 'the clock of a new environment is frozen'),
  flag(
    'id-seed',
    SERVERS,
    whole('N', 0, 999_999_999),
    'ids, tokens and generated data of a new environment repeat between runs (random by default)',
  ),
  flag('strict', SERVERS, SWITCH, 'unknown query parameters and body fields are 400s'),
  flag(
    'documented-only',
    SERVERS,
    SWITCH,
    "only what the service's document lists: no Discovery, no proxy, and locators with an organization or user",
  ),
  flag(
    'descriptors',
    SERVERS,
    { ...valued('list', 'FILE'), isPath: always },
    'serve gRPC, gRPC-Web and Connect on the same port, from these protobuf descriptors',
  ),
  flag(
    'mcp',
    SERVERS,
    SWITCH,
    'serve a virtual MCP server for each connection, at its mcp_server_url, and the calls for configs and session tokens',
  ),
  flag('watch', ['start'], SWITCH, 'reload seeds, connectors, extensions and scenarios when their files change'),
  flag(
    'admin-token',
    ['start', 'stop', 'env', 'report', 'conform', 'drift', 'mcp', ...CONTROL_COMMANDS],
    valued('admin-token', 'T'),
    'the bearer token that the control API requires',
  ),
  flag(
    'allow-host',
    ['start'],
    valued('list', 'H'),
    'a name at which the control API may be called, beside those that are always safe',
  ),
  flag('allow-outbound', SERVERS, SWITCH, 'a connector may name a server that is not on loopback'),
  flagOnly('allow-outbound', ['drift', 'record'], SWITCH, 'the service may be one that is not on loopback'),
  flag('tls', [...SERVERS, ...CALLERS], SWITCH, 'HTTPS with a temporary certificate authority, whose file is printed'),
  flag(
    'tls-cert',
    [...SERVERS, ...CALLERS],
    { ...valued('text', 'F'), isPath: always },
    'HTTPS with this certificate, a PEM file; needs `--tls-key`',
  ),
  flag(
    'tls-key',
    [...SERVERS, ...CALLERS],
    { ...valued('text', 'F'), isPath: always },
    'the private key of the certificate',
  ),
  flag(
    'journal',
    SERVERS,
    { ...valued('text', 'FILE'), isPath: always },
    'append every entry of the request journal to it, one line of JSON each',
  ),
  flagOnly(
    'journal',
    ['explain'],
    valued('text', 'FILE'),
    'look the request up in this file, which `run --journal` or `start --journal` has written, and ask no server',
  ),
  flag(
    'journal-size',
    SERVERS,
    { ...whole('N', 1, 10_000_000), default: 10_000 },
    'how many entries the request journal of an environment keeps',
  ),
  flag(
    'body-limit',
    SERVERS,
    { ...whole('BYTES', 1, 999_999_999), default: 1_048_576 },
    'largest request body that is accepted; without it, a call of the control API may have 64 MiB',
  ),
  flag('log-level', ['start'], { ...choice('L', LOG_LEVELS), default: 'info' }, LOG_LEVELS.join(', ')),
  flag(
    'log-level',
    ['run'],
    choice('L', LOG_LEVELS),
    `${LOG_LEVELS.join(', ')}: written at once; without it warnings are printed after the command has ended`,
  ),
  flag('json', ['start'], SWITCH, 'the ready line, the lines of requests and log lines are JSON'),
  flagOnly(
    'detach',
    ['start'],
    SWITCH,
    'go on in the background once it is ready; .toolmock/server.json says where, server.log has its output, `toolmock stop` ends it',
  ),
  flag('quiet', ['start'], SWITCH, 'no line for each request'),
  flagOnly(
    'out',
    ['scenario'],
    { ...valued('text', 'DIR'), default: '.' },
    'where `from` writes the scenario and the seed',
  ),
  flagOnly(
    'request',
    ['scenario'],
    valued('text', 'ID'),
    'for `from` with a file: up to which request (to the last one by default)',
  ),
  flagOnly(
    'out',
    ['state'],
    valued('text', 'NEW_OR_URL'),
    'where repair and export write to, a file that does not exist yet; the database of import',
  ),
  flagOnly(
    'out',
    ['descriptors'],
    valued('text', 'FILE'),
    'where the descriptors are written, for `--descriptors` of a start',
  ),
  flagOnly(
    'seed',
    ['drift'],
    valued('list', 'PATH'),
    'what the mock starts with: a file, a directory or `bundled` (the connectors that the service lists by default)',
  ),
  flagOnly(
    'seed',
    ['reset'],
    valued('text', 'PATH'),
    'take this seed in place of the one that the environment was made from: a file, with the `connectors` folder beside it, a directory, or `bundled`',
  ),
  flagOnly(
    'seed',
    ['descriptors'],
    valued('text', 'FILE'),
    'add the values that the client names otherwise to `settings.vocabulary` of this seed, a new or existing file in YAML',
  ),
  flagOnly(
    'connector',
    ['init'],
    choice('NAME', ['calendar']),
    'write the worked example of the guide to connectors in place of the starter: calendar',
  ),
  flagOnly(
    'only',
    ['connector'],
    valued('text', 'TAG_OR_PATH'),
    'operations with this tag, or with this path and below it (all by default)',
  ),
  flagOnly(
    'out',
    ['connector'],
    valued('text', 'FILE'),
    'where to write the connector; a file that does not exist yet (to stdout by default)',
  ),
  flagOnly('upstream', ['record'], valued('url', 'URL'), 'the service, which the recorder passes everything on to'),
  flagOnly(
    'out',
    ['record'],
    valued('text', 'FOLDER'),
    'where to write the recording; a folder that does not exist yet, or an empty one',
  ),
  flagOnly(
    'port',
    ['record'],
    { ...whole('N', 0, 65_535), default: 0 },
    'port of the recorder (a free one by default)',
  ),
  flagOnly(
    'mask',
    ['record'],
    valued('list', 'NAME'),
    'a field, header or parameter that holds a secret, beside those that are always masked',
  ),
  flagOnly('mask-identifiers', ['record'], SWITCH, 'mask the identifiers of accounts too'),
  flagOnly('force', ['record'], SWITCH, 'write into a folder that is not empty'),
  flag('client-id', ['conform', 'drift'], valued('text', 'ID'), 'client credentials'),
  flag('client-secret', ['conform', 'drift'], valued('text', 'SECRET'), 'client credentials'),
  flagOnly(
    'format',
    ['env'],
    { ...choice('F', ['sh', 'json', 'dotenv', 'github']), default: 'sh' },
    'lines for a shell, JSON, a .env file, or the file of GITHUB_ENV',
  ),
  flagOnly(
    'format',
    ['conform'],
    { ...choice('F', ['text', 'json', 'junit']), default: 'text' },
    'what is printed: text, json or junit',
  ),
  flagOnly(
    'recording',
    ['drift'],
    valued('text', 'FILE'),
    'send the requests of this recording, a HAR file, in place of those of the conformance suite',
  ),
  flagOnly(
    'allow-writes',
    ['drift'],
    SWITCH,
    'create, change and delete accounts whose identifier begins with `toolmock-drift-` at a service that is not on loopback; without it only reading requests are sent there',
  ),
  flagOnly(
    'fail-on',
    ['drift'],
    { ...choice('CLASS', ['contract', 'mock', 'none']), default: 'contract' },
    'exit 1 for findings of this class; mock includes contract',
  ),
  flagOnly(
    'accept',
    ['drift'],
    valued('text', 'FILE'),
    'findings that are known: a YAML list of `{ finding: ID, reason }`; an entry that no longer occurs is a finding',
  ),
  flagOnly(
    'write-settings',
    ['drift'],
    valued('text', 'FILE'),
    'write a seed with the settings and words that make the mock answer as the service does',
  ),
  flagOnly(
    'format',
    ['drift'],
    { ...choice('F', ['text', 'json', 'junit', 'sarif']), default: 'text' },
    'what is printed: text, json, junit or sarif',
  ),
  flagOnly(
    'only',
    ['conform', 'drift'],
    valued('list', 'PATTERN'),
    'only checks of this name, where `*` matches any part: `verify/*`',
  ),
  flagOnly(
    'basis',
    ['conform'],
    choice('B', ['document', 'convention', 'choice']),
    "only checks that rest on the service's document, on convention, or on a choice of this mock",
  ),
  flagOnly(
    'connector',
    ['conform'],
    valued('text', 'NAME'),
    'the connector to check with (the first of type OAUTH by default)',
  ),
  flagOnly(
    'allow-provider-changes',
    ['conform'],
    SWITCH,
    'create, change and delete custom providers, whose deletion is permanent',
  ),
  flagOnly(
    'consent',
    ['conform', 'drift'],
    { ...choice('HOW', ['control-api', 'skip']), default: 'skip' },
    'control-api gives consent and moves the clock by the control API of a toolmock; skip omits those checks',
  ),
  flagOnly(
    'format',
    ['report'],
    choice('F', CONTRACT_FORMATS),
    'text, as `run` prints it, json, junit (XML), sarif, gitlab (code quality), github (annotations) or html; all but json contain the coverage too; coverage has json and html',
  ),
  flagOnly('output', ['report'], { ...valued('text', 'FILE'), short: 'o' }, 'where to write it (to stdout by default)'),
  flagOnly(
    'environment',
    ['report'],
    valued('text', 'NAME'),
    'only this environment, also when it was removed (all by default)',
  ),
  flagOnly('fail', ['report'], SWITCH, 'exit 1 when the contract was broken, once the report is written'),
  flagOnly(
    'judge',
    ['report'],
    choice('J', ['prism']),
    'prism checks the requests of the journal by Prism too and lists where it disagrees (second_opinion in the json of contract)',
  ),
  flagOnly(
    'environment',
    ['mcp', 'env', ...CONTROL_COMMANDS],
    { ...valued('text', 'NAME'), default: 'default' },
    'the environment that it is about',
  ),
  flagOnly('json', ['config', ...CONTROL_COMMANDS], SWITCH, 'print JSON, for programs'),
  flagOnly(
    'follow',
    ['logs'],
    { ...SWITCH, short: 'f' },
    'go on with each new request until SIGINT or SIGTERM, or until the server stops',
  ),
  flagOnly(
    'operation',
    ['logs'],
    valued('text', 'NAME'),
    'only requests of this operation, or of those that a glob such as `*_tools` matches',
  ),
  flagOnly(
    'status',
    ['logs'],
    valued('text', 'N'),
    'only requests with this status, or with those that a glob such as `4*` matches',
  ),
  flagOnly('limit', ['logs'], { ...whole('N', 1, 1_000_000), default: 100 }, 'at most so many of the latest requests'),
  flagOnly(
    'query',
    ['accounts'],
    valued('text', 'TEXT'),
    'only accounts whose identifier, connector or provider contains it',
  ),
  flagOnly('limit', ['accounts'], { ...whole('N', 1, 1_000_000), default: 100 }, 'at most so many accounts'),
  flagOnly(
    'as',
    ['links'],
    valued('text', 'IDENTITY'),
    "who signs in at the third party for approve and deny (by default the account's own identifier where it is one of the connector's people, else the first of them)",
  ),
  flag(
    'config',
    [...SERVERS, 'stop', 'config', 'conform', 'drift', ...CALLERS],
    valued('text', 'FILE'),
    'the configuration file (toolmock.config.yaml or .json, or `toolmock` in package.json, from the working directory upwards, by default)',
  ),
  flagOnly('help', COMMAND_NAMES, { ...SWITCH, short: 'h' }, 'print how to use this and stop'),
  flagOnly('version', COMMAND_NAMES, { ...SWITCH, short: 'v' }, 'print the version and stop'),
] as const satisfies readonly Flag[]

type FlagOf<Command extends CommandName, Entry = (typeof FLAGS)[number]> = Entry extends {
  commands: readonly (infer Of)[]
}
  ? Command extends Of
    ? Entry
    : never
  : never

export function flagsOf(command: CommandName): readonly Flag[] {
  return FLAGS.filter((flag: Flag) => flag.commands.includes(command))
}

interface TypeOf {
  switch: boolean
  text: string
  'admin-token': string
  list: readonly string[]
  url: string
  instant: Instant
  whole: number
  choice: string
}
type ValueOf<Entry extends Flag> = Entry['kind'] extends { allowed: readonly (infer Allowed)[] }
  ? Allowed
  : TypeOf[Entry['kind']['type']]
type AbsentOf<Entry extends Flag> = Entry extends { default: unknown } | { kind: { type: 'switch' } }
  ? never
  : undefined

/** The values of a command's flags. One without a default may be undefined; a switch is off by default. */
export type FlagValues<Command extends CommandName> = {
  readonly [Entry in FlagOf<Command> as Entry['name']]: ValueOf<Entry> | AbsentOf<Entry>
}

/** The flags that variables and a configuration file can set, each name once. */
export function settings(): Flag[] {
  const all: readonly Flag[] = FLAGS
  return all.filter(
    (flag, at) => flag.variable && all.findIndex(({ name, variable }) => variable && name === flag.name) === at,
  )
}

export function variableOf(flag: Flag): string | undefined {
  return flag.variable ? `TOOLMOCK_${flag.name.toUpperCase().replaceAll('-', '_')}` : undefined
}

export function allVariables(): string[] {
  return FLAGS.map(variableOf).filter((name) => name !== undefined)
}
