import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { commandSignals, isSentToChildren, spawnable, terminalState } from '../platform.ts'
import type { Variables } from './arguments.ts'
import { systemCode } from './failure.ts'
import type { CommandLine } from './server-options.ts'

/** How a command ended, as a shell reports it: 128 and the number of the signal that ended it, 126 and 127 when it did not start. */
export interface CommandEnd {
  readonly code: number
  readonly failure: string
  readonly notStarted?: true
}

/** A command that has the input and output of this process. Signals go to it: it decides what they mean. */
export class ChildCommand {
  #early: NodeJS.Signals | undefined
  #child: ChildProcess | undefined
  readonly #terminal = terminalState()
  readonly #signals = commandSignals()
  readonly #forward = (signal: NodeJS.Signals): void => {
    if (!this.#child) this.#early ??= signal
    // The terminal has sent it to the command already, which may take a second one as impatience.
    else if (!isSentToChildren(signal, this.#terminal)) this.#child.kill(signal)
  }

  constructor() {
    for (const signal of this.#signals) process.on(signal, this.#forward)
  }

  /** Runs the command until it ends; a signal that came before keeps it from starting. */
  run(command: CommandLine, variables: Variables): Promise<CommandEnd> {
    const early = this.#early
    if (early !== undefined) {
      return Promise.resolve({
        code: signalCode(early),
        failure: `${early} came before the command was started`,
        notStarted: true,
      })
    }
    return new Promise((resolve) => {
      const { file, args, ...options } = spawnable(command, variables)
      const child = spawn(file, args, { stdio: 'inherit', env: variables, ...options })
      this.#child = child
      child.on('error', (error) => {
        // A signal that cannot be sent is an error as well; the command still runs.
        if (child.pid === undefined) resolve(notStarted(command[0], error))
      })
      child.on('exit', (code, signal) => resolve(endOf(code, signal)))
    })
  }

  release(): void {
    for (const signal of this.#signals) process.off(signal, this.#forward)
  }
}

function endOf(code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal !== null) return { code: signalCode(signal), failure: `the command was ended by ${signal}` }
  return { code: code ?? 1, failure: `the command failed with exit code ${code ?? 1}` }
}

function signalCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

function notStarted(program: string, error: Error): CommandEnd {
  const reason = systemCode(error) ?? error.message
  if (reason === 'ENOENT' || reason === 'ENOTDIR') {
    return {
      code: 127,
      failure: `${program}: no program of this name is found, or the interpreter that its first line names is missing`,
      notStarted: true,
    }
  }
  return { code: 126, failure: `${program} cannot be executed (${reason})`, notStarted: true }
}
