import { connect, type Socket } from 'node:net'

/** An answer as it was received. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** A TCP connection that sends text unchanged and splits what it receives into answers. */
export class RawClient {
  readonly answers: RawAnswer[] = []
  /** Whether the server has ended the connection, or it is closed. */
  ended = false
  readonly socket: Socket
  #rest = ''
  readonly #waiting = new Set<() => void>()

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#rest += text
      this.#takeApart()
      this.#tell()
    })
    socket.on('error', () => undefined)
    for (const event of ['end', 'close'])
      socket.on(event, () => {
        this.ended = true
        this.#tell()
      })
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new RawClient(socket))
      })
    })
  }

  send(text: string): this {
    this.socket.write(text, 'latin1')
    return this
  }

  /** The first `count` answers; fewer when the server ends the connection before. */
  async first(count: number): Promise<RawAnswer[]> {
    await this.#until(() => this.answers.length >= count || this.ended)
    return this.answers.slice(0, count)
  }

  /** All answers, once the server has ended the connection. */
  async all(): Promise<RawAnswer[]> {
    await this.#until(() => this.ended)
    return this.answers
  }

  /** Sends RST. */
  reset(): void {
    this.socket.resetAndDestroy()
  }

  close(): void {
    this.socket.destroy()
  }

  #until(reached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!reached()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #tell(): void {
    for (const look of [...this.#waiting]) look()
  }

  #takeApart(): void {
    for (;;) {
      const end = this.#rest.indexOf('\r\n\r\n')
      if (end < 0) return
      const [start = '', ...lines] = this.#rest.slice(0, end).split('\r\n')
      const headers = new Map(lines.map((line) => [before(line).toLowerCase(), line.slice(before(line).length + 2)]))
      const length = Number(headers.get('content-length') ?? 0)
      if (this.#rest.length < end + 4 + length) return
      const text = this.#rest.slice(end + 4, end + 4 + length)
      this.#rest = this.#rest.slice(end + 4 + length)
      this.answers.push({ status: Number(start.split(' ')[1]), headers, text })
    }
  }
}

function before(line: string): string {
  return line.split(':', 1).join()
}
