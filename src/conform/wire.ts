import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as askHttp } from 'node:http'
import { Agent as HttpsAgent, request as askHttps } from 'node:https'
import { Answer } from './answer.ts'
import type { Observed } from './judge.ts'

/** A request as it goes to the target, with nothing added but what HTTP needs. */
export interface Ask {
  readonly method: string
  /** Below the base URL, query included; or a whole URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const PATIENCE_MS = 30_000

/** The target's door: plain HTTP requests that follow no redirect and change nothing. */
export class Wire {
  readonly #base: string
  readonly #observed: Observed | undefined
  readonly #agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) }

  constructor(baseUrl: string, observed?: Observed) {
    this.#observed = observed
    this.#base = baseUrl.replace(/\/+$/, '')
  }

  /** @throws Error when there is no answer */
  async send(ask: Ask): Promise<Answer> {
    try {
      return await this.#once(ask)
    } catch (error) {
      // The server may close an idle connection just as it is used again.
      if (error instanceof StaleConnection) return this.#once(ask)
      throw error
    }
  }

  close(): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }

  #once(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = this.#request(ask, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const path = ask.path.replace(/\?.*/, '')
          const answer = new Answer(`${ask.method} ${path}`, response.statusCode ?? 0, response.headers, text)
          this.#observed?.note(ask.method, path, answer)
          resolve(answer)
        })
      })
      request.setTimeout(PATIENCE_MS, () => request.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)))
      request.on('error', (error) => {
        const stale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
        reject(stale ? new StaleConnection(error.message) : error)
      })
      request.end(ask.body)
    })
  }

  #request({ method, path, headers, body }: Ask, answered: (response: IncomingMessage) => void): ClientRequest {
    const url = path.startsWith('/') ? `${this.#base}${path}` : path
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const options = { method, headers: { ...length, ...headers } }
    return url.startsWith('https:')
      ? askHttps(url, { ...options, agent: this.#agents.https }, answered)
      : askHttp(url, { ...options, agent: this.#agents.http }, answered)
  }
}

class StaleConnection extends Error {}
