import type { Variables } from './arguments.ts'
import type { Flag } from './flag.ts'

/** What a command is given of the process around it. */
export interface Surroundings {
  readonly variables: Variables
  /** Each writes one line. */
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** How wide the terminal of the errors is, where there is one. */
  readonly columns?: number | undefined
  /** Shows one line in place of the last one, empty for none; undefined where nobody watches. */
  readonly progress?: ((line: string) => void) | undefined
}

/** Runs a command; the promise is its exit code. */
type Run = (argv: readonly string[], surroundings: Surroundings) => Promise<number>

export interface Command {
  readonly name: string
  /** What follows the name and the flags. */
  readonly operands: string
  readonly summary: string
  readonly flags: readonly Flag[]
  /** Its operands are the line of another program, whose flags are not ours to read. */
  readonly wraps?: true
  /** Its code, loaded when it is called. */
  readonly load: () => Promise<Run>
}
