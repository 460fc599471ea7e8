import type { FileSystem } from './file-system.ts'
import { StateError } from './state-errors.ts'
import {
  decodeLine,
  type Identity,
  segmentPath,
  segmentsOf,
  type WalEnd,
  type WalHeader,
  type WalLine,
} from './write-ahead-log.ts'

/** What the log beside a state file says beyond that file. */
export interface WalContent {
  /** Commits that the state file does not hold, in their order; a long one is several lines. */
  commits: WalLine[]
  /** The last line there is. */
  lastLine: number
  /** Where writing goes on; undefined when there is no log. */
  end: WalEnd | undefined
  notices: string[]
}

const CUT_SHORT = 'the last write was cut short and is dropped; it had not been acknowledged'

/** A line of a log file, not checked. */
export interface RawLine {
  segment: number
  /** Counted from 1. */
  lineNumber: number
  start: number
  end: number
  /** Undefined when it is damaged. */
  content: Partial<WalLine & WalHeader> | undefined
  /** Whether it may be what a write that was cut short left of the first line of a file. */
  isBegun: boolean
}

/**
 * Reads the log that follows a state file with this identity. A last write that was cut short is dropped, since
 * no answer said that it had succeeded; anything else that is wrong is refused.
 * @throws StateError
 */
export async function readWal(fileSystem: FileSystem, path: string, identity: Identity | null): Promise<WalContent> {
  let raw: RawLine[] = []
  for (const segment of await segmentsOf(fileSystem, path)) {
    const bytes = await fileSystem.read(segmentPath(path, segment))
    raw = raw.concat(rawLines(bytes ?? Buffer.alloc(0), segment))
  }
  const reader = new WalReader(path, raw)
  return reader.read(identity)
}

class WalReader {
  readonly #path: string
  readonly #raw: readonly RawLine[]
  readonly #lines: WalLine[] = []
  readonly #notices: string[] = []
  #follows: Identity | null | undefined
  #end: WalEnd | undefined

  constructor(path: string, raw: readonly RawLine[]) {
    this.#path = path
    this.#raw = raw
  }

  read(identity: Identity | null): WalContent {
    this.#readLines()
    const upto = this.#checkpointedUpTo(identity)
    const lastLine = this.#lines.at(-1)?.n ?? 0
    const commits = this.#lines.filter((line) => line.n > upto && line.environment !== undefined)
    return { commits, lastLine, end: this.#end, notices: this.#notices }
  }

  #readLines(): void {
    for (const [at, raw] of this.#raw.entries()) {
      const { content } = raw
      const last = this.#lines.at(-1)?.n
      const good =
        raw.start === 0
          ? content?.toolmock_wal === 1 && content.segment === raw.segment
          : content?.n !== undefined && (last === undefined || content.n === last + 1)
      if (!content || !good) {
        this.#dropFrom(at, (last ?? 0) + 1)
        break
      }
      if (raw.start > 0) this.#lines.push(content as WalLine)
      else if (this.#follows === undefined) this.#follows = content.follows ?? null
      if (!content.more) this.#end = { segment: raw.segment, length: raw.end }
    }
    this.#dropUnfinished()
  }

  /** Lines of a write whose last line is missing: it was cut short between two of them. */
  #dropUnfinished(): void {
    const last = this.#lines.findLastIndex((line) => !line.more)
    const dropped = this.#lines.splice(last + 1)
    if (dropped.length > 0 && this.#notices.length === 0) this.#notices.push(`${this.#path}: ${CUT_SHORT}`)
  }

  /** A damaged line is the rest of a torn write unless a later line says that it had been on disk. */
  #dropFrom(at: number, n: number): void {
    const damaged = this.#raw[at]
    if (!damaged) return
    const place = `${segmentPath(this.#path, damaged.segment)}:${damaged.lineNumber}`
    const rest = this.#raw.slice(at + 1)
    const wasDurable = rest.some(({ start, content }) => start === 0 || (content?.synced ?? 0) >= n)
    // A first line is synced before anything follows it, so that no crash leaves it damaged in another way.
    const foreign = damaged.start === 0 && !damaged.isBegun
    if (wasDurable || foreign) {
      const what = foreign ? 'this is not a write-ahead log of toolmock, or it is damaged' : 'the log is damaged here'
      throw new StateError(
        `${place}: ${what}. Nothing was changed; keep the file; npx toolmock state repair saves what can be saved, --fresh replaces the whole state`,
      )
    }
    this.#notices.push(`${place}: ${CUT_SHORT}`)
    // A log file without a whole first line has no commit in it: it is written again.
    this.#end ??= { segment: damaged.segment, length: 0 }
  }

  /** The last line that the state file already holds; 0 when the log begins where the file ends. */
  #checkpointedUpTo(identity: Identity | null): number {
    const marks = this.#lines.flatMap((line) =>
      line.checkpointed && sameIdentity(line.checkpointed, identity) ? [line.checkpointed] : [],
    )
    const mark = marks.at(-1)
    if (mark) return mark.upto
    // Without its first file the log only goes with the state file that it marks as its checkpoint, and with no earlier one.
    const isWhole = this.#raw[0]?.segment === 1
    if (this.#follows === undefined || (isWhole && sameIdentity(this.#follows, identity))) return 0
    const missing = identity === null
    const what = missing ? 'the state file is missing' : 'the state file is not the one this log follows'
    const saves = missing ? '; npx toolmock state repair saves what the log holds' : ''
    throw new StateError(
      `${segmentPath(this.#path, this.#end?.segment ?? 1)}: ${what}. Nothing was changed; ` +
        `put the state file back, remove the log to go on without it, or use --fresh to replace the whole state${saves}`,
    )
  }
}

export function rawLines(bytes: Buffer, segment: number): RawLine[] {
  const lines: RawLine[] = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline < 0 ? bytes.length : newline + 1
    const content = newline < 0 ? undefined : contentOf(bytes.subarray(start, newline))
    const isBegun = newline < 0 && start === 0 && isBeginning(bytes)
    lines.push({ segment, lineNumber: lines.length + 1, start, end, content, isBegun })
    start = end
  }
  return lines
}

/** In the words of the present version: that of state files of version 1 had others for two things. */
function contentOf(line: Buffer): RawLine['content'] {
  const content = decodeLine(line)
  if (!content) return undefined
  const { toolmock_journal, folded, ...rest } = content
  return {
    ...rest,
    ...(toolmock_journal !== undefined && { toolmock_wal: toolmock_journal }),
    ...(folded !== undefined && { checkpointed: folded }),
  } as unknown as RawLine['content']
}

const FRAME_START = '{"crc":"'

/** A part of a line, or zeros where the disk did not get to it. */
function isBeginning(bytes: Buffer): boolean {
  const text = bytes.toString('latin1').replace(/\0+$/, '')
  return text.startsWith(FRAME_START) || FRAME_START.startsWith(text)
}

export function sameIdentity(a: Identity | null, b: Identity | null): boolean {
  return a === null || b === null ? a === b : a.size === b.size && a.crc === b.crc
}
