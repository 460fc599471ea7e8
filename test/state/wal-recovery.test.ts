import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { rawLines, readWal, type WalContent } from '../../src/state/wal/recovery.ts'
import { StateError } from '../../src/state/wal/state-errors.ts'
import {
  decodeLine,
  encodeLine,
  type Identity,
  identityOf,
  segmentsOf,
  type WalLine,
} from '../../src/state/wal/write-ahead-log.ts'
import { MemoryDisk } from '../support/memory-disk.ts'

const PATH = '/data/state.json.wal'
const A: Identity = { size: 10, crc: '0000000a' }
const B: Identity = { size: 10, crc: '0000000b' }
const LONGER: Identity = { size: 11, crc: '0000000a' }
const CUT_SHORT = 'the last write was cut short and is dropped; it had not been acknowledged'

const header = (segment = 1, follows: Identity | null = null): string =>
  encodeLine({ toolmock_wal: 1, segment, follows })
/** A commit that was written after everything before it was durable. */
const commit = (n: number, fields: Partial<WalLine> = {}): string =>
  encodeLine({ n, synced: n - 1, environment: 'default', ...fields })
const mark = (n: number, upto: number, identity: Identity): string =>
  encodeLine({ n, synced: n - 1, checkpointed: { ...identity, upto } })
const damaged = (line: string): string => `${line.slice(0, -3)}x}\n`

/** Reads log files, given by their endings, for a state file. */
function read(files: Record<string, string[]>, identity: Identity | null = null): Promise<WalContent> {
  const entries = Object.entries(files).map(([ending, lines]) => [PATH + ending, Buffer.from(lines.join(''))] as const)
  return readWal(new MemoryDisk(entries), PATH, identity)
}

async function numbers(files: Record<string, string[]>, identity: Identity | null = null): Promise<number[]> {
  return (await read(files, identity)).commits.map(({ n }) => n)
}

describe('reading a write-ahead log', () => {
  it('finds no commit where there is no log, or only the beginning of one', async () => {
    const nothing = { commits: [], lastLine: 0, end: undefined, notices: [] }
    expect(await read({})).toEqual(nothing)
    expect(await read({ '': [] })).toEqual(nothing)
    expect(await read({}, A)).toEqual(nothing)
    expect(await read({ '': [header()] })).toEqual({ ...nothing, end: { segment: 1, length: header().length } })
  })

  it('reads its files in the order of their numbers', async () => {
    const last = [header(10), commit(7), commit(8)]
    const files = { '.10': last, '.9': [header(9, B), mark(5, 4, A), commit(6)] }
    expect(await read(files, A)).toMatchObject({
      commits: [{ n: 6 }, { n: 7 }, { n: 8 }],
      lastLine: 8,
      end: { segment: 10, length: last.join('').length },
      notices: [],
    })
  })

  it('recognizes the numbers of its files, and ignores other names', async () => {
    const endings = ['.10', '', '.2', '.9', '.1234567890', '.123', '.1', '.02', '.0', '.3x', '.tmp', '2', '.']
    const disk = new MemoryDisk(endings.map((ending) => [PATH + ending, Buffer.alloc(0)]))
    disk.put('/data/other.json.wal.4', '')
    disk.put('/data/state.json', '')
    expect(await segmentsOf(disk, PATH)).toEqual([1, 2, 9, 10, 123])
  })

  it('ignores a copy of its first file that is called .1, and continues at the end of the first file', async () => {
    const lines = [header(), commit(1), commit(2)]
    expect(await read({ '': lines, '.1': lines })).toMatchObject({
      commits: [{ n: 1 }, { n: 2 }],
      end: { segment: 1, length: lines.join('').length },
      notices: [],
    })
  })

  it('reads the field names of version 1', async () => {
    const first = encodeLine({ toolmock_journal: 1, segment: 1, follows: B } as never)
    const folded = encodeLine({ n: 2, synced: 1, folded: { ...A, upto: 1 } } as never)
    expect(await numbers({ '': [first, commit(1), folded, commit(3)] }, A)).toEqual([3])
    expect(await numbers({ '': [first, commit(1), folded, commit(3)] }, B)).toEqual([1, 3])
  })
})

