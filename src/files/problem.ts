import { StartError } from '../model/domain/start-error.ts'
import { type Problem, pathText, problemSentence } from '../model/schema/problems.ts'

export interface FileProblem {
  file: string
  /** Both count from 1. */
  line: number
  column: number
  /** `tools[0].call.path`; empty for the file as a whole. */
  path: string
  found: string
  allowed: string
  /** ``file:line:column: `path` is …; allowed: …`` */
  message: string
}

/** A file that is not what it should be, with everything that is wrong with it. */
export class DocumentError extends StartError {
  override readonly name = 'DocumentError'

  constructor(readonly problems: readonly FileProblem[]) {
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

/** A problem at its place in a file; lines and columns count from 1. */
export function problemAt(
  file: string,
  { line, column }: { line: number; column: number },
  problem: Problem,
): FileProblem {
  const { path, found, allowed } = problem
  const message = `${file}:${line}:${column}: ${problemSentence(problem)}`
  return { file, line, column, path: pathText(path), found, allowed, message }
}
