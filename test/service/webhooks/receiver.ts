import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export const SECRET = `whsec_${Buffer.from('an application knows this secret').toString('base64')}`

export const OTHER_SECRET = `whsec_${Buffer.from('the application does not know this one').toString('base64')}`

export interface Event {
  readonly id: string
  readonly type: string
  readonly occurred_at: string
  readonly environment_id: string
  readonly data: Readonly<Record<string, string>>
}

/** Whether a request is what its sender signed, at most five minutes ago: the public recipe. */
function isGenuine({ headers }: Pick<IncomingMessage, 'headers'>, body: string, now = Date.now()): boolean {
  const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  )
  if (!/^\d+$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return signatures.split(' ').some((signature) => {
    const [version, given = ''] = signature.split(',')
    const sent = Buffer.from(given, 'base64')
    return version === 'v1' && sent.length === expected.length && timingSafeEqual(sent, expected)
  })
}

/** Answers 200 to what is genuine and 401 to the rest, or whatever `answer` says. */
export class Receiver {
  /** The events that were genuine and acknowledged, in their order. */
  readonly events: Event[] = []
  /** Every body that came, and its signatures. */
  readonly requests: { readonly body: string; readonly signatures: readonly string[] }[] = []
  /** Every status that was answered. */
  readonly answers: number[] = []
  answer: (event: Event, isGenuine: boolean) => number | Promise<number> = (_event, genuine) => (genuine ? 200 : 401)
  /** Those that are being answered at this moment, and the most that there have been. */
  open = 0
  mostOpen = 0
  #waiting: { count: number; resolve: () => void }[] = []
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    this.open += 1
    this.mostOpen = Math.max(this.mostOpen, this.open)
    response.once('close', () => (this.open -= 1))
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const event = JSON.parse(body) as Event
      this.requests.push({ body, signatures: String(request.headers['webhook-signature']).split(' ') })
      const genuine = isGenuine(request, body)
      void Promise.resolve(this.answer(event, genuine)).then((status) => {
        this.answers.push(status)
        if (genuine && status < 300) this.events.push(event)
        response.writeHead(status).end()
        this.#waiting.filter(({ count }) => this.answers.length >= count).forEach(({ resolve }) => resolve())
      })
    })
  })

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** Resolves once so many requests were answered. */
  answered(count: number): Promise<void> {
    if (this.answers.length >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  get types(): string[] {
    return this.events.map(({ type }) => type.replace('connected_account.', ''))
  }
}
