import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mistypedVariables, readArguments } from '../../../src/app/cli/arguments.ts'
import { UsageError } from '../../../src/app/cli/failure.ts'
import { COMMAND_NAMES, flagsOf } from '../../../src/app/cli/command-table.ts'
import { serverOf } from '../../../src/app/cli/running-server.ts'
import { checkStart, startOptions } from '../../../src/app/cli/server-options.ts'

const read = (argv: string[], variables: Record<string, string> = {}) => readArguments('start', argv, { variables })
const readStart = (argv: string[], surroundings: { readonly variables: Record<string, string> }) => {
  const given = readArguments('start', argv, surroundings)
  checkStart(given)
  return given
}

describe('flags and variables of start', () => {
  it('have the defaults of the help text', () => {
    expect(read([]).values).toEqual({
      config: undefined,
      port: 8665,
      quiet: false,
      host: '127.0.0.1',
      'base-url': undefined,
      state: '.toolmock/state.json',
      'in-memory': false,
      'state-schema': 'toolmock',
      lease: 6000,
      'replica-url': undefined,
      fresh: false,
      durability: 'strict',
      seed: ['bundled'],
      scenario: undefined,
      clock: undefined,
      freeze: false,
      'id-seed': undefined,
      strict: false,
      'documented-only': false,
      mcp: false,
      watch: false,
      'admin-token': undefined,
      'allow-host': undefined,
      'allow-outbound': false,
      tls: false,
      'tls-cert': undefined,
      'tls-key': undefined,
      journal: undefined,
      'journal-size': 10_000,
      'body-limit': 1_048_576,
      'log-level': 'info',
      json: false,
      detach: false,
      help: false,
      version: false,
    })
  })

  it.each([
    [['--port', '0'], { TOOLMOCK_PORT: '9000' }, { port: 0 }],
    [['--port', '0'], { TOOLMOCK_PORT: 'tcp://10.0.0.1:8665' }, { port: 0 }],
    [['--port=9001'], {}, { port: 9001 }],
    [['--port', '1', '--port', '2'], {}, { port: 2 }],
    [[], { TOOLMOCK_PORT: '9000' }, { port: 9000 }],
    [[], { TOOLMOCK_PORT: ' 9000 ' }, { port: 9000 }],
    [[], { TOOLMOCK_PORT: '' }, { port: 8665 }],
    [['--seed', 'a.yaml', '--seed', 'b,c.yaml'], { TOOLMOCK_SEED: 'd.yaml' }, { seed: ['a.yaml', 'b,c.yaml'] }],
    [[], { TOOLMOCK_SEED: 'bundled, mine.yaml,' }, { seed: ['bundled', 'mine.yaml'] }],
    [['--strict'], {}, { strict: true }],
    [['--documented-only'], {}, { 'documented-only': true }],
    [['--no-strict'], { TOOLMOCK_STRICT: '1' }, { strict: false }],
    [['--strict=false'], {}, { strict: false }],
    [[], { TOOLMOCK_STRICT: 'TRUE', TOOLMOCK_FRESH: 'no' }, { strict: true, fresh: false }],
    [['--log-level', 'debug'], { TOOLMOCK_LOG_LEVEL: 'error' }, { 'log-level': 'debug' }],
    [['--base-url', 'https://mock.internal/a/'], {}, { 'base-url': 'https://mock.internal/a' }],
    [['--clock', '2026-01-31'], {}, { clock: '2026-01-31T00:00:00.000Z' }],
    [['--clock', '2026-01-31T09:00Z'], {}, { clock: '2026-01-31T09:00:00.000Z' }],
    [['--clock', '2026-01-31t09:00:00.5+02:00'], {}, { clock: '2026-01-31T07:00:00.500Z' }],
    [
      [],
      { TOOLMOCK_CLOCK: '2026-01-31T09:00:00Z', TOOLMOCK_FREEZE: '1' },
      { clock: '2026-01-31T09:00:00.000Z', freeze: true },
    ],
    [[], { TOOLMOCK_ID_SEED: '7', TOOLMOCK_SCENARIO: 'a, b.yaml' }, { 'id-seed': 7, scenario: ['a', 'b.yaml'] }],
    [['--allow-host', 'a.test', '--allow-host', 'b.test'], {}, { 'allow-host': ['a.test', 'b.test'] }],
  ])('%j with %j gives %j', (argv, variables, expected) => {
    expect(read(argv, variables).values).toMatchObject(expected)
  })

  it.each([
    [['--prot', '1'], {}, '--prot is not known. Did you mean --port?'],
    [['--zzz'], {}, '--zzz is not known. Known are --port, --host,'],
    [['--no-port'], {}, '--no-port is not known.'],
    [['-p', '1'], {}, /^-p is not known; short flags are -h, -v\.$/],
    [['--port'], {}, '--port needs a value: --port N'],
    [['--state', '--in-memory'], {}, '--state needs a value: --state FILE'],
    [['--port', 'eighty'], {}, '--port eighty: expected a whole number from 0 to 65535.'],
    [['--port', '65536'], {}, 'expected a whole number from 0 to 65535.'],
    [['--port', '1e3'], {}, 'expected a whole number'],
    [['--port='], {}, 'expected a whole number'],
    [['--host='], {}, '--host : expected a value.'],
    [['--log-level', 'loud'], {}, 'expected one of error, warn, info, debug.'],
    [['--base-url', 'mock.internal'], {}, 'expected an http or https URL without user name, query and fragment.'],
    [['--base-url', 'http://ada:hunter22@x'], {}, /^--base-url http:\/\/\*\*\*\w*@x: expected an http/],
    [['--base-url', 'javascript:alert(1)'], {}, 'expected an http or https URL without user name, query and fragment.'],
    [['--clock', 'now'], {}, '--clock now: expected an instant from 1970 on, such as 2026-01-31T09:00:00Z'],
    [['--clock', '2026-01-31T09:00:00'], {}, 'expected an instant'],
    [['--clock', '2026-02-30'], {}, 'expected an instant'],
    [['--clock', '1969-12-31'], {}, 'expected an instant'],
    [['--id-seed', '1.5'], {}, 'expected a whole number from 0 to 999999999.'],
    [['--id-seed', '-1'], {}, '--id-seed needs a value: --id-seed N'],
    [['--journal-size', '0'], {}, 'expected a whole number from 1 to'],
    [['--admin-token='], {}, '--admin-token : expected a value.'],
    [['--admin-token', ' t'], {}, '--admin-token …: expected visible ASCII characters, without blanks at its ends.'],
    [[], { TOOLMOCK_ADMIN_TOKEN: 'geheim-ä' }, 'TOOLMOCK_ADMIN_TOKEN=…: expected visible ASCII characters'],
    [['--json=maybe'], {}, '--json=maybe: expected true or false.'],
    [['--no-json=true'], {}, '--no-json takes no value'],
    [[], { TOOLMOCK_PORT: 'tcp://10.0.0.1:8665' }, 'TOOLMOCK_PORT=tcp://10.0.0.1:8665: expected a whole number'],
    [[], { TOOLMOCK_STRICT: 'maybe' }, 'TOOLMOCK_STRICT=maybe: expected true or false.'],
  ])('%j with %j are refused: %s', (argv, variables, message) => {
    expect(() => read(argv, variables)).toThrow(UsageError)
    expect(() => read(argv, variables)).toThrow(message)
  })

  it('record whether a value comes from a flag or a variable', () => {
    const { setBy } = read(['--port', '1'], { TOOLMOCK_PORT: '2', TOOLMOCK_STATE: 'x.json' })
    expect([...setBy]).toEqual([
      ['port', 'flag'],
      ['state', 'variable'],
    ])
  })

  it('refuse a file name without a flag', () => {
    expect(() => readStart(['mine.yaml'], { variables: {} })).toThrow(
      'found mine.yaml. A seed file is given as --seed PATH.',
    )
  })

  it('refuse a command after the flags, and say where flags go', () => {
    expect(() => readStart(['--port', '1', 'logs'], { variables: {} })).toThrow(
      'found logs. Flags come after the command: npx toolmock logs FLAG….',
    )
  })

  it.each([
    [['--state', 'mysql://root:geheim@127.0.0.1/x'], {}],
    [[], { TOOLMOCK_STATE: 'https://geheim.example/x' }],
  ])(
    'refuse with %j and %j a state that is neither a file nor a PostgreSQL database, without its password',
    (argv, variables) => {
      const refused = () => readStart(argv, { variables })
      expect(refused).toThrow('--state names neither a file nor a PostgreSQL database')
      expect(refused).not.toThrow('geheim')
    },
  )

  it('refuse --in-memory together with --state', () => {
    expect(() => readStart(['--in-memory', '--state', 'x.json'], { variables: {} })).toThrow(
      '--in-memory keeps no file',
    )
    expect(readStart(['--in-memory'], { variables: { TOOLMOCK_STATE: '/data/state.json' } }).values['in-memory']).toBe(
      true,
    )
  })
})

