export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Writes one line per message; `fields` carries what a program would want to pick out of it. */
type Log = Readonly<Record<LogLevel, (message: string, fields?: object) => void>>

/** Log lines of the chosen level and above, as text or as JSON. They go to stderr: stdout is for the ready line. */
export function createLog(level: LogLevel, json: boolean, write: (line: string) => void): Log {
  const shown = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1)
  const line =
    (name: LogLevel) =>
    (message: string, fields: object = {}): void => {
      if (!shown.includes(name)) return
      write(json ? JSON.stringify({ level: name, message, ...fields }) : text(name, message, fields))
    }
  return { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') }
}

/** A message of several lines stays one line: what it quotes may come from a request. */
function text(level: LogLevel, message: string, fields: object): string {
  const details = Object.entries(fields).map(([name, value]: [string, unknown]) => ` ${name}=${JSON.stringify(value)}`)
  return `${level} ${message.replaceAll(/\s*[\r\n]+\s*/g, ' ')}${details.join('')}`
}