describe('the end of a write-ahead log that a crash has torn', () => {
  const whole = header() + commit(1)

  it.each<[string, string[], string]>([
    ['a line without its end', [commit(2).slice(0, -1)], ':3'],
    ['a line with other text in place of its end', [`${commit(2).slice(0, -1)}x`], ':3'],
    ['two damaged lines', [damaged(commit(2)), damaged(commit(3))], ':3'],
    ['a part of a line', [commit(2).slice(0, 40)], ':3'],
    ['a damaged line', [damaged(commit(2))], ':3'],
    ['a line with another number', [commit(3)], ':3'],
    ['a line without a number', [encodeLine({ synced: 1, environment: 'default' } as never)], ':3'],
    ['a damaged line, and one that was written with it', [damaged(commit(2)), commit(3, { synced: 1 })], ':3'],
    ['a line of a write whose last line is missing', [commit(2, { more: true })], ''],
    ['lines of a write whose last line is missing', [commit(2, { more: true }), commit(3, { more: true })], ''],
    ['a line of a write whose last line is damaged', [commit(2, { more: true }), damaged(commit(3))], ':4'],
  ])('that is %s is dropped, with one notice', async (_, torn, place) => {
    expect(await read({ '': [whole, ...torn] })).toMatchObject({
      commits: [{ n: 1 }],
      lastLine: 1,
      end: { segment: 1, length: whole.length },
      notices: [`${PATH}${place}: ${CUT_SHORT}`],
    })
  })

  it('is kept where a write of several lines is complete', async () => {
    const lines = [commit(2, { more: true }), commit(3, { synced: 1 })]
    expect(await read({ '': [whole, ...lines] })).toMatchObject({ lastLine: 3, notices: [] })
  })

  it.each(['', '{"crc"', header(2).slice(0, 30), '{"c\0\0\0', '\0\0\0'])(
    'is in the file before one whose first line is only %j',
    async (begun) => {
      const { commits, end, notices } = await read({ '': [whole], '.2': [begun] })
      expect([commits.length, end]).toEqual([1, { segment: 1, length: whole.length }])
      expect(notices).toEqual(begun === '' ? [] : [`${PATH}.2:1: ${CUT_SHORT}`])
    },
  )

  it.each(['{"crc"', header().slice(0, -1), '\0\0'])('begins anew when there is only %j', async (begun) => {
    const notices = [`${PATH}:1: ${CUT_SHORT}`]
    expect(await read({ '': [begun] })).toEqual({ commits: [], lastLine: 0, end: { segment: 1, length: 0 }, notices })
  })
})

describe('a write-ahead log that is damaged where it had been durable', () => {
  it.each<[string, Record<string, string[]>, string]>([
    ['before a line that says so', { '': [header(), damaged(commit(1)), commit(2)] }, `${PATH}:2: the log is damaged`],
    [
      'two lines before one that says so',
      { '': [header(), commit(1), damaged(commit(2)), commit(3, { synced: 1 }), commit(4, { synced: 2 })] },
      `${PATH}:3: the log is damaged`,
    ],
    ['where a line is missing', { '': [header(), commit(1), commit(3), commit(4)] }, `${PATH}:3: the log is damaged`],
    [
      'before another file',
      { '': [header(), commit(1), damaged(commit(2))], '.2': [header(2)] },
      `${PATH}:3: the log is damaged`,
    ],
    [
      'before another file that begins with nothing whole',
      { '': [header(), commit(1), damaged(commit(2))], '.2': ['{"cr'] },
      `${PATH}:3: the log is damaged`,
    ],
    ['in its first line', { '': [damaged(header())] }, `${PATH}:1: this is not a write-ahead log`],
    ['in the first line of its second file', { '': [header()], '.2': [header(3)] }, `${PATH}.2:1: this is not`],
    ['because it is of another kind', { '': [header().replace('_wal', '_wax')] }, `${PATH}:1: this is not`],
    [
      'because it is of a later version',
      { '': [encodeLine({ toolmock_wal: 2, segment: 1, follows: null } as never)] },
      `${PATH}:1: this is not`,
    ],
    ['because it begins with a commit', { '': [commit(1)] }, `${PATH}:1: this is not`],
    ['because it begins with zeros', { '': ['\0\0{"crc"'] }, `${PATH}:1: this is not`],
    ['because it begins with other text', { '': ['a diary'] }, `${PATH}:1: this is not`],
  ])('is refused: %s', async (_, files, message) => {
    await expect(read(files)).rejects.toThrow(StateError)
    await expect(read(files)).rejects.toThrow(message)
  })
})

