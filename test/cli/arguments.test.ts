import { describe, expect, it } from 'vitest'
import { mistypedVariables, readArguments } from '../../src/cli/arguments.ts'
import { HEALTHCHECK_FLAGS, START_FLAGS } from '../../src/cli/flags.ts'
import { readStart } from '../../src/cli/start.ts'
import { UsageError } from '../../src/cli/usage-error.ts'

const read = (argv: string[], variables: Record<string, string> = {}) => readArguments(START_FLAGS, argv, variables)

describe('flags and variables of start', () => {
  it('have the defaults of the help text', () => {
    expect(read([]).values).toEqual({
      port: 8665,
      host: '127.0.0.1',
      'base-url': undefined,
      state: '.toolmock/state.json',
      'in-memory': false,
      fresh: false,
      seed: ['bundled'],
      strict: false,
      'log-level': 'info',
      json: false,
      help: false,
      version: false,
    })
  })

  it.each([
    [['--port', '0'], { TOOLMOCK_PORT: '9000' }, { port: 0 }],
    [['--port=9001'], {}, { port: 9001 }],
    [['--port', '1', '--port', '2'], {}, { port: 2 }],
    [[], { TOOLMOCK_PORT: '9000' }, { port: 9000 }],
    [[], { TOOLMOCK_PORT: ' 9000 ' }, { port: 9000 }],
    [[], { TOOLMOCK_PORT: '' }, { port: 8665 }],
    [['--seed', 'a.yaml', '--seed', 'b,c.yaml'], { TOOLMOCK_SEED: 'd.yaml' }, { seed: ['a.yaml', 'b,c.yaml'] }],
    [[], { TOOLMOCK_SEED: 'bundled, mine.yaml,' }, { seed: ['bundled', 'mine.yaml'] }],
    [['--strict'], {}, { strict: true }],
    [['--no-strict'], { TOOLMOCK_STRICT: '1' }, { strict: false }],
    [['--strict=false'], {}, { strict: false }],
    [[], { TOOLMOCK_STRICT: 'TRUE', TOOLMOCK_FRESH: 'no' }, { strict: true, fresh: false }],
    [['--log-level', 'debug'], { TOOLMOCK_LOG_LEVEL: 'error' }, { 'log-level': 'debug' }],
    [['--base-url', 'https://mock.internal/a/'], {}, { 'base-url': 'https://mock.internal/a' }],
  ])('%j with %j gives %j', (argv, variables, expected) => {
    expect(read(argv, variables).values).toMatchObject(expected)
  })

  it.each([
    [['--prot', '1'], {}, '--prot is not known. Did you mean --port?'],
    [['--zzz'], {}, '--zzz is not known. Known are --port, --host,'],
    [['--no-port'], {}, '--no-port is not known.'],
    [['--port'], {}, '--port needs a value: --port N'],
    [['--state', '--in-memory'], {}, '--state needs a value: --state FILE'],
    [['--port', 'eighty'], {}, '--port eighty: expected a whole number from 0 to 65535.'],
    [['--port', '65536'], {}, 'expected a whole number from 0 to 65535.'],
    [['--port', '1e3'], {}, 'expected a whole number'],
    [['--port='], {}, 'expected a whole number'],
    [['--host='], {}, '--host : expected a value.'],
    [['--log-level', 'loud'], {}, 'expected one of error, warn, info, debug.'],
    [['--base-url', 'mock.internal'], {}, 'expected an http or https URL without query.'],
    [['--base-url', 'javascript:alert(1)'], {}, 'expected an http or https URL without query.'],
    [['--json=maybe'], {}, '--json=maybe: expected true or false.'],
    [['--no-json=true'], {}, '--no-json takes no value'],
    [[], { TOOLMOCK_PORT: 'tcp://10.0.0.1:8665' }, 'TOOLMOCK_PORT=tcp://10.0.0.1:8665: expected a whole number'],
    [[], { TOOLMOCK_STRICT: 'maybe' }, 'TOOLMOCK_STRICT=maybe: expected true or false.'],
  ])('%j with %j are refused: %s', (argv, variables, message) => {
    expect(() => read(argv, variables)).toThrow(UsageError)
    expect(() => read(argv, variables)).toThrow(message)
  })

  it('tells what came from where', () => {
    const { given } = read(['--port', '1'], { TOOLMOCK_PORT: '2', TOOLMOCK_STATE: 'x.json' })
    expect([...given]).toEqual([
      ['port', 'flag'],
      ['state', 'variable'],
    ])
  })

  it('are no place for a file name', () => {
    expect(() => readStart(['mine.yaml'], {})).toThrow('found mine.yaml. A seed file is given as --seed PATH.')
  })

  it('cannot ask for a file and for none', () => {
    expect(() => readStart(['--in-memory', '--state', 'x.json'], {})).toThrow('--in-memory keeps no file')
    expect(readStart(['--in-memory'], { TOOLMOCK_STATE: '/data/state.json' }).values['in-memory']).toBe(true)
  })
})

describe('variables', () => {
  it('with a slip in the name are pointed out', () => {
    const variables = {
      TOOLMOCK_PROT: '1',
      TOOLMOCK_URL: 'http://x',
      TOOLMOCK_STATE: 'x',
      TOOLMOCK_COLOUR: 'red',
      PORT: '1',
    }
    expect(mistypedVariables(START_FLAGS, variables)).toEqual([
      'TOOLMOCK_PROT is not read; did you mean TOOLMOCK_PORT?',
    ])
  })

  it('of the server are read by healthcheck too', () => {
    const { values } = readArguments(HEALTHCHECK_FLAGS, [], { TOOLMOCK_PORT: '9000', TOOLMOCK_HOST: '0.0.0.0' })
    expect(values).toMatchObject({ port: 9000, host: '0.0.0.0', url: undefined })
  })
})
