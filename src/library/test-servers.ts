import type { MockJournal } from './journal.ts'
import type { Toolmock } from './toolmock.ts'

/** The servers of one worker of a test runner: each is started when it is first asked for, and all are closed together. */
export class TestServers implements AsyncDisposable {
  readonly #started = new Map<object, Promise<Toolmock>>()

  /** The server of these options, which are known by their identity. */
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

/** How many failed requests are explained below a failed test. */
const MAX_EXPLAINED = 20

/** The explanation of every answer of 400 and above, as text; undefined when there is none. */
export async function explainFailures(journal: MockJournal): Promise<string | undefined> {
  const failed = (await journal.requests()).filter(({ status }) => status >= 400)
  if (failed.length === 0) return undefined
  const explained = failed.slice(0, MAX_EXPLAINED)
  const texts = await Promise.all(explained.map(async ({ id }) => (await journal.explain(id)).text))
  const more = failed.length - texts.length
  return [...texts, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n\n')
}
