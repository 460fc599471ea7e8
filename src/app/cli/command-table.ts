import { CONTRACT_FORMATS } from '../../journal/verdict/formats/formats.ts'
import { isUrl } from '../options.ts'
import type { Instant } from '../../model/domain/instant.ts'
import { isScenarioPath } from '../../model/domain/scenario.ts'
import { LOG_LEVELS } from './log.ts'

export type FlagKind =
  | { readonly type: 'switch' | 'text' | 'admin-token' | 'list' | 'url' | 'instant' }
  | { readonly type: 'whole'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly allowed: readonly string[] }

interface Options<Value> {
  readonly short?: string
  readonly default?: Value
  /** Whether a value is the path of a file, which in a configuration file is relative to that file. */
  readonly isPath?: (value: string) => boolean
}

/** A flag of which a command reads a `Value`. */
interface Declared<Value = unknown> extends Options<Value> {
  readonly kind: FlagKind
  /** Stands for the value in the help text: `--port N`. */
  readonly placeholder?: string
  readonly help: string
  /** Whether a variable can set it too; a list is comma-separated there. */
  readonly variable?: true
}
type Flags = Readonly<Record<string, Declared>>

export interface CommandRow {
  /** What follows the name and the flags. Operands of a command without it are refused. */
  readonly operands?: string
  readonly summary: string
  /** What somebody types after `npx toolmock`, and what it does. */
  readonly example: readonly [command: string, effect: string]
  /** Its operands are the command line of another program, whose flags are not for toolmock. */
  readonly wraps?: true
  readonly flags: Flags
}

/** A value follows the flag. A flag without a default may be undefined. */
const valued =
  <Value>(kind: FlagKind) =>
  <const Given extends Options<Value>>(placeholder: string, options?: Given) =>
  (help: string): Declared<Given extends { default: unknown } ? Value : Value | undefined> => ({
    ...options,
    kind,
    placeholder,
    help,
  })
const text = valued<string>({ type: 'text' })
const list = valued<readonly string[]>({ type: 'list' })
const url = valued<string>({ type: 'url' })
const whole = (min: number, max: number) => valued<number>({ type: 'whole', min, max })
const choiceFlag = <Allowed extends string>(...allowed: readonly Allowed[]): ReturnType<typeof valued<Allowed>> =>
  valued({ type: 'choice', allowed })

/** A flag without a value: off by default. */
const toggle = (help: string, short?: string): Declared<boolean> => ({
  kind: { type: 'switch' },
  help,
  ...(short !== undefined && { short }),
})

/** Flags that a variable can set too. */
function settableByVariable<Given extends Flags>(flags: Given): Given {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, variable: true }])) as Given
}

const file = { isPath: () => true }

const ALL = {
  help: toggle('print how to use this and stop', 'h'),
  version: toggle('print the version and stop', 'v'),
}

const CONFIG = settableByVariable({
  config: text('FILE')(
    'the configuration file (toolmock.config.yaml or .json, or `toolmock` in package.json, from the working directory upwards, by default)',
  ),
})

const ADMIN = settableByVariable({
  'admin-token': valued<string>({ type: 'admin-token' })('T')(
    'the bearer token that the control API requires; `--no-admin-token`: none, whatever a variable or the file says',
  ),
})

const ADDRESS = settableByVariable({
  port: whole(0, 65_535)('N', { default: 8665 })('port of the server; `start` takes a free one for 0'),
  host: text('H', { default: '127.0.0.1' })('address of the server; 0.0.0.0 for all addresses of the machine'),
})

const TLS = settableByVariable({
  tls: toggle('HTTPS with a temporary certificate authority, whose file is printed'),
  'tls-cert': text('F', file)('HTTPS with this certificate, a PEM file; needs `--tls-key`'),
  'tls-key': text('F', file)('the private key of the certificate'),
})

/** How a command finds a running server. */
const CALLER = {
  ...settableByVariable({ url: url('URL')('the server to ask (from host and port by default)') }),
  ...ADDRESS,
  ...TLS,
  ...CONFIG,
}

const ENVIRONMENT = {
  environment: text('NAME', { default: 'default' })('the environment that it is about'),
}

const JSON_OUTPUT = { json: toggle('print JSON, for programs') }

/** A command that shows and changes one environment of a running server by its control API. */
const CONTROL = { ...CALLER, ...ADMIN, ...ENVIRONMENT, ...JSON_OUTPUT }

