import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeLine, headerLine, logGenerations } from '../../src/state/wal/log-lines.ts'
import { type LogContent, rawLines, readLogs } from '../../src/state/wal/recovery.ts'
import { StateError } from '../../src/state/wal/state-errors.ts'
import { MemoryDisk } from '../support/memory-disk.ts'

const FILE = '/data/state.json'
const STATE = 'state_a'
const CUT_SHORT = 'the last write was cut short and is dropped; it had not been acknowledged'

const framed = (json: string): string => `{"crc":"${crc32(json).toString(16).padStart(8, '0')}","line":${json}}\n`
const header = (generation: number, state_id = STATE): string => headerLine({ state_id, generation })
/** A line with a commit of an environment of each name. */
const batch = (...names: string[]): string => framed(JSON.stringify(names.map((environment) => ({ environment }))))
const damaged = (line: string): string => `${line.slice(0, -3)}x}\n`

/** Reads logs, given by their generation, for the state file of a generation; 0 for none. */
function read(logs: Record<string, string[]>, generation = 0, state_id = STATE): Promise<LogContent> {
  const files = Object.entries(logs).map(
    ([name, lines]) => [`${FILE}.wal.${name}`, Buffer.from(lines.join(''))] as const,
  )
  return readLogs(new MemoryDisk(files), FILE, generation > 0 ? { state_id, generation } : undefined)
}

async function names(logs: Record<string, string[]>, generation = 0): Promise<unknown[]> {
  return (await read(logs, generation)).commits.map((commit) => 'environment' in commit && commit.environment)
}

describe('reading the logs of a state', () => {
  it('finds no commit where there is none, or only the beginning of one', async () => {
    const nothing = { stateId: undefined, commits: [], notices: [] }
    expect(await read({})).toEqual({ ...nothing, end: { generation: 0, length: 0, before: 0, exists: false } })
    expect(await read({ 0: [] })).toEqual({ ...nothing, end: { generation: 0, length: 0, before: 0, exists: true } })
    const end = { generation: 0, length: header(0).length, before: 0, exists: true }
    expect(await read({ 0: [header(0)] })).toEqual({ ...nothing, stateId: STATE, end })
  })

  it('reads them in the order of their generations, from that of the state file on', async () => {
    const last = [header(10), batch('d'), batch('e', 'f')]
    const logs = { 10: last, 9: [header(9), batch('b', 'c')], 8: [header(8), batch('a')], 11: [] }
    expect(await names(logs, 9)).toEqual(['b', 'c', 'd', 'e', 'f'])
    expect(await read(logs, 9)).toMatchObject({
      end: { generation: 10, length: last.join('').length, before: logs[9].join('').length },
      notices: [],
    })
  })

  it('recognizes the generations of its files, and ignores other names', async () => {
    const endings = ['.10', '.2', '.9', '.0', '.123', '.02', '.3x', '.tmp', '2', '.', '.-1']
    const disk = new MemoryDisk(endings.map((ending) => [`${FILE}.wal${ending}`, Buffer.alloc(0)]))
    disk.put('/data/other.json.wal.4', '')
    expect(await logGenerations(disk, FILE)).toEqual([0, 2, 9, 10, 123])
  })
})

const whole = header(0) + batch('a')

it.each<[string, string]>([
  ['a line without its end', batch('b').slice(0, -1)],
  ['a line with other text in place of its end', `${batch('b').slice(0, -1)}x`],
  ['a part of a line', batch('b').slice(0, 40)],
  ['a damaged line', damaged(batch('b'))],
  ['zeros', '\0\0\0'],
])('the end of a log that a crash has torn: that is %s is dropped, with one notice', async (_, torn) => {
  expect(await read({ 0: [whole, torn], 1: [] })).toMatchObject({
    commits: [{ environment: 'a' }],
    end: { generation: 0, length: whole.length },
    notices: [`${FILE}.wal.0:3: ${CUT_SHORT}`],
  })
})

it.each(['{"crc"', header(2).slice(0, 30), '{"c\0\0\0', '\0\0\0'])(
  'the end of a log that a crash has torn begins anew in a file whose first line is only %j',
  async (begun) => {
    const { commits, end, notices } = await read({ 0: [whole], 1: [begun] })
    expect([commits.length, end]).toEqual([1, { generation: 1, length: 0, before: whole.length, exists: true }])
    expect(notices).toEqual([`${FILE}.wal.1:1: ${CUT_SHORT}`])
  },
)

