import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { Variables } from './arguments.ts'
import { systemCode } from './failure.ts'
import type { CommandLine } from './server-options.ts'

/** How a command ended, as a shell reports it: 128 and the number of the signal that ended it, 126 and 127 when it did not start. */
export interface CommandEnd {
  readonly code: number
  readonly failure: string
  readonly notStarted?: true
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

/** A command that has the input and output of this process. Signals go to it: it decides what they mean. */
export class ChildCommand {
  #early: NodeJS.Signals | undefined
  #child: ChildProcess | undefined
  readonly #hadTerminal = terminalState()?.isPresent === true
  readonly #forward = (signal: NodeJS.Signals): void => {
    if (!this.#child) this.#early ??= signal
    // The terminal has sent it to the command already, which may take a second one as impatience.
    else if (!this.#isSentByTerminal(signal)) this.#child.kill(signal)
  }

  constructor() {
    for (const signal of FORWARDED) process.on(signal, this.#forward)
  }

  /** Runs the command until it ends; a signal that came before keeps it from starting. */
  run([program, ...args]: CommandLine, variables: Variables): Promise<CommandEnd> {
    const early = this.#early
    if (early !== undefined) {
      return Promise.resolve({
        code: signalCode(early),
        failure: `${early} came before the command was started`,
        notStarted: true,
      })
    }
    return new Promise((resolve) => {
      const child = spawn(program, args, { stdio: 'inherit', env: variables })
      this.#child = child
      child.on('error', (error) => {
        // A signal that cannot be sent is an error as well; the command still runs.
        if (child.pid === undefined) resolve(notStarted(program, error))
      })
      child.on('exit', (code, signal) => resolve(endOf(code, signal)))
    })
  }

  release(): void {
    for (const signal of FORWARDED) process.off(signal, this.#forward)
  }

  /**
   * A terminal sends Ctrl-C and Ctrl-\ to its whole foreground group, and SIGHUP, when it ends, to all but the session leader.
   */
  #isSentByTerminal(signal: NodeJS.Signals): boolean {
    const now = terminalState()
    if (signal === 'SIGINT' || signal === 'SIGQUIT') return now ? now.isForeground : process.stderr.isTTY
    return signal === 'SIGHUP' && this.#hadTerminal && now?.isPresent === false && !now.isSessionLeader
  }
}

/** The terminal of this process as Linux describes it; undefined on other systems. */
function terminalState() {
  try {
    // The name of the program is in parentheses, and may hold any characters.
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? []
    const [, , group, session, device, foreground] = fields.split(' ')
    return {
      isPresent: device !== '0',
      isForeground: group === foreground,
      isSessionLeader: session === String(process.pid),
    }
  } catch {
    return undefined
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
