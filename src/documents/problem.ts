import { StartError } from '../domain/start-error.ts'

/** Where in a document: keys and list positions from the top. */
export type Path = readonly (string | number)[]

/** One thing that is wrong with a file, in words that need no second look at the file's format. */
export interface Problem {
  file: string
  /** Both count from 1. */
  line: number
  column: number
  /** `tools[0].call.path`; empty for the file as a whole. */
  path: string
  found: string
  allowed: string
  /** `file:line:column: path: found …; allowed: …` */
  message: string
}

/** A problem before it is known where its place in the file is. */
export interface Finding {
  path: Path
  found: string
  allowed: string
  /** Whether the key itself is the problem, and not what stands behind it. */
  atKey?: boolean
}

/** A file that is not what it should be, with everything that is wrong with it. */
export class DocumentError extends StartError {
  override readonly name = 'DocumentError'

  constructor(readonly problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join('\n'))
  }
}

/** A file or folder that could not be read at all. */
export class UnreadableFileError extends StartError {
  override readonly name = 'UnreadableFileError'

  constructor(
    readonly file: string,
    readonly reason: string,
  ) {
    super(`${file}: ${reason}`)
  }
}

/** A problem with its message; `place` counts from 1. */
export function problemAt(file: string, place: { line: number; column: number }, finding: Finding): Problem {
  const { line, column } = place
  const path = pathText(finding.path)
  const where = [`${file}:${line}:${column}`, ...(path === '' ? [] : [path])].join(': ')
  const { found, allowed } = finding
  return { file, line, column, path, found, allowed, message: `${where}: found ${found}; allowed: ${allowed}` }
}

/** `tools[0].call.path`; a key that is no plain word is quoted. */
function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      if (!/^[\w$-]+$/.test(part)) return `[${JSON.stringify(part)}]`
      return index === 0 ? part : `.${part}`
    })
    .join('')
}

/** A value as a message shows it: short, and never over several lines. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
