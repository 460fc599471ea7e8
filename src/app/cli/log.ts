export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Writes one line per message; `fields` are values for programs. */
type Log = Readonly<Record<LogLevel, (message: string, fields?: object) => void>>

/** Log lines of the chosen level and above, as text or as JSON. They go to stderr: stdout is for the ready line. */
export function createLog(level: LogLevel, json: boolean, write: (line: string) => void): Log {
  const levels = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1)
  const line =
    (name: LogLevel) =>
    (message: string, fields: object = {}): void => {
      if (!levels.includes(name)) return
      write(json ? JSON.stringify({ level: name, message, ...fields }) : logLine(name, message, fields))
    }
  return { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') }
}

/** A message stays one line, because it may quote a request. */
function logLine(level: LogLevel, message: string, fields: object): string {
  const details = Object.entries(fields).map(([name, value]: [string, unknown]) => ` ${name}=${JSON.stringify(value)}`)
  return `${level} ${message.replaceAll(/\s*[\r\n]+\s*/g, ' ')}${details.join('')}`
}

const MAX_DEFERRED = 100

export interface DeferredLog extends Log {
  readonly flush: () => void
}

/** With a level, lines are written at once; without one, warnings are kept until `flush`. */
export function createDeferredLog(level: LogLevel | undefined, write: (line: string) => void): DeferredLog {
  if (level !== undefined) return { ...createLog(level, false, write), flush: () => undefined }
  const deferred: string[] = []
  let more = 0
  const defer = (line: string): void => {
    if (deferred.length < MAX_DEFERRED) deferred.push(line)
    else more += 1
  }
  const flush = (): void => {
    for (const line of deferred.splice(0)) write(line)
    if (more > 0) write(`warn and ${more} more; --log-level warn shows all of them`)
  }
  return { ...createLog('warn', false, defer), flush }
}
