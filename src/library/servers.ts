import type { Toolmock } from './toolmock.ts'

/** Servers of one worker of a test runner: each is started when it is first asked for, and all are closed together. */
export class Servers implements AsyncDisposable {
  readonly #started = new Map<object, Promise<Toolmock>>()

  /** The one that belongs to these options, which are known by their identity. */
  of(options: object, start: () => Promise<Toolmock>): Promise<Toolmock> {
    const known = this.#started.get(options)
    if (known) return known
    const server = start()
    this.#started.set(options, server)
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of await Promise.allSettled(this.#started.values())) {
      if (server.status === 'fulfilled') await server.value.close()
    }
  }
}
