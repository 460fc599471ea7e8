import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { systemCode } from './failure.ts'
import type { Variables } from './arguments.ts'
import type { CommandLine } from './run-arguments.ts'
import type { SignalRelay } from './signal-relay.ts'

/** How a command ended, in the way of a shell: 128 and the number of the signal that ended it, 126 and 127 for no start. */
export interface CommandEnd {
  readonly code: number
  /** What there is to say of a code that is not 0. */
  readonly failure: string
  /** It never ran. */
  readonly notStarted?: true
}

/** Runs a command that has our input and output for its own, until it ends. */
export function runCommand(
  [program, ...args]: CommandLine,
  variables: Variables,
  relay: SignalRelay,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env: variables })
    relay.to(child)
    child.on('error', (error) => {
      // A signal that cannot be sent is an error as well, and the command runs on.
      if (child.pid === undefined) resolve(notStarted(program, error))
    })
    child.on('exit', (code, signal) => resolve(endOf(code, signal)))
  })
}

function endOf(code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal !== null) return { code: signalCode(signal), failure: `the command was ended by ${signal}` }
  return { code: code ?? 1, failure: `the command failed with exit code ${code ?? 1}` }
}

/** What a shell answers for a program that a signal has ended. */
export function signalCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

function notStarted(program: string, error: Error): CommandEnd {
  const reason = systemCode(error) ?? error.message
  if (reason === 'ENOENT' || reason === 'ENOTDIR') {
    return {
      code: 127,
      failure: `${program}: there is no such command, or not the interpreter it names`,
      notStarted: true,
    }
  }
  return { code: 126, failure: `${program} cannot be executed (${reason})`, notStarted: true }
}