const other = /the state file is not the one this log follows/
it.each<[string, Record<string, string[]>, number, string | RegExp]>([
  [
    'before another line',
    { 0: [header(0), damaged(batch('a')), batch('b')] },
    0,
    `${FILE}.wal.0:2: the log is damaged`,
  ],
  [
    'before another log',
    { 0: [header(0), damaged(batch('a'))], 1: [header(1)] },
    0,
    `${FILE}.wal.0:2: the log is damaged`,
  ],
  [
    'before another log that was begun',
    { 0: [header(0), damaged(batch('a'))], 1: ['{"cr'] },
    0,
    `${FILE}.wal.0:2: the log is damaged`,
  ],
  ['in the first line', { 0: [damaged(header(0))], 1: [header(1)] }, 0, `${FILE}.wal.0:1: this is not`],
  ['in the first line, before another', { 0: [damaged(header(0)), batch('a')] }, 0, `${FILE}.wal.0:1: this is not`],
  ['because it is called by another generation', { 1: [header(2)] }, 1, `${FILE}.wal.1:1: this is not`],
  ['because it begins with a batch', { 0: [batch('a')] }, 0, `${FILE}.wal.0:1: this is not`],
  ['because it begins with zeros', { 0: ['\0\0{"crc"'] }, 0, `${FILE}.wal.0:1: this is not`],
  [
    'because it has other line breaks',
    { 0: [(header(0) + batch('a')).replaceAll('\n', '\r\n')] },
    0,
    `${FILE}.wal.0:1: this is not`,
  ],
  ['because it is some other text', { 0: ['a diary'] }, 0, `${FILE}.wal.0:1: this is not`],
  ['because it is an earlier one and some other text', { 0: ['a diary'] }, 1, `${FILE}.wal.0:1: this is not`],
  ['because one is missing', { 7: [header(7)], 9: [header(9)] }, 7, /wal\.9: .+ or state\.json\.wal\.8 is missing/],
  ['because the first one is missing', { 8: [header(8)] }, 7, /wal\.8: .+ or state\.json\.wal\.7 is missing/],
  ['because the state file is missing', { 7: [header(7)] }, 0, /wal\.7: the state file is missing.+put the files back/],
  ['because they are of another state', { 7: [header(7, 'state_b')] }, 7, other],
  ['because an earlier one is of another state', { 3: [header(3, 'state_b')] }, 7, other],
  ['because they are of two states', { 0: [header(0)], 1: [header(1, 'state_b')] }, 0, other],
])('logs that are damaged where they had been durable are refused: %s', async (_, logs, generation, message) => {
  const disk = new MemoryDisk()
  for (const [name, lines] of Object.entries(logs)) disk.put(`${FILE}.wal.${name}`, lines.join(''))
  const state = generation > 0 ? { state_id: STATE, generation } : undefined
  const refusal: unknown = await readLogs(disk, FILE, state).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StateError)
  if (typeof message === 'string') expect((refusal as StateError).message).toContain(message)
  else expect((refusal as StateError).message).toMatch(message)
  expect(disk.operations).toBe(0)
})

const bytes = (line: string): Buffer => Buffer.from(line.slice(0, -1))

it('a line of a log is read as it was written', () => {
  expect(decodeLine(bytes(batch('ümläut\n')))).toEqual([{ environment: 'ümläut\n' }])
  expect(decodeLine(bytes(header(7)))).toEqual({ state_id: STATE, generation: 7 })
})

it.each([
  [
    'has another checksum',
    Buffer.from(
      bytes(batch('a'))
        .toString()
        .replace(/"[0-9a-f]{8}"/, '"00000000"'),
    ),
  ],
  ['ends otherwise', Buffer.from(bytes(batch('a')).toString().replace(/\}$/, ')'))],
  ['has more before it', Buffer.from(` ${bytes(batch('a')).toString()}`)],
  ['is no JSON', bytes(framed('{"n":'))],
  ['is empty', Buffer.alloc(0)],
])('a line of a log: that %s is invalid', (_, line) => {
  expect(decodeLine(line)).toBeUndefined()
})

it('a line of a log has its place, which counts from 1, and its position in the file', () => {
  const [first, second] = [header(0), batch('a')]
  const end = first.length + second.length
  expect(rawLines(Buffer.from(`${first}${second}{"`), 'log')).toMatchObject([
    { place: 'log:1', start: 0, end: first.length, content: { generation: 0 } },
    { place: 'log:2', start: first.length, end, content: [{ environment: 'a' }] },
    { place: 'log:3', start: end, end: end + 2, content: undefined },
  ])
})
