import { CONTRACT_FORMATS } from '../verdict/formats/formats.ts'
import type { Instant } from '../domain/instant.ts'
import { isScenarioPath } from '../domain/scenario.ts'
import { LOG_LEVELS } from './log.ts'

/** Commands that show and change one environment of a running server by its control API. */
const CONTROL_COMMANDS = ['logs', 'explain', 'links', 'accounts', 'clock', 'scenario', 'snapshot', 'reset'] as const
export type ControlCommandName = (typeof CONTROL_COMMANDS)[number]

export const COMMAND_NAMES = [
  'start',
  'run',
  'validate',
  'init',
  'config',
  'connector',
  'state',
  'conform',
  'report',
  'descriptors',
  ...CONTROL_COMMANDS,
  'mcp',
  'healthcheck',
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

export type FlagKind =
  | { readonly type: 'switch' }
  | { readonly type: 'text' }
  | { readonly type: 'admin-token' }
  | { readonly type: 'list' }
  | { readonly type: 'url' }
  | { readonly type: 'instant' }
  | { readonly type: 'whole'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly allowed: readonly string[] }

const SERVERS = ['start', 'run'] as const
const always = (): boolean => true
/** Commands that call a running server. */
const CALLERS = ['report', 'healthcheck', 'mcp', ...CONTROL_COMMANDS] as const

/** Every flag of every command, in the order of the help texts. */
const FLAGS = [
  {
    name: 'url',
    commands: CALLERS,
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: true,
    help: 'the server to ask (from host and port by default)',
  },
  {
    name: 'port',
    commands: ['start', ...CALLERS],
    kind: { type: 'whole', min: 0, max: 65_535 },
    placeholder: 'N',
    default: 8665,
    variable: true,
    help: 'port of the server; `start` takes a free one for 0',
  },
  {
    name: 'host',
    commands: ['start', ...CALLERS],
    kind: { type: 'text' },
    placeholder: 'H',
    default: '127.0.0.1',
    variable: true,
    help: 'address of the server; 0.0.0.0 for all addresses of the machine',
  },
  {
    name: 'base-url',
    commands: ['start'],
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: true,
    help: "what links and redirects are built on (from the request's Host by default)",
  },
  {
    name: 'base-url',
    commands: ['conform'],
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: false,
    help: 'the implementation to check (TOOLMOCK_URL by default)',
  },
  {
    name: 'state',
    commands: ['start'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    default: '.toolmock/state.json',
    variable: true,
    isPath: always,
    help: 'the whole model, one JSON file',
  },
  {
    name: 'in-memory',
    commands: ['start'],
    kind: { type: 'switch' },
    variable: true,
    help: 'no state file',
  },
  {
    name: 'fresh',
    commands: ['start'],
    kind: { type: 'switch' },
    variable: true,
    help: 'ignore and replace an existing state',
  },
  {
    name: 'durability',
    commands: ['start'],
    kind: { type: 'choice', allowed: ['strict', 'relaxed'] },
    placeholder: 'D',
    default: 'strict',
    variable: true,
    help: 'strict answers once a change is on disk; relaxed answers at once, and a crash may lose the latest changes',
  },
  {
    name: 'min-operations',
    commands: ['run'],
    kind: { type: 'text' },
    placeholder: 'N|N%',
    variable: true,
    help: 'the verdict fails when fewer operations have answered a success',
  },
  {
    name: 'min-statuses',
    commands: ['run'],
    kind: { type: 'text' },
    placeholder: 'N|N%',
    variable: true,
    help: 'the verdict fails when fewer of the declared statuses have been answered',
  },
  {
    name: 'allow-no-requests',
    commands: ['run', 'report'],
    kind: { type: 'switch' },
    variable: true,
    help: 'passes when no operation was called; without it `run` and `report --fail` fail then, because nothing was judged',
  },
  {
    name: 'allow-violation',
    commands: ['run'],
    kind: { type: 'list' },
    placeholder: 'OPERATION[:FIELD]',
    variable: true,
    help: 'what is provoked on purpose: of an operation, of one of its fields, or `unknown_path[:/PATH]`',
  },
  {
    name: 'fail-on',
    commands: ['run'],
    kind: { type: 'choice', allowed: ['warning', 'unread'] },
    placeholder: 'W',
    variable: true,
    help: 'the verdict fails for every warning too (warning), or for fields and parameters that nothing reads (unread)',
  },
  {
    name: 'report',
    commands: ['run'],
    kind: { type: 'list' },
    placeholder: 'FILE',
    variable: true,
    isPath: always,
    help: 'the whole report, by the ending of its name: .json, .txt, .xml (JUnit), .sarif, .html or code-quality-report.json (GitLab)',
  },
  {
    name: 'seed',
    commands: SERVERS,
    kind: { type: 'list' },
    placeholder: 'PATH',
    default: ['bundled'],
    variable: true,
    isPath: (path) => path !== 'bundled',
    help: 'a file, with the `connectors` folder beside it, or a directory in place of the bundled seed; give `bundled` too to add to it',
  },
  {
    name: 'scenario',
    commands: SERVERS,
    kind: { type: 'list' },
    placeholder: 'NAME_OR_FILE',
    variable: true,
    isPath: isScenarioPath,
    help: 'runs from the start, in every environment',
  },
  {
    name: 'clock',
    commands: SERVERS,
    kind: { type: 'instant' },
    placeholder: 'ISO',
    variable: true,
    help: 'where the clock of a new environment starts (at the current time by default)',
  },
  {
    name: 'freeze',
    commands: SERVERS,
    kind: { type: 'switch' },
    variable: true,
    help: 'the clock of a new environment is frozen',
  },
  {
    name: 'id-seed',
    commands: SERVERS,
    kind: { type: 'whole', min: 0, max: 999_999_999 },
    placeholder: 'N',
    variable: true,
    help: 'ids, tokens and generated data of a new environment repeat between runs (random by default)',
  },
  {
    name: 'strict',
    commands: SERVERS,
    kind: { type: 'switch' },
    variable: true,
    help: 'unknown query parameters and body fields are 400s',
  },
  {
    name: 'documented-only',
    commands: SERVERS,
    kind: { type: 'switch' },
    variable: true,
    help: "only what the service's document lists: no Discovery, no proxy, and locators with an organization or user",
  },
  {
    name: 'descriptors',
    commands: SERVERS,
    kind: { type: 'list' },
    placeholder: 'FILE',
    variable: true,
    isPath: always,
    help: 'serve gRPC, gRPC-Web and Connect on the same port, from these protobuf descriptors',
  },
  {
    name: 'mcp',
    commands: SERVERS,
    kind: { type: 'switch' },
    variable: true,
    help: 'serve a virtual MCP server for each connection, at its mcp_server_url',
  },
  {
    name: 'watch',
    commands: ['start'],
    kind: { type: 'switch' },
    variable: true,
    help: 'reload seeds, connectors and scenarios when their files change',
  },
  {
    name: 'admin-token',
    commands: ['start', 'report', 'conform', 'mcp', ...CONTROL_COMMANDS],
    kind: { type: 'admin-token' },
    placeholder: 'T',
    variable: true,
    help: 'the bearer token that the control API requires',
  },
  {
    name: 'allow-host',
    commands: ['start'],
    kind: { type: 'list' },
    placeholder: 'H',
    variable: true,
    help: 'a name at which the control API may be called, beside those that are always safe',
  },
  {
    name: 'allow-outbound',
    commands: SERVERS,
    kind: { type: 'switch' },
    variable: true,
    help: 'a connector may name a server that is not on loopback',
  },
  {
    name: 'tls',
    commands: [...SERVERS, ...CALLERS],
    kind: { type: 'switch' },
    variable: true,
    help: 'HTTPS with a temporary certificate authority, whose file is printed',
  },
  {
    name: 'tls-cert',
    commands: [...SERVERS, ...CALLERS],
    kind: { type: 'text' },
    placeholder: 'F',
    variable: true,
    isPath: always,
    help: 'HTTPS with this certificate, a PEM file; needs `--tls-key`',
  },
  {
    name: 'tls-key',
    commands: [...SERVERS, ...CALLERS],
    kind: { type: 'text' },
    placeholder: 'F',
    variable: true,
    isPath: always,
    help: 'the private key of the certificate',
  },
  {
    name: 'journal',
    commands: SERVERS,
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: true,
    isPath: always,
    help: 'append every entry of the request journal to it, one line of JSON each',
  },
  {
    name: 'journal',
    commands: ['explain'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'look the request up in this file, which `run --journal` or `start --journal` has written, and ask no server',
  },
  {
    name: 'journal-size',
    commands: SERVERS,
    kind: { type: 'whole', min: 1, max: 10_000_000 },
    placeholder: 'N',
    default: 10_000,
    variable: true,
    help: 'how many entries the request journal of an environment keeps',
  },
  {
    name: 'body-limit',
    commands: SERVERS,
    kind: { type: 'whole', min: 1, max: 999_999_999 },
    placeholder: 'BYTES',
    default: 1_048_576,
    variable: true,
    help: 'largest request body that is accepted; without it, a call of the control API may have 64 MiB',
  },
  {
    name: 'log-level',
    commands: ['start'],
    kind: { type: 'choice', allowed: LOG_LEVELS },
    placeholder: 'L',
    default: 'info',
    variable: true,
    help: LOG_LEVELS.join(', '),
  },
  {
    name: 'log-level',
    commands: ['run'],
    kind: { type: 'choice', allowed: LOG_LEVELS },
    placeholder: 'L',
    variable: true,
    help: `${LOG_LEVELS.join(', ')}: written at once; without it warnings are printed after the command has ended`,
  },
  {
    name: 'json',
    commands: ['start'],
    kind: { type: 'switch' },
    variable: true,
    help: 'the ready line, the lines of requests and log lines are JSON',
  },
  {
    name: 'quiet',
    commands: ['start'],
    kind: { type: 'switch' },
    variable: true,
    help: 'no line for each request',
  },
  {
    name: 'out',
    commands: ['scenario'],
    kind: { type: 'text' },
    placeholder: 'DIR',
    default: '.',
    variable: false,
    help: 'where `from` writes the scenario and the seed',
  },
  {
    name: 'request',
    commands: ['scenario'],
    kind: { type: 'text' },
    placeholder: 'ID',
    variable: false,
    help: 'for `from` with a file: up to which request (to the last one by default)',
  },
  {
    name: 'out',
    commands: ['state'],
    kind: { type: 'text' },
    placeholder: 'NEW',
    variable: false,
    help: 'where repair writes what it saves; a file that does not exist yet',
  },
  {
    name: 'out',
    commands: ['descriptors'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'where the descriptors are written, for `--descriptors` of a start',
  },
  {
    name: 'seed',
    commands: ['reset'],
    kind: { type: 'text' },
    placeholder: 'PATH',
    variable: false,
    help: 'take this seed in place of the one that the environment was made from: a file, with the `connectors` folder beside it, a directory, or `bundled`',
  },
  {
    name: 'seed',
    commands: ['descriptors'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'add the words that differ to `settings.vocabulary` of this seed, a new or existing file in YAML',
  },
  {
    name: 'connector',
    commands: ['init'],
    kind: { type: 'choice', allowed: ['calendar'] },
    placeholder: 'NAME',
    variable: false,
    help: 'write the worked example of the guide to connectors in place of the starter: calendar',
  },
  {
    name: 'only',
    commands: ['connector'],
    kind: { type: 'text' },
    placeholder: 'TAG_OR_PATH',
    variable: false,
    help: 'operations with this tag, or with this path and below it (all by default)',
  },
  {
    name: 'out',
    commands: ['connector'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'where to write the connector; a file that does not exist yet (to stdout by default)',
  },
  {
    name: 'client-id',
    commands: ['conform'],
    kind: { type: 'text' },
    placeholder: 'ID',
    variable: true,
    help: 'client credentials',
  },
  {
    name: 'client-secret',
    commands: ['conform'],
    kind: { type: 'text' },
    placeholder: 'SECRET',
    variable: true,
    help: 'client credentials',
  },
  {
    name: 'format',
    commands: ['conform'],
    kind: { type: 'choice', allowed: ['text', 'json', 'junit'] },
    placeholder: 'F',
    default: 'text',
    variable: false,
    help: 'what is printed: text, json or junit',
  },
  {
    name: 'only',
    commands: ['conform'],
    kind: { type: 'list' },
    placeholder: 'PATTERN',
    variable: false,
    help: 'only checks of this name, where `*` matches any part: `verify/*`',
  },
  {
    name: 'basis',
    commands: ['conform'],
    kind: { type: 'choice', allowed: ['document', 'convention', 'choice'] },
    placeholder: 'B',
    variable: false,
    help: "only checks that rest on the service's document, on convention, or on a choice of this mock",
  },
  {
    name: 'connector',
    commands: ['conform'],
    kind: { type: 'text' },
    placeholder: 'NAME',
    variable: false,
    help: 'the connector to check with (the first of type OAUTH by default)',
  },
  {
    name: 'allow-provider-changes',
    commands: ['conform'],
    kind: { type: 'switch' },
    variable: false,
    help: 'create, change and delete custom providers, whose deletion is permanent',
  },
  {
    name: 'consent',
    commands: ['conform'],
    kind: { type: 'choice', allowed: ['control-api', 'skip'] },
    placeholder: 'HOW',
    default: 'skip',
    variable: false,
    help: 'control-api gives consent and moves the clock by the control API of a toolmock; skip omits those checks',
  },
  {
    name: 'format',
    commands: ['report'],
    kind: { type: 'choice', allowed: CONTRACT_FORMATS },
    placeholder: 'F',
    variable: false,
    help: 'text, as `run` prints it, json, junit (XML), sarif, gitlab (code quality), github (annotations) or html; all but json contain the coverage too; coverage has json and html',
  },
  {
    name: 'output',
    short: 'o',
    commands: ['report'],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'where to write it (to stdout by default)',
  },
  {
    name: 'environment',
    commands: ['report'],
    kind: { type: 'text' },
    placeholder: 'NAME',
    variable: false,
    help: 'only this environment, also when it was removed (all by default)',
  },
  {
    name: 'fail',
    commands: ['report'],
    kind: { type: 'switch' },
    variable: false,
    help: 'exit 1 when the contract was broken, once the report is written',
  },
  {
    name: 'judge',
    commands: ['report'],
    kind: { type: 'choice', allowed: ['prism'] },
    placeholder: 'J',
    variable: false,
    help: 'prism checks the requests of the journal by Prism too and lists where it disagrees (second_opinion in the json of contract)',
  },
  {
    name: 'environment',
    commands: ['mcp', ...CONTROL_COMMANDS],
    kind: { type: 'text' },
    placeholder: 'NAME',
    default: 'default',
    variable: false,
    help: 'the environment that it is about',
  },
  {
    name: 'json',
    commands: ['config', ...CONTROL_COMMANDS],
    kind: { type: 'switch' },
    variable: false,
    help: 'print JSON, for programs',
  },
  {
    name: 'follow',
    short: 'f',
    commands: ['logs'],
    kind: { type: 'switch' },
    variable: false,
    help: 'go on with each new request until SIGINT or SIGTERM, or until the server stops',
  },
  {
    name: 'operation',
    commands: ['logs'],
    kind: { type: 'text' },
    placeholder: 'NAME',
    variable: false,
    help: 'only requests of this operation, or of those that a glob such as `*_tools` matches',
  },
  {
    name: 'status',
    commands: ['logs'],
    kind: { type: 'text' },
    placeholder: 'N',
    variable: false,
    help: 'only requests with this status, or with those that a glob such as `4*` matches',
  },
  {
    name: 'limit',
    commands: ['logs'],
    kind: { type: 'whole', min: 1, max: 1_000_000 },
    placeholder: 'N',
    default: 100,
    variable: false,
    help: 'at most so many of the latest requests',
  },
  {
    name: 'query',
    commands: ['accounts'],
    kind: { type: 'text' },
    placeholder: 'TEXT',
    variable: false,
    help: 'only accounts whose identifier, connector or provider contains it',
  },
  {
    name: 'limit',
    commands: ['accounts'],
    kind: { type: 'whole', min: 1, max: 1_000_000 },
    placeholder: 'N',
    default: 100,
    variable: false,
    help: 'at most so many accounts',
  },
  {
    name: 'as',
    commands: ['links'],
    kind: { type: 'text' },
    placeholder: 'IDENTITY',
    variable: false,
    help: "who signs in at the third party for approve and deny (the account's own identifier by default)",
  },
  {
    name: 'config',
    commands: [...SERVERS, 'config', 'conform', ...CALLERS],
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: true,
    help: 'the configuration file (toolmock.config.yaml or .json, or `toolmock` in package.json, from the working directory upwards, by default)',
  },
  {
    name: 'help',
    short: 'h',
    commands: COMMAND_NAMES,
    kind: { type: 'switch' },
    variable: false,
    help: 'print how to use this and stop',
  },
  {
    name: 'version',
    short: 'v',
    commands: COMMAND_NAMES,
    kind: { type: 'switch' },
    variable: false,
    help: 'print the version and stop',
  },
] as const satisfies readonly Flag[]

type FlagOf<Command extends CommandName, Entry = (typeof FLAGS)[number]> = Entry extends {
  commands: readonly (infer Of)[]
}
  ? Command extends Of
    ? Entry
    : never
  : never

/** The flags of a command, in the order of its help text. */
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

/** Every variable that some command reads. */
export function allVariables(): string[] {
  return FLAGS.map(variableOf).filter((name) => name !== undefined)
}
