import { createSimulator } from './simulator.ts'

/** How a mock of one's own is started. */
export interface ToolmockOptions {
  /** Seed files, folders or `bundled`, one after the other; the bundled seed when absent. */
  seeds?: readonly string[]
  /** The file that keeps the model; in memory when absent. */
  state?: string
  /** Port on 127.0.0.1; a free one when absent. */
  port?: number
  /** Refuse what is otherwise ignored with a warning (G6), and serve no Discovery operations. */
  strict?: boolean
  /** What links and redirects are built on; from each request's Host when absent. */
  baseUrl?: string
}

/** A mock that serves until it is closed. */
export interface Toolmock extends AsyncDisposable {
  /** Where it serves, `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** Stops serving and writes the state, if it has a file. */
  close(): Promise<void>
}

/**
 * Starts a mock in this process.
 * @throws Error with what and where, for a seed or state file that cannot be used, or a port that is taken
 */
export async function createToolmock(options: ToolmockOptions = {}): Promise<Toolmock> {
  const { port = 0, ...rest } = options
  const simulator = await createSimulator(rest)
  try {
    const { url } = await simulator.listen({ host: '127.0.0.1', port })
    const close = () => simulator.close()
    const { id, secret } = simulator.client
    return { url, clientId: id, clientSecret: secret, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await simulator.close()
    throw error
  }
}
