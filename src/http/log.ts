/** The log of the server; the command line decides how it looks. */
export interface Log {
  error(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  info(message: string, fields?: object): void
  debug(message: string, fields?: object): void
}

export const SILENT: Log = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
}
