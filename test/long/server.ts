import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Agent, request } from 'node:http'
import { pinned } from '../../bench/pinning.ts'

/** Ticks of `/proc` in a second. */
const TICKS = 100

/** A toolmock in a process of its own, so that its resources can be measured separately. */
export class MeasuredServer {
  readonly url: string
  readonly #process: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 })
  readonly #headers: Readonly<Record<string, string>>

  private constructor(process: ChildProcess, url: string, token: string) {
    this.#process = process
    this.url = url
    this.#headers = { Authorization: `Bearer ${token}` }
  }

  static async start(): Promise<MeasuredServer> {
    const argv = ['dist/cli.js', 'start', '--port', '0', '--in-memory', '--quiet', '--json']
    const [program, words] = pinned.server(globalThis.process.execPath, argv)
    const process = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: process.stdout }), 'line')) as [string]
    const { url, client_id, client_secret } = JSON.parse(line) as Record<'url' | 'client_id' | 'client_secret', string>
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body })
    const { access_token } = (await answer.json()) as { access_token: string }
    const server = new MeasuredServer(process, url, access_token)
    await fetch(`${url}/_mock/seed`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] }),
    })
    return server
  }

  /** Sends one get-details request. */
  getDetails(): Promise<void> {
    const url = `${this.url}/api/v1/connected_accounts/details?connector=mail&identifier=ada@example.com`
    return new Promise((resolve, reject) => {
      const sent = request(url, { agent: this.#agent, headers: this.#headers }, (answer) => {
        answer.resume()
        answer.on('end', resolve)
        if (answer.statusCode !== 200) reject(new Error(`get-details answered ${String(answer.statusCode)}`))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  /** The used processor time in seconds. */
  get processorTime(): number {
    const fields =
      readFileSync(`/proc/${String(this.#process.pid)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  }

  /** The resident memory in megabytes. */
  get memory(): number {
    const status = readFileSync(`/proc/${String(this.#process.pid)}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
  }

  async stop(): Promise<void> {
    this.#agent.destroy()
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
  }
}

/** Sends get-details at a rate until the time is over; a machine that is too slow sends fewer. Returns how many. */
export async function load(server: MeasuredServer, perSecond: number, seconds: number): Promise<number> {
  const start = performance.now()
  let sent = 0
  let open = 0
  for (;;) {
    const elapsed = (performance.now() - start) / 1000
    if (elapsed >= seconds) return sent
    const due = Math.min(Math.floor(elapsed * perSecond) - sent, 64 - open)
    for (let at = 0; at < due; at++) {
      sent++
      open++
      void server.getDetails().finally(() => open--)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
