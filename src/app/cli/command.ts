import type { Arguments, EnvironmentVariables } from './arguments.ts'
import type { CommandName } from './command-table.ts'
import type { Terminal } from '../../platform/terminal.ts'

export interface CommandContext {
  readonly variables: EnvironmentVariables
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** False once the reader of `out` has gone away, as in `| head -1`. */
  readonly isRead?: () => boolean
  /** Bytes of `out` that its reader has not taken yet. */
  readonly backlog?: () => number
  /** The terminals that `out` and `err` write to; undefined where there is none. */
  readonly terminal?: Terminal | undefined
  readonly errorTerminal?: Terminal | undefined
  /** Replaces the last line on a terminal, or clears it when the line is empty; undefined when there is no terminal. */
  readonly progress?: ((line: string) => void) | undefined
}

/** Runs a command with what it was given. The result is its exit code; 0 when it is undefined. */
export type Run<Name extends CommandName> = (
  args: Arguments<Name>,
  context: CommandContext,
) => Promise<number | undefined> | undefined
