/** The log of the server; the command line decides how it looks. */
export type Log = Readonly<Record<'error' | 'warn' | 'info' | 'debug', (message: string, fields?: object) => void>>

const drop = (): void => undefined
export const SILENT: Log = { error: drop, warn: drop, info: drop, debug: drop }