const options = (argv: string[], variables: Record<string, string> = {}) =>
  startOptions(readStart(argv, { variables }), undefined)

it.each([
  [['--in-memory', '--freeze'], {}, { clock: undefined, freeze: true }],
  [[], {}, { seeds: undefined, tls: undefined }],
  [['--seed', 'bundled'], {}, { seeds: ['bundled'] }],
  [['--tls-cert', 'c.pem', '--tls-key', 'k.pem'], {}, { tls: { cert: 'c.pem', key: 'k.pem' } }],
  [['--tls-cert', 'c.pem', '--tls-key', 'k.pem'], { TOOLMOCK_TLS: '1' }, { tls: { cert: 'c.pem', key: 'k.pem' } }],
  [
    ['--tls'],
    { TOOLMOCK_TLS_CERT: 'c.pem', TOOLMOCK_TLS_KEY: 'k.pem' },
    { tls: { hosts: ['127.0.0.1'], authorityFile: '.toolmock/state.authority.pem' } },
  ],
  [['--no-tls'], { TOOLMOCK_TLS_CERT: 'c.pem', TOOLMOCK_TLS_KEY: 'k.pem' }, { tls: undefined }],
  [
    ['--tls', '--in-memory', '--host', '::1', '--base-url', 'https://mock.internal:8443'],
    {},
    { tls: { hosts: ['::1', 'mock.internal'], authorityFile: undefined } },
  ],
])('the options that start reads from its flags: %j with %j: %j', (argv, variables, expected) => {
  expect(options(argv, variables)).toMatchObject(expected)
})

