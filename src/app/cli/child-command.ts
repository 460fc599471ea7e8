import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { systemReason } from '../../model/domain/system-error.ts'
import {
  commandSignals,
  hasProcessGroups,
  isSentToChildren,
  spawnableCommand,
  terminalState,
} from '../../platform/platform.ts'
import type { EnvironmentVariables } from './arguments.ts'
import { ExitError } from './failure.ts'
import type { CommandLine } from './server-options.ts'

/** How a command ended, as a shell reports it: 128 and the number of the signal that ended it. */
interface CommandEnd {
  readonly code: number
  readonly failure: string
}

/** What of the signals keeps commands from starting that have not started yet. */
const STOPPING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGBREAK']

/** Signals go to them. Each of `several` has a process group, of which nothing is left once its command has ended. */
export class ChildCommands {
  #stopped: NodeJS.Signals | undefined
  readonly #children = new Set<ChildProcess>()
  readonly #several: boolean
  readonly #hasGroups: boolean
  readonly #terminal = terminalState()
  readonly #signals = commandSignals()
  readonly #forward = (signal: NodeJS.Signals): void => {
    const isSecond = this.#stopped !== undefined
    if (this.#children.size === 0 || STOPPING.includes(signal)) this.#stopped ??= signal
    for (const child of this.#children) {
      if (this.#hasGroups) signalGroup(child, isSecond ? 'SIGKILL' : signal)
      // The terminal has sent it to the command already, which may take a second one as impatience.
      else if (!isSentToChildren(signal, this.#terminal)) child.kill(signal)
    }
  }

  constructor({ several = false } = {}) {
    this.#several = several
    this.#hasGroups = several && hasProcessGroups()
    for (const signal of this.#signals) process.on(signal, this.#forward)
  }

  /** The exit code of the signal that came to stop; undefined when none came. */
  get stopped(): number | undefined {
    return this.#stopped && signalCode(this.#stopped)
  }

  /**
   * Runs a command until it ends; a signal that came before keeps it from starting.
   * @param output the file that takes its output; that of this process when absent
   * @throws ExitError when it is not started, with 126 or 127 as a shell, or the code of the signal
   */
  async run(command: CommandLine, variables: EnvironmentVariables, output?: number): Promise<CommandEnd> {
    const early = this.#stopped
    if (early !== undefined) throw new ExitError(`${early} came before the command was started`, signalCode(early))
    return new Promise((resolve, reject) => {
      const { file, args, ...options } = spawnableCommand(command, variables)
      const child = spawn(file, args, {
        stdio: [this.#several ? 'ignore' : 'inherit', output ?? 'inherit', output ?? 'inherit'],
        env: variables,
        detached: this.#hasGroups,
        ...options,
      })
      this.#children.add(child)
      child.on('error', (error) => {
        // A signal that cannot be sent is an error as well; the command still runs.
        if (child.pid !== undefined) return
        this.#children.delete(child)
        reject(commandNotStarted(command[0], error))
      })
      child.on('exit', (code, signal) => {
        this.#children.delete(child)
        if (this.#hasGroups) signalGroup(child, 'SIGKILL')
        resolve(commandEnd(code, signal))
      })
    })
  }

  release(): void {
    for (const signal of this.#signals) process.off(signal, this.#forward)
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  // A group of 0 would be that of this process.
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All of them have ended.
  }
}

function commandEnd(code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal !== null) return { code: signalCode(signal), failure: `the command was ended by ${signal}` }
  return { code: code ?? 1, failure: `the command failed with exit code ${code ?? 1}` }
}

function signalCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

function commandNotStarted(program: string, error: Error): ExitError {
  const reason = systemReason(error)
  if (reason !== 'ENOENT' && reason !== 'ENOTDIR') {
    return new ExitError(`${program} cannot be executed (${reason})`, 126)
  }
  const missing = 'no program of this name is found, or the interpreter that its first line names is missing'
  return new ExitError(`${program}: ${missing}`, 127)
}