const STATE_SCHEMA = settableByVariable({
  'state-schema': text('NAME', { default: 'toolmock' })(
    'with a database: the schema that has its tables, which are made when they are missing',
  ),
})

const EXTENSION = settableByVariable({
  extension: list('NAME_OR_FILE', { isPath: isScenarioPath })(
    'answers for a part of the service that the mock does not serve: `organizations`, or a file of your own',
  ),
})

/** What a server answers otherwise. The mock of `drift` takes them too. */
const CHOICES = settableByVariable({
  strict: toggle('unknown query parameters and body fields are 400s'),
  'documented-only': toggle(
    "only what the service's document lists: no Discovery, no proxy, and locators with an organization or user",
  ),
  mcp: toggle(
    'serve a virtual MCP server for each connection, at its mcp_server_url, and the calls for configs and session tokens',
  ),
  'body-limit': whole(1, 999_999_999)('BYTES', { default: 1_048_576 })(
    'largest request body that is accepted; without it, a call of the control API may have 64 MiB',
  ),
})

/** What a server takes that outlives its command, or not. */
const SERVER = settableByVariable({
  seed: list('PATH', { default: ['bundled'], isPath: (path) => path !== 'bundled' })(
    'a file, with the `connectors` folder beside it, or a directory in place of the bundled seed; give `bundled` too to add to it',
  ),
  scenario: list('NAME_OR_FILE', { isPath: isScenarioPath })('runs from the start, in every environment'),
  ...EXTENSION,
  clock: valued<Instant>({ type: 'instant' })('ISO')(
    'where the clock of a new environment starts (at the current time by default)',
  ),
  freeze: toggle('the clock of a new environment is frozen'),
  'id-seed': whole(0, 999_999_999)('N')(
    'ids, tokens and generated data of a new environment repeat between runs (random by default)',
  ),
  ...CHOICES,
  descriptors: list('FILE', file)('serve gRPC, gRPC-Web and Connect on the same port, from these protobuf descriptors'),
  'allow-outbound': toggle('connectors and webhooks may name servers that are not on loopback'),
  ...TLS,
  journal: text('FILE', file)('append every entry of the request journal to it, one line of JSON each'),
  'journal-size': whole(1, 10_000_000)('N', { default: 10_000 })(
    'how many entries the request journal of an environment keeps',
  ),
})

/** How requests are judged. A configuration file has them in its `verdict`. */
export const VERDICT = settableByVariable({
  'min-operations': text('N|N%')('the verdict fails when fewer operations have answered a success'),
  'min-statuses': text('N|N%')('the verdict fails when fewer of the declared statuses have been answered'),
  'allow-no-requests': toggle(
    'passes when no operation was called, or only with refused credentials; `run` and `report --fail` fail then without it, because nothing was judged',
  ),
  'allow-violation': list('OPERATION[:FIELD]')(
    'what is provoked on purpose: of an operation, of one of its fields, or `unknown_path[:/PATH]`',
  ),
  'fail-on': choiceFlag('warning', 'unread')('W')(
    'the verdict fails for every warning too (warning), or for fields and parameters that nothing reads (unread)',
  ),
  report: list(
    'FILE',
    file,
  )(
    'the whole report, by the ending of its name: .json, .txt, .xml (JUnit), .sarif, .html or code-quality-report.json (GitLab)',
  ),
})

/** Of commands that check an implementation of the service. */
const CHECKS = {
  ...settableByVariable({
    'client-id': text('ID')('client credentials'),
    'client-secret': text('SECRET')('client credentials'),
  }),
  only: list('PATTERN')('only checks of this name, where `*` matches any part: `verify/*`'),
  consent: choiceFlag('control-api', 'skip')('HOW', { default: 'skip' })(
    'control-api gives consent and moves the clock by the control API of a toolmock; skip omits those checks',
  ),
  ...ADMIN,
  ...CONFIG,
}

const OUTBOUND_SERVICE = { 'allow-outbound': toggle('the service may be one that is not on loopback') }

export const EVENT_COMMANDS = ['expire', 'disconnect', 'revoke_refresh_token', 'expire_access_token'] as const