it.each([
  [['--tls', '--tls-cert', 'c.pem', '--tls-key', 'k.pem'], {}, '--tls makes a certificate and --tls-cert names one'],
  [[], { TOOLMOCK_TLS: '1', TOOLMOCK_TLS_CERT: 'c', TOOLMOCK_TLS_KEY: 'k' }, '--tls makes a certificate'],
  [['--tls-cert', 'c.pem'], {}, '--tls-cert needs --tls-key'],
  [['--tls-key', 'k.pem'], {}, '--tls-key needs --tls-cert'],
  [['--journal', 'x/../s.json', '--state', 's.json'], {}, '--journal and --state both name x/../s.json'],
])('the options that start reads from its flags: %j with %j is refused: %s', (argv, variables, message) => {
  expect(() => readStart(argv, { variables })).toThrow(UsageError)
  expect(() => readStart(argv, { variables })).toThrow(message)
})

it.each(COMMAND_NAMES)('the table of flags has each flag of %s once', (command) => {
  const names = flagsOf(command).map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

const guide = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8')
it.each(COMMAND_NAMES.filter((name) => name !== 'run'))(
  'the table of flags is in the guide to commands with the flags of %s',
  (command) => {
    const rows = guide.split('\n').filter((line) => command === 'start' || line.includes(`\`${command}\``))
    const missing = flagsOf(command).filter(
      ({ name }) => !rows.some((row) => new RegExp(`^\\| \`(-\\w, )?--${name}\\b`).test(row)),
    )
    expect(missing.map(({ name }) => name).filter((name) => !['help', 'version'].includes(name))).toEqual([])
  },
)

it('the table of flags has only flags whose value a command reads', () => {
  const folder = new URL('../../../src/app/cli/', import.meta.url)
  const code = readdirSync(folder)
    .filter((file) => file !== 'flags.ts')
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n')
  const isRead = (name: string): boolean =>
    // The program itself reads these, before it calls the command.
    ['help', 'version', 'config'].includes(name) ||
    code.includes(`values.${name}`) ||
    code.includes(`values['${name}']`) ||
    new RegExp(`\\{[^{}]*(\\b${name}\\b|'${name}':)[^{}]*\\} = (values|read\\.values)`).test(code)
  const unread = COMMAND_NAMES.flatMap((command) =>
    flagsOf(command)
      .filter(({ name }) => !isRead(name))
      .map(({ name }) => `--${name} of ${command} is in src/app/cli/command-table.ts and read nowhere in src/app/cli`),
  )
  expect(unread).toEqual([])
})

describe('variables', () => {
  it('with a misspelt name get a warning', () => {
    const variables = {
      TOOLMOCK_PROT: '1',
      TOOLMOCK_URL: 'http://x',
      TOOLMOCK_STATE: 'x',
      TOOLMOCK_COLOUR: 'red',
      PORT: '1',
    }
    expect(mistypedVariables(variables)).toEqual(['TOOLMOCK_PROT is not read; did you mean TOOLMOCK_PORT?'])
  })

  it('of the server are also read by healthcheck', () => {
    const { values } = readArguments('healthcheck', [], {
      variables: { TOOLMOCK_PORT: '9000', TOOLMOCK_HOST: '0.0.0.0' },
    })
    expect(values).toMatchObject({ port: 9000, host: '0.0.0.0', url: undefined })
  })

  const OTHER = { TOOLMOCK_URL: 'http://other:1' }
  const CERTIFICATE = { TOOLMOCK_TLS_CERT: 'c', TOOLMOCK_TLS_KEY: 'k' }
  it.each<[readonly string[], Record<string, string>, string]>([
    [[], OTHER, 'http://other:1'],
    [[], { ...OTHER, TOOLMOCK_PORT: '9000' }, 'http://other:1'],
    [['--port', '9000'], OTHER, 'http://127.0.0.1:9000'],
    [['--port', '9000'], { ...OTHER, TOOLMOCK_HOST: 'mock' }, 'http://mock:9000'],
    [['--host', 'mock'], OTHER, 'http://mock:8665'],
    [['--host', 'mock', '--port', '9000', '--tls'], OTHER, 'https://mock:9000'],
    [['--tls'], OTHER, 'https://127.0.0.1:8665'],
    [['--tls-cert', 'c.pem'], OTHER, 'https://127.0.0.1:8665'],
    [['--url', 'http://one:2'], { ...OTHER, TOOLMOCK_PORT: '9000' }, 'http://one:2'],
    [['--port', '9000'], CERTIFICATE, 'https://127.0.0.1:9000'],
    [['--port', '9000', '--no-tls'], CERTIFICATE, 'http://127.0.0.1:9000'],
  ])('%j wins over any of %j: %s is called', (argv, variables, url) => {
    expect(serverOf(readArguments('healthcheck', argv, { variables })).url).toBe(url)
  })

  it.each(['--port=9000', '--host=mock', '--tls', '--tls-cert=c.pem'])('--url beside %s is refused', (flag) => {
    const typed = readArguments('healthcheck', ['--url', 'http://one:2', flag], { variables: OTHER })
    const name = flag.split('=')[0] ?? ''
    expect(() => serverOf(typed)).toThrow(`--url and ${name} both name the server: give one of them.`)
  })

  it.each<[Record<string, string>, string]>([
    [{ TOOLMOCK_PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{}, 'http://written:1'],
  ])('%j win over a URL of the configuration file: %s is called', (variables, url) => {
    const configuration = {
      file: 'toolmock.config.yaml',
      values: new Map([['url', 'http://written:1']]),
      reasons: new Map<string, string>(),
      webhooks: [],
    }
    expect(serverOf(readArguments('healthcheck', [], { variables, configuration })).url).toBe(url)
  })
})