describe('a write-ahead log and its state file', () => {
  const marked = { '': [header(1, LONGER), commit(1), mark(2, 1, A), commit(3), mark(4, 3, B), commit(5)] }

  it.each([
    ['that it follows: every commit', LONGER, [1, 3, 5]],
    ['of an earlier checkpoint: the commits after that', A, [3, 5]],
    ['of the last checkpoint: the commits after that', B, [5]],
  ])('reads for the file %s', async (_, identity, found) => {
    expect(await numbers(marked, identity)).toEqual(found)
  })

  it('reads every commit where there was never a state file', async () => {
    expect(await numbers({ '': [header(), commit(1), commit(2)] })).toEqual([1, 2])
  })

  it('belongs to the state file that its first file names', async () => {
    const files = { '': [header(1, LONGER), commit(1)], '.2': [header(2, A), commit(2)] }
    expect(await numbers(files, LONGER)).toEqual([1, 2])
    await expect(read(files, A)).rejects.toThrow('not the one this log follows')
  })

  it('identifies a content by its size and its checksum', () => {
    expect(identityOf(Buffer.from('123456789'))).toEqual({ size: 9, crc: 'cbf43926' })
    expect(identityOf(Buffer.alloc(0))).toEqual({ size: 0, crc: '00000000' })
  })

  it('uses the last of two checkpoints of the same content', async () => {
    expect(await numbers({ '': [header(), commit(1), mark(2, 1, A), commit(3), mark(4, 3, A)] }, A)).toEqual([])
  })

  it.each<[string, Record<string, string[]>, Identity | null, string]>([
    ['another content', { '': [header(1, A), commit(1)] }, B, ': the state file is not the one this log follows'],
    ['another size', { '': [header(1, A), commit(1)] }, LONGER, ': the state file is not the one this log follows'],
    ['a content where none was', { '': [header(), commit(1)] }, A, ': the state file is not the one this log follows'],
    ['no content where one was', { '': [header(1, A), commit(1)] }, null, ': the state file is missing'],
    [
      'the content that a lost first file followed',
      { '.2': [header(2, A), commit(4)] },
      A,
      '.2: the state file is not the one this log follows',
    ],
    ['none, where the first file is lost', { '.2': [header(2), commit(4)] }, null, '.2: the state file is missing'],
  ])('refuses a state file of %s', async (_, files, identity, message) => {
    const refusal: unknown = await read(files, identity).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StateError)
    const { message: said } = refusal as StateError
    expect(said).toContain(PATH + message)
    expect(said.includes('state repair saves what the log holds')).toBe(identity === null)
  })
})

describe('a line of a write-ahead log', () => {
  const framed = (json: string) => Buffer.from(`{"crc":"${crc32(json).toString(16).padStart(8, '0')}","line":${json}}`)

  it('is read as it was written', () => {
    const line: WalLine = { n: 1, synced: 0, environment: 'ümläut', changes: [{ remove: 'accounts', id: '\n' }] }
    expect(decodeLine(Buffer.from(encodeLine(line).slice(0, -1)))).toEqual(line)
  })

  it.each([
    [
      'has another checksum',
      Buffer.from(
        framed('{"n":1}')
          .toString()
          .replace(/"[0-9a-f]{8}"/, '"00000000"'),
      ),
    ],
    ['ends otherwise', Buffer.from(framed('{"n":1}').toString().replace(/\}$/, ')'))],
    ['has more before it', Buffer.from(` ${framed('{"n":1}').toString()}`)],
    ['is no object', framed('[1]')],
    ['is no JSON', framed('{"n":')],
    ['is empty', Buffer.alloc(0)],
  ])('that %s is invalid', (_, bytes) => {
    expect(decodeLine(bytes)).toBeUndefined()
  })

  it('has its position in the file and its number, which counts from 1', () => {
    const [first, second] = [header(), commit(1)]
    const end = first.length + second.length
    expect(rawLines(Buffer.from(`${first}${second}{"`), 3)).toMatchObject([
      { segment: 3, lineNumber: 1, start: 0, end: first.length, isBegun: false, content: { segment: 1 } },
      { segment: 3, lineNumber: 2, start: first.length, end, isBegun: false, content: { n: 1 } },
      { segment: 3, lineNumber: 3, start: end, end: end + 2, isBegun: false, content: undefined },
    ])
  })
})