/** Commands and flags are in the order of the help text; the first command runs when none is named. */
const TABLE = {
  start: {
    // It says itself what an operand was meant for.
    operands: '',
    summary: 'serve until SIGINT or SIGTERM, then write the state and stop (what runs when no command is named)',
    example: [
      'start --seed bundled --seed toolmock/seeds --watch',
      'adds your connectors to the bundled ones, and reloads edited files',
    ],
    flags: {
      ...settableByVariable({
        ...ADDRESS,
        'base-url': url('URL')("what links and redirects are built on (from the request's Host by default)"),
        state: text('FILE', { default: '.toolmock/state.json', isPath: (state) => !isUrl(state) })(
          'the whole model, one JSON file; or postgres://USER:PASSWORD@HOST/DATABASE, for several replicas of which one is active',
        ),
        ...STATE_SCHEMA,
        lease: whole(2000, 600_000)('MS', { default: 6000 })(
          'with a database: after this time without a sign of the active replica another one takes over',
        ),
        'replica-url': url('URL')(
          'with a database: where the other replicas call this one (by default where it listens)',
        ),
        'in-memory': toggle('no state file'),
        fresh: toggle('ignore and replace an existing state'),
        durability: choiceFlag('strict', 'relaxed')('D', { default: 'strict' })(
          'strict answers once a change is on disk; relaxed answers at once, and a crash may lose the latest changes',
        ),
        ...SERVER,
        watch: toggle(
          'reload seeds, connectors, extensions and scenarios when their files change; an edited seed is added to the environment default, and takes nothing away',
        ),
        ...ADMIN,
        'allow-host': list('H')('a name at which the control API may be called, beside those that are always safe'),
        'log-level': choiceFlag(...LOG_LEVELS)('L', { default: 'info' })(LOG_LEVELS.join(', ')),
        json: toggle('the ready line, the lines of requests and log lines are JSON'),
        quiet: toggle('no line for each request'),
      }),
      detach: toggle(
        'go on in the background once it is ready; .toolmock/server.json says where, server.log has its output, `toolmock stop` ends it',
      ),
      ...CONFIG,
    },
  },
  stop: {
    summary: 'stop the server that `start --detach` started in this folder, and wait until its state is written',
    example: ['stop --json', 'says for a program which server has stopped'],
    flags: { ...ADMIN, ...JSON_OUTPUT, ...CONFIG },
  },
  env: {
    summary: 'print the connection variables of a running server',
    example: ['env --format github >> "$GITHUB_ENV"', 'gives the variables to the next steps of a job'],
    flags: {
      format: choiceFlag('sh', 'json', 'dotenv', 'github')('F', { default: 'sh' })(
        'lines for a shell, JSON, a .env file, or the file of GITHUB_ENV',
      ),
      json: toggle('the same as `--format json`'),
      ...CALLER,
      ...ADMIN,
      ...ENVIRONMENT,
    },
  },
  run: {
    operands: ' -- CMD ARG…',
    summary:
      "serve on a free port while CMD runs, with the connection variables set, then judge whether the contract was kept; exit with CMD's own code, or 3 when CMD passed and the verdict failed; --cases runs CMD once for each case of a file",
    wraps: true,
    example: ['run --scenario rate-limited --report out.html -- npm test', 'tests the retries of your program'],
    flags: {
      ...VERDICT,
      cases: text('FILE')(
        'run CMD once for each case of this file, with a mock of its own each time; exit 3 when a case fails',
      ),
      ...settableByVariable({
        parallel: whole(1, 1000)('N', { default: 1 })(
          'with `--cases`: so many of them at the same time; what a command prints then comes once it has ended',
        ),
        repeat: whole(1, 1000)('N', { default: 1 })(
          'with `--cases`: run each of them so often; a run whose requests, answers or effects differ from the first one fails',
        ),
        ...SERVER,
        'log-level': choiceFlag(...LOG_LEVELS)('L')(
          `${LOG_LEVELS.join(', ')}: written at once; without it warnings are printed after the command has ended`,
        ),
      }),
      ...CONFIG,
    },
  },
  validate: {
    operands: ' FILE…',
    summary:
      'check seeds (also `bundled`), connectors, scenarios, extensions, cases and configurations, files or folders, as `start` does; a folder may have other files, which are left out; exit 1 when one has a problem, 2 when one cannot be read',
    example: ['validate toolmock', 'checks every file that init has written'],
    flags: EXTENSION,
  },
  init: {
    operands: ' [DIR]',
    summary:
      'write a commented starter seed, connector and scenario into DIR (toolmock by default), and a configuration file that uses them',
    example: ['init mocks', 'writes mocks/seeds, mocks/scenarios and toolmock.config.yaml'],
    flags: {
      connector: choiceFlag('calendar')('NAME')(
        'write the worked example of the guide to connectors in place of the starter: calendar',
      ),
    },
  },
  config: {
    summary:
      'print the settings that a start here would use, and whether each comes from a variable, from the configuration file or is the default',
    example: ['config --json', 'prints each setting with its value and its source'],
    flags: { ...JSON_OUTPUT, ...CONFIG },
  },
  connector: {
    operands: ' from-openapi FILE',
    summary:
      'write a connector from an OpenAPI document: a tool for each operation, collections where paths form a resource; stderr lists the parts of the document that the connector leaves out',
    example: ['connector from-openapi openapi.yaml --out shop.yaml', 'writes the connector shop'],
    flags: {
      name: text('NAME')('the name of the connector, which those of its tools begin with (made from FILE by default)'),
      only: text('TAG_OR_PATH')('operations with this tag, or with this path and below it (all by default)'),
      out: text('FILE')('where to write the connector; a file that does not exist yet (to stdout by default)'),
    },
  },
  state: {
    operands: ' check|export|import FILE',
    summary:
      '`check` says whether a start would accept a state file (exit 1 when not, 2 without a file or while a server has it open); `export` and `import` copy a state out of and into a PostgreSQL database',
    example: ['state check .toolmock/state.json', 'says what the file holds, or what is wrong with it'],
    flags: {
      ...STATE_SCHEMA,
      out: text('NEW_OR_URL')('where export writes to, a file that does not exist yet; the database of import'),
    },
  },
  conform: {
    summary:
      'check an implementation of the service against its contract, with accounts that it creates and removes again; exit 1 when a check fails, 2 when the implementation cannot be reached',
    example: ['conform --base-url http://127.0.0.1:8665 --only "verify/*"', 'runs the checks of one group'],
    flags: {
      'base-url': url('URL')('the implementation to check (TOOLMOCK_URL by default)'),
      format: choiceFlag('text', 'json', 'junit')('F', { default: 'text' })('what is printed: text, json or junit'),
      basis: choiceFlag('document', 'convention', 'choice')('B')(
        "only checks that rest on the service's document, on convention, or on a choice of this mock",
      ),
      connector: text('NAME')('the connector to check with (the first of type OAUTH by default)'),
      'allow-provider-changes': toggle('create, change and delete custom providers, whose deletion is permanent'),
      ...CHECKS,
    },
  },
  drift: {
    summary:
      'compare a service with a mock that gets the same requests, and say which choices of the mock do not fit; exit 1 when one differs, 2 when the service cannot be asked, 3 when something could not be removed there',
    example: ['drift --base-url https://api.example.test --allow-outbound', 'sends only requests that read'],
    flags: {
      'base-url': url('URL')('the service to compare with (TOOLMOCK_URL by default)'),
      ...OUTBOUND_SERVICE,
      seed: list('PATH')(
        'what the mock starts with: a file, a directory or `bundled` (the connectors that the service lists by default)',
      ),
      ...CHOICES,
      recording: text('FILE')(
        'send the requests of this recording, a HAR file, in place of those of the conformance suite',
      ),
      'allow-writes': toggle(
        'create, change and delete accounts whose identifier begins with `toolmock-drift-` at a service that is not on loopback; without it only reading requests are sent there',
      ),
      'fail-on': choiceFlag('contract', 'mock', 'none')('CLASS', { default: 'contract' })(
        'exit 1 for findings of this class; mock includes contract',
      ),
      accept: text('FILE')(
        'findings that are known: a YAML list of `{ finding: ID, reason }`; an entry that no longer occurs is a finding',
      ),
      'write-settings': text('FILE')(
        'write a seed with the settings and words that make the mock answer as the service does',
      ),
      format: choiceFlag('text', 'json', 'junit', 'sarif')('F', { default: 'text' })(
        'what is printed: text, json, junit or sarif',
      ),
      ...CHECKS,
    },
  },
  record: {
    summary:
      'a proxy in front of the service; Ctrl-C writes what came through, without secrets, as a seed, connectors and a scenario that replay it, with a HAR file and what the mock would have answered otherwise',
    example: ['record --upstream https://api.test --allow-outbound --out rec', 'fills the folder rec'],
    flags: {
      ...OUTBOUND_SERVICE,
      upstream: url('URL')('the service, which the recorder passes everything on to'),
      out: text('FOLDER')('where to write the recording; a folder that does not exist yet, or an empty one'),
      port: whole(0, 65_535)('N', { default: 0 })('port of the recorder (a free one by default)'),
      mask: list('NAME')('a field, header or parameter that holds a secret, beside those that are always masked'),
      'mask-identifiers': toggle('mask the identifiers of accounts too'),
      force: toggle('write into a folder that is not empty'),
    },
  },
  report: {
    operands: ' [contract|coverage|merge FILE…]',
    summary:
      'fetch what clients of a running server did wrong (contract, by default) or exercised (coverage); merge makes one verdict of the JSON reports of several runs; exit 2 without a report, 3 when a merged verdict fails',
    example: ['report --format junit --output toolmock.xml --fail', 'ends a CI job that has used the server'],
    flags: {
      ...VERDICT,
      format: choiceFlag(...CONTRACT_FORMATS)('F')(
        'text, as `run` prints it, json, junit (XML), sarif, gitlab (code quality), github (annotations) or html; all but json contain the coverage too; coverage has json and html',
      ),
      output: text('FILE', { short: 'o' })('where to write it (to stdout by default)'),
      fail: toggle('exit 1 when the verdict fails, once the report is written'),
      judge: choiceFlag('prism')('J')(
        'prism checks the requests of the journal by Prism too and lists where it disagrees (second_opinion in the json of contract)',
      ),
      ...CALLER,
      ...ADMIN,
      environment: text('NAME')('only this environment, also when it was removed (all by default)'),
    },
  },
  logs: {
    summary: 'show the latest requests of a running server, a line each as `start` prints them',
    example: ['logs --follow --status "4*"', 'prints each refused request when it comes'],
    flags: {
      follow: toggle('go on with each new request until SIGINT or SIGTERM, or until the server stops', 'f'),
      operation: text('NAME')('only requests of this operation, or of those that a glob such as `*_tools` matches'),
      status: text('N')('only requests with this status, or with those that a glob such as `4*` matches'),
      limit: whole(1, 1_000_000)('N', { default: 100 })('at most so many of the latest requests'),
      ...CONTROL,
    },
  },
  explain: {
    operands: ' ID_OR_RULE',
    summary:
      'say why a request was answered as it was, by its `X-Request-Id`; or what a rule such as `G21` or `document:4.7`, or an error such as `ACCOUNT_NOT_ACTIVE`, says, which needs no server',
    example: ['explain ACCOUNT_NOT_ACTIVE', 'says what the error means and what to do about it'],
    flags: {
      journal: text('FILE')(
        'look the request up in this file, which `run --journal` or `start --journal` has written, and ask no server',
      ),
      ...CONTROL,
    },
  },
  links: {
    operands: ' [open|approve|deny [LINK]]',
    summary:
      'list the magic links that can be followed; open one in a browser, or approve or deny its consent without one; LINK may be left out while there is only one',
    example: ['links approve --as ada@example.com', 'gives the consent that the only open link asks for'],
    flags: {
      as: text('IDENTITY')(
        "who signs in at the third party for approve and deny (by default the account's own identifier where it is one of the connector's people, else the first of them)",
      ),
      scopes: text('SCOPES')(
        'what an approved consent grants of what is asked for, with commas between (by default all)',
      ),
      ...CONTROL,
    },
  },
  accounts: {
    operands: ' [EVENT ACCOUNT]',
    summary:
      'list the connected accounts, or apply an event to one: expire, disconnect, revoke_refresh_token or expire_access_token; ACCOUNT is an id, or an identifier that only one account has',
    example: ['accounts expire ada@example.com', 'makes the account EXPIRED'],
    flags: {
      query: text('TEXT')('only accounts whose identifier, connector or provider contains it'),
      limit: whole(1, 1_000_000)('N', { default: 100 })('at most so many accounts'),
      ...CONTROL,
    },
  },
  clock: {
    operands: ' [advance DURATION|set INSTANT|freeze|run]',
    summary: 'show the clock of an environment, or move, stop or run it',
    example: ['clock advance 2h', 'access tokens that live for an hour expire'],
    flags: CONTROL,
  },
  scenario: {
    operands: ' [list|start|stop|from] [NAME]',
    summary:
      'list the scenarios with how often each rule fired, or start or stop one; from takes the file of --journal or the id of a request, and writes a scenario and a seed that reproduce it',
    example: ['scenario start rate-limited', 'its rules apply to the next requests'],
    flags: {
      out: text('DIR', { default: '.' })('where `from` writes the scenario and the seed'),
      request: text('ID')('for `from` with a file: up to which request (to the last one by default)'),
      ...CONTROL,
    },
  },
  snapshot: {
    operands: ' [list|save|restore|delete] [NAME]',
    summary: 'list, save, restore or delete snapshots of the model',
    example: ['snapshot save before', 'snapshot restore before brings this state back'],
    flags: CONTROL,
  },
  reset: {
    summary:
      'take an environment back to its seed, or to another one with --seed; clients, bearer tokens and snapshots stay',
    example: ['reset --seed toolmock/seeds', 'begins again with the seed of that folder'],
    flags: {
      seed: text('PATH')(
        'take this seed in place of the one that the environment was made from: a file, with the `connectors` folder beside it, a directory, or `bundled`',
      ),
      ...CONTROL,
    },
  },
  webhooks: {
    operands: ' [list|send|resend] [TYPE [ACCOUNT]|EVENT]',
    summary:
      'list where events of accounts are sent, with what waits; send an event that has not come about, of the newest account unless ACCOUNT is given; or send one again by its id',
    example: ['webhooks send created', 'sends connected_account.created for the newest account'],
    flags: CONTROL,
  },
  mcp: {
    summary:
      'serve an MCP client, such as a coding agent, on stdin and stdout: tools to see why requests failed and to change accounts, clock and scenarios of a running server; without --url, --port and --host it starts a server of its own',
    example: ['mcp --url http://127.0.0.1:8665', 'is the command that a coding agent starts'],
    flags: { ...CALLER, ...ADMIN, ...ENVIRONMENT },
  },
  descriptors: {
    operands: ' PACKAGE_FOLDER…',
    summary:
      'collect the protobuf descriptors out of the packages of a generated client, JavaScript or Python, without running any of it; exit 1 when some are missing',
    example: ['descriptors node_modules/acme-client --out acme.binpb', 'start --descriptors acme.binpb takes it'],
    flags: {
      out: text('FILE')('where the descriptors are written, for `--descriptors` of a start'),
      seed: text('FILE')(
        'add the values that the client names otherwise to `settings.vocabulary` of this seed, a new or existing file in YAML',
      ),
    },
  },
  healthcheck: {
    summary: 'exit 0 when a server answers, else 1',
    example: ['healthcheck --port 8665', 'ends with 1 while the server is still starting'],
    flags: CALLER,
  },
} satisfies Record<string, CommandRow>

