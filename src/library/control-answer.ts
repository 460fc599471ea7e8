import { ToolmockError } from './toolmock-error.ts'

interface Told {
  readonly code: string
  readonly message: string
  readonly details: readonly Record<string, unknown>[]
}

/** The value of an answer. @throws ToolmockError for an error, and for an answer that no toolmock gives */
export function answerOf(url: string, { status, text }: { status: number; text: string }): unknown {
  const value = parsed(text)
  if (status >= 200 && status < 300 && value !== undefined) return value
  const told = toldBy(value)
  if (told) throw new ToolmockError(told.code, told.message, { details: told.details, status })
  const message = `${url}/_mock answered ${status} with what is no answer of toolmock's control API; is the URL that of a toolmock server?`
  throw new ToolmockError('NO_TOOLMOCK', message, { status })
}

/** No answer came. */
export function unreachable(url: string, cause: unknown): ToolmockError {
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  const message = `the control API at ${url}/_mock gave no answer (${why}); does the server still run there?`
  return new ToolmockError('UNREACHABLE', message, { cause })
}

/** Where several addresses were tried, the message is empty and the code says it. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException
  return error.message === '' ? (code ?? error.name) : error.message
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toldBy(value: unknown): Told | undefined {
  const { error } = (value ?? {}) as { error?: Partial<Told> }
  if (typeof error?.code !== 'string') return undefined
  return { code: error.code, message: error.message ?? '', details: error.details ?? [] }
}
