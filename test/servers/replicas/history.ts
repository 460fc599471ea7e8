import { subscribe } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'

interface Register {
  readonly id: string
  /** The version of the last change that was answered. */
  acknowledged: number
  /** The version of the last change that was sent. */
  attempted: number
  /** The newest version that any finished read has shown. */
  seen: number
}

export interface Violation {
  readonly kind: 'stale' | 'lost' | 'invented'
  readonly account: string
  readonly what: string
}

const CREDENTIALS = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
const TIMEOUT_MS = 20_000

/**
 * Writers that each count up a number in an account of their own, and readers at every replica. An account is a register: a
 * read shows at least what was answered, or read, before it began, and at most what was sent before it ended.
 */
export class History {
  readonly violations: Violation[] = []
  #isPaused = false
  /** Answers by status; 0 is a connection that broke. */
  readonly answers = new Map<number, number>()
  /** The answers of 503. */
  readonly refusals = new Set<string>()
  readonly #urls: () => readonly string[]
  readonly #registers: Register[] = []
  readonly #stop = new AbortController()
  /** Requests that are not answered yet, by replica and by method. */
  readonly #underWay = new Map<string, number>()
  #headers: Record<string, string> = {}
  #workers: Promise<void>[] = []

  constructor(urls: () => readonly string[]) {
    this.#urls = urls
  }

  /** Everything that was answered. */
  get acknowledged(): number {
    return this.#registers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  }

  get failures(): number {
    return [...this.answers].reduce((sum, [status, count]) => (status === 0 || status >= 400 ? sum + count : sum), 0)
  }

  async begin({ writers, readers }: { writers: number; readers: number }): Promise<void> {
    const [url = ''] = this.#urls()
    const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(CREDENTIALS) })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (let at = 0; at < writers; at++) {
      const body = JSON.stringify({
        connector: 'mail',
        identifier: `writer-${at}@example.com`,
        connected_account: { api_config: { version: 0 } },
      })
      const made = await fetch(`${url}/api/v1/connected_accounts`, { method: 'POST', headers: this.#headers, body })
      if (made.status !== 201) throw new Error(`an account could not be made: ${await made.text()}`)
      const { connected_account: account } = (await made.json()) as { connected_account: { id: string } }
      this.#registers.push({ id: account.id, acknowledged: 0, attempted: 0, seen: 0 })
    }
    const write = this.#registers.map((register, at) => this.#repeat((turn) => this.#write(register, at + turn)))
    const read = Array.from({ length: readers }, (_, at) => this.#repeat((turn) => this.#read(at + turn)))
    this.#workers = [...write, ...read]
  }

  /** Resolves once all writers wait: a write that is refused would also refuse the reads that wait with it. */
  async pauseWriters(): Promise<void> {
    this.#isPaused = true
    await expect.poll(() => this.#underWay.get('PUT') ?? 0, { interval: 5 }).toBe(0)
  }

  resumeWriters(): void {
    this.#isPaused = false
  }

  /** Lets the writers and readers go on until that many more changes are answered. */
  async goesOn(changes = 20): Promise<void> {
    const before = this.acknowledged
    await expect.poll(() => this.acknowledged, { timeout: 60_000 }).toBeGreaterThan(before + changes)
  }

  /** Resolves once no request is under way at a replica, which is no longer in rotation. */
  async isLeftBy(url: string): Promise<void> {
    await expect.poll(() => this.#underWay.get(url) ?? 0, { interval: 5 }).toBe(0)
  }

  /** Reads every account at one replica, which is stopped. Resolves, once its sockets have the requests, with the end of the reads. */
  async readAllAt(url: string): Promise<{ readonly end: Promise<unknown> }> {
    let count = 0
    const sending = new Promise<void>((resolve) => {
      subscribe('undici:client:sendHeaders', (message) => {
        const { request } = message as { request: { origin: string } }
        if (request.origin === url && ++count === this.#registers.length) resolve()
      })
    })
    const end = Promise.all(this.#registers.map((register) => this.#readOne(register, url, 'stale')))
    await sending
    return { end }
  }

  /** Ends the workers and reads every account once more at every replica. */
  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#workers)
    for (const register of this.#registers) for (const url of this.#urls()) await this.#readOne(register, url, 'lost')
  }

  async #repeat(work: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#stop.signal.aborted; turn++) {
      await work(turn)
      await pause(2)
    }
  }

  async #write(register: Register, turn: number): Promise<void> {
    if (this.#isPaused) return
    const version = (register.attempted += 1)
    const body = JSON.stringify({ id: register.id, connected_account: { api_config: { version } } })
    const status = await this.#send(this.#urlOf(turn), { method: 'PUT', path: '/connected_accounts', body })
    if (status.code === 200) register.acknowledged = version
  }

  async #read(turn: number): Promise<void> {
    const register = this.#registers[turn % this.#registers.length]
    if (register) await this.#readOne(register, this.#urlOf(turn), 'stale')
  }

  async #readOne(register: Register, url: string, kind: 'stale' | 'lost'): Promise<void> {
    const { id } = register
    const least = Math.max(register.acknowledged, register.seen)
    const { code, text } = await this.#send(url, { method: 'GET', path: `/connected_accounts/details?id=${id}` })
    const most = register.attempted
    if (code === 404) this.violations.push({ kind: 'lost', account: id, what: 'the account is gone' })
    if (code !== 200) return
    const { connected_account: account } = JSON.parse(text) as {
      connected_account: { api_config: { version: number } }
    }
    const { version } = account.api_config
    if (version < least) this.violations.push({ kind, account: id, what: `${version} after ${least} at ${url}` })
    if (version > most)
      this.violations.push({ kind: 'invented', account: id, what: `${version} before ${most} was sent` })
    register.seen = Math.max(register.seen, version)
  }

  #urlOf(turn: number): string {
    const urls = this.#urls()
    return urls[turn % urls.length] ?? ''
  }

  async #send(
    url: string,
    { method, path, body }: { method: string; path: string; body?: string },
  ): Promise<{ code: number; text: string }> {
    let answered = { code: 0, text: '' }
    const count = (by: number): void => {
      for (const key of [url, method]) this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + by)
    }
    count(1)
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: this.#headers,
        signal,
        ...(body && { body }),
      })
      answered = { code: answer.status, text: await answer.text() }
      if (answer.status === 503) this.refusals.add(`${method} ${answered.text}`)
    } catch {
      // The replica was killed, or stopped for longer than a client waits.
    }
    count(-1)
    this.answers.set(answered.code, (this.answers.get(answered.code) ?? 0) + 1)
    return answered
  }
}
