import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

/** Hands the signals that end a program on to the command: it decides what they mean, and everything ends with it. */
export class SignalRelay {
  /** The first that came while there was no command yet. */
  early: NodeJS.Signals | undefined
  #child: ChildProcess | undefined
  readonly #hadTerminal = terminal()?.isThere === true
  readonly #relay = (signal: NodeJS.Signals): void => {
    if (!this.#child) this.early ??= signal
    // The command has it already, and may take a second one for impatience.
    else if (!this.#isForEverybody(signal)) this.#child.kill(signal)
  }

  constructor() {
    for (const signal of RELAYED) process.on(signal, this.#relay)
  }

  to(child: ChildProcess): void {
    this.#child = child
  }

  end(): void {
    for (const signal of RELAYED) process.off(signal, this.#relay)
  }

  /** Ctrl-C and Ctrl-\ go to everybody whom the terminal is busy with, and so does its end, but for the first in its session. */
  #isForEverybody(signal: NodeJS.Signals): boolean {
    const now = terminal()
    if (signal === 'SIGINT' || signal === 'SIGQUIT') return now ? now.isBusyWithUs : process.stderr.isTTY
    return signal === 'SIGHUP' && this.#hadTerminal && now?.isThere === false && !now.isOurs
  }
}

/** What a terminal has to do with this process and its children, where the system tells. */
function terminal() {
  try {
    // The name of the program stands in parentheses, and may hold anything.
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? []
    const [, , group, session, device, foreground] = fields.split(' ')
    return {
      isThere: device !== '0',
      isBusyWithUs: group === foreground,
      isOurs: session === String(process.pid),
    }
  } catch {
    return undefined
  }
}
