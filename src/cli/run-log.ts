import { createLog, type LogLevel } from './log.ts'

/** More is no help to anybody. */
const MOST_HELD = 100

/** A log that leaves the output of a command alone. */
export interface RunLog extends ReturnType<typeof createLog> {
  /** Writes what was held back. */
  readonly release: () => void
}

/** Lines of a level that was asked for are written at once; without one, warnings are held back until the command has ended. */
export function createRunLog(level: LogLevel | undefined, write: (line: string) => void): RunLog {
  if (level !== undefined) return { ...createLog(level, false, write), release: () => undefined }
  const held: string[] = []
  let more = 0
  const hold = (line: string): void => {
    if (held.length < MOST_HELD) held.push(line)
    else more += 1
  }
  const release = (): void => {
    for (const line of held.splice(0)) write(line)
    if (more > 0) write(`warn and ${more} more; --log-level warn shows all of them`)
  }
  return { ...createLog('warn', false, hold), release }
}
