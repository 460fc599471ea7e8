import { ServerProcess } from './server-process.ts'
import { ask, type Question } from './wire.ts'

export interface ToolmockOptions {
  cli: string
  /** A state file; in memory without one. */
  state?: string
  /** More words on the command line. */
  flags?: readonly string[]
  nodeFlags?: readonly string[]
  env?: Readonly<Record<string, string>>
}

/** A server that is up; it is killed where its block ends. */
export interface Served extends AsyncDisposable {
  process: ServerProcess
  url: string
  /** Milliseconds from the start of the process to the first 200. */
  readyAfter: number
}

/** Starts the built product and waits until it is ready. */
export async function startToolmock(options: ToolmockOptions): Promise<Served> {
  const { cli, state, flags = [], nodeFlags = [], env } = options
  const where = state === undefined ? ['--in-memory'] : ['--state', state]
  const args = [...nodeFlags, cli, 'start', ...where, '--port', '0', '--json', '--log-level', 'warn', ...flags]
  return served(new ServerProcess({ args, ...(env && { env }) }))
}

/** For servers that print their URL as JSON, as ours and the bare ones do; `status` is what they answer when ready. */
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

/** A server that answers by now. */
export function servedAt(process: ServerProcess, url: string): Served {
  const readyAfter = performance.now() - process.from
  return { process, url, readyAfter, [Symbol.asyncDispose]: () => process.kill() }
}

export const TOKEN_QUESTION: Question = {
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: 'grant_type=client_credentials&client_id=test_client&client_secret=test_secret',
}

/** The header that every operation asks for. */
export async function bearer(url: string): Promise<Record<string, string>> {
  const { body } = await ask(`${url}/oauth/token`, TOKEN_QUESTION)
  const { access_token } = JSON.parse(body) as { access_token: string }
  return { Authorization: `Bearer ${access_token}` }
}
