import { ServerProcess } from './server-process.ts'
import { send, type HttpRequest } from './wire.ts'

export interface ToolmockOptions {
  cli: string
  /** A state file; without one the server keeps its state in memory. */
  state?: string
  /** More flags of the command line. */
  flags?: readonly string[]
}

/** A server that is ready; disposal kills it. */
export interface Served extends AsyncDisposable {
  process: ServerProcess
  url: string
  /** Milliseconds from the start of the process to the first 200. */
  readyAfter: number
}

/** Starts the built product and waits until it is ready. */
export async function startToolmock(options: ToolmockOptions): Promise<Served> {
  const { cli, state, flags = [] } = options
  const where = state === undefined ? ['--in-memory'] : ['--state', state]
  const args = [cli, 'start', ...where, '--port', '0', '--json', '--log-level', 'warn', ...flags]
  return served(new ServerProcess({ args }))
}

/** Waits for a server that prints its URL as JSON, as toolmock and the bare servers do, and then answers with `status`. */
export async function served(process: ServerProcess, status = 200): Promise<Served> {
  try {
    const { url } = JSON.parse(await process.firstLine()) as { url: string }
    await process.answers(`${url}/_mock/ready`, status)
    return servedAt(process, url)
  } catch (error) {
    await process.kill()
    throw error
  }
}

/** A server that is ready now. */
export function servedAt(process: ServerProcess, url: string): Served {
  const readyAfter = performance.now() - process.from
  return { process, url, readyAfter, [Symbol.asyncDispose]: () => process.kill() }
}

export const TOKEN_REQUEST: HttpRequest = {
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: 'grant_type=client_credentials&client_id=test_client&client_secret=test_secret',
}

/** The header `Authorization` with a new bearer token. */
export async function bearer(url: string): Promise<Record<string, string>> {
  const { body } = await send(`${url}/oauth/token`, TOKEN_REQUEST)
  const { access_token } = JSON.parse(body) as { access_token: string }
  return { Authorization: `Bearer ${access_token}` }
}
