import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { pinned } from './pinning.ts'

export interface Launch {
  args: readonly string[]
  cwd?: string
  /** Discards its stderr. */
  quiet?: boolean
  /** A file descriptor for its output. `firstLine` cannot read it then. */
  stdout?: number
}

/** A server in its own Node process. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  /** When it was started, on the clock of `performance.now()`. */
  readonly from = performance.now()

  constructor({ args, cwd, quiet = false, stdout }: Launch) {
    const [command, pinnedArgs] = pinned.server(process.execPath, args)
    this.#child = spawn(command, pinnedArgs, {
      stdio: ['ignore', stdout ?? 'pipe', quiet ? 'ignore' : 'inherit'],
      ...(cwd !== undefined && { cwd }),
    })
    const killChild = (): void => void this.#child.kill('SIGKILL')
    process.once('exit', killChild)
    this.#exit = once(this.#child, 'exit').then(() => process.off('exit', killChild))
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the server could not be started')
    return this.#child.pid
  }

  /** The first line of its output; the rest is discarded. */
  async firstLine(): Promise<string> {
    if (!this.#child.stdout) throw new Error('the server has no output')
    const lines = createInterface(this.#child.stdout)
    const first = await Promise.race([once(lines, 'line') as Promise<[string]>, this.#exit.then(() => undefined)])
    if (!first) throw new Error(`the server ended before it printed a line: ${this.#child.spawnargs.join(' ')}`)
    return first[0]
  }

  /** Waits until a URL answers with this status, and discards the output meanwhile. */
  async answers(url: string, status = 200): Promise<void> {
    this.#child.stdout?.resume()
    while (this.#child.exitCode === null) {
      if ((await statusOf(url)) === status) return
      await pause(2)
    }
    throw new Error(`the server ended before it served ${url}`)
  }

  /** Kills it without a shutdown: its state file is a temporary copy. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    await this.#exit
  }
}

/** A free port, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('the system assigned no port')
  return address.port
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', () => resolve(undefined))
  })
}
