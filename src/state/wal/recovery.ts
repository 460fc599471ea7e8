import { basename } from 'node:path'
import { isJsonObject, type JsonValue } from '../../model/domain/json.ts'
import { preparePatterns } from '../../model/domain/text-pattern.ts'
import type { FileSystem } from './file-system.ts'
import type { LogEnd } from './log-file.ts'
import { decodeLine, isBegunLine, type LoggedCommit, type LogHeader, logGenerations, logPath } from './log-lines.ts'
import { StateError } from './state-errors.ts'

/** What the logs beside a state file say beyond that file. */
export interface LogContent {
  /** Of the log where there is no state file; undefined when there is neither. */
  stateId: string | undefined
  /** Commits that the state file does not hold, in their order. */
  commits: LoggedCommit[]
  end: LogEnd
  notices: string[]
}

/** A line of a log, not checked. */
export interface RawLine {
  /** The path of the log, and the line counted from 1. */
  place: string
  start: number
  end: number
  /** Undefined when it is damaged. */
  content: JsonValue | undefined
}

interface RawLog {
  path: string
  generation: number
  bytes: Buffer
  lines: RawLine[]
}

/** A last write cut short is dropped: no answer said that it had succeeded. @throws StateError for anything else */
export async function readLogs(
  fileSystem: FileSystem,
  stateFile: string,
  state: LogHeader | undefined,
): Promise<LogContent> {
  const from = state?.generation ?? 0
  // Logs below the state file's are in it already: the start removes them.
  const logs = await Promise.all((await logGenerations(fileSystem, stateFile)).map((each) => readLog(each)))
  const live = logs.filter(({ generation }) => generation >= from)
  const lastUsed = live.findLastIndex(({ bytes }) => bytes.length > 0)
  const read: LogContent = {
    stateId: state?.state_id,
    commits: [],
    end: { generation: from, length: 0, before: 0, exists: live.length > 0 },
    notices: [],
  }
  for (const log of logs) checkHeader(log, log === live[lastUsed] || log.generation < from)
  for (const [at, log] of live.entries()) {
    if (log.generation !== from + at) throw missingSegment(log.path, logPath(stateFile, from + at))
    if (at <= lastUsed) readBatches(log, at === lastUsed)
  }
  return read

  async function readLog(generation: number): Promise<RawLog> {
    const path = logPath(stateFile, generation)
    const bytes = (await fileSystem.read(path)) ?? Buffer.alloc(0)
    await preparePatterns(bytes)
    const needed = generation < from ? bytes.subarray(0, bytes.indexOf(0x0a) + 1 || bytes.length) : bytes
    return { path, generation, bytes, lines: rawLines(needed, path) }
  }

  function missingSegment(path: string, first: string): StateError {
    if (!state) return refusedLog(path, 'the state file is missing')
    return refusedLog(path, `the state file is not the one this log follows, or ${basename(first)} is missing`)
  }

  /** A log says in its first line which state it belongs to; one that was not used yet is empty. */
  function checkHeader({ path, generation, bytes, lines }: RawLog, mayBeTorn: boolean): void {
    const [first] = lines
    if (!first) return
    const header = logHeader(first)
    if (header?.generation !== generation) {
      if (mayBeTorn && lines.length === 1 && first.content === undefined && isBegunLine(bytes)) return
      throw refusedLog(first.place, 'this is not a write-ahead log of toolmock, or it is damaged')
    }
    read.stateId ??= header.state_id
    if (header.state_id !== read.stateId) throw refusedLog(path, 'the state file is not the one this log follows')
  }

  function readBatches({ generation, lines }: RawLog, isLast: boolean): void {
    read.end.before += read.end.length
    Object.assign(read.end, { generation, length: 0 })
    for (const [at, line] of lines.entries()) {
      const batch = at === 0 ? logHeader(line) && [] : line.content
      if (!Array.isArray(batch)) {
        if (!isLast || at < lines.length - 1) throw damagedLogError(line.place)
        read.notices.push(`${line.place}: the last write was cut short and is dropped; it had not been acknowledged`)
        return
      }
      for (const commit of batch) read.commits.push(commit as unknown as LoggedCommit)
      read.end.length = line.end
    }
  }
}

function damagedLogError(place: string): StateError {
  return new StateError(
    `${place}: the log is damaged here. Nothing was changed; put the file back as it was, remove this line to go on without the changes in it, or use --fresh to replace the whole state`,
  )
}

function refusedLog(place: string, what: string): StateError {
  return new StateError(
    `${place}: ${what}. Nothing was changed; put the files back as they were, remove the log to go on without it, or use --fresh to replace the whole state`,
  )
}

function logHeader({ content }: RawLine): LogHeader | undefined {
  if (!isJsonObject(content)) return undefined
  const { state_id, generation } = content
  return typeof state_id === 'string' && typeof generation === 'number' ? { state_id, generation } : undefined
}

export function rawLines(bytes: Buffer, path: string): RawLine[] {
  const lines: RawLine[] = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline < 0 ? bytes.length : newline + 1
    const content = newline < 0 ? undefined : decodeLine(bytes.subarray(start, newline))
    lines.push({ place: `${path}:${lines.length + 1}`, start, end, content })
    start = end
  }
  return lines
}
