import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Hands the signals that end a program on to the command: it decides what they mean, and everything ends with it. */
export class SignalRelay {
  /** The first that came while there was no command yet. */
  early: NodeJS.Signals | undefined
  #child: ChildProcess | undefined
  readonly #relay = (signal: NodeJS.Signals): void => {
    if (!this.#child) this.early ??= signal
    // Ctrl-C goes to everybody at the terminal. The command has it already, and may take a second one for impatience.
    else if (signal !== 'SIGINT' || !isAtTerminal()) this.#child.kill(signal)
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
}

/** Whether this process and its children are what a terminal is busy with. */
function isAtTerminal(): boolean {
  try {
    // The name of the program stands in parentheses, and may hold anything.
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? []
    const [, , group, , , foreground] = fields.split(' ')
    return group !== undefined && group === foreground
  } catch {
    return process.stderr.isTTY
  }
}