export type CommandName = keyof typeof TABLE
export type ControlCommandName = {
  [Name in CommandName]: (typeof TABLE)[Name]['flags'] extends typeof CONTROL ? Name : never
}[CommandName]

export type FlagValues<Command extends CommandName> = ValuesOf<(typeof TABLE)[Command]['flags'] & typeof ALL>
type ValuesOf<Given> = {
  readonly [Name in keyof Given]: Given[Name] extends Declared<infer Value> ? Value : never
}

/** One flag as data: parsing, its variable, the help text and the table in `docs/commands.md` come from it. */
export interface Flag extends Declared<string | number | boolean | readonly string[]> {
  /** Without the dashes; the variable is `TOOLMOCK_` and this in capitals. */
  readonly name: string
}

export interface Command extends CommandRow {
  readonly name: CommandName
}

export const COMMANDS = Object.entries<CommandRow>(TABLE).map(([name, row]) => ({
  ...row,
  name: name as CommandName,
})) as [Command, ...Command[]]

export const COMMAND_NAMES = COMMANDS.map(({ name }) => name)

/** The groups of the help text and of `docs/commands.md`. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly CommandName[]>> = {
  Serve: ['start', 'stop', 'env', 'run', 'healthcheck', 'mcp'],
  Look: ['logs', 'explain', 'report'],
  Change: ['links', 'accounts', 'clock', 'scenario', 'snapshot', 'reset', 'webhooks'],
  Check: ['conform', 'drift'],
  Files: ['validate', 'connector', 'record', 'state', 'descriptors'],
  Project: ['init', 'config'],
}

export function commandRow(command: CommandName): CommandRow {
  return TABLE[command]
}

/** Those of every command, `--help` and `--version`, are the last. */
export function flagsOf(command: CommandName): readonly Flag[] {
  return Object.entries({ ...TABLE[command].flags, ...ALL }).map(([name, flag]) => ({ name, ...flag }) as Flag)
}

/** The flags that variables and a configuration file can set, each name once. */
export function settingFlags(): Flag[] {
  const all = COMMAND_NAMES.flatMap(flagsOf).filter(({ variable }) => variable)
  return all.filter((flag, at) => all.findIndex(({ name }) => name === flag.name) === at)
}

export function variableOf({ name, variable }: Pick<Flag, 'name' | 'variable'>): string | undefined {
  return variable && `TOOLMOCK_${name.toUpperCase().replaceAll('-', '_')}`
}
