import { checkOptions, invalidArgument, type Rule, TEXT } from './arguments.ts'
import { connection, type ConnectOptions } from './connection.ts'
import { createToolmock } from './create-toolmock.ts'
import { type Toolmock, toolmockOf } from './toolmock.ts'

const RULES = {
  clientId: TEXT,
  clientSecret: TEXT,
  adminToken: TEXT,
  environment: TEXT,
  ca: TEXT,
} satisfies Record<keyof ConnectOptions, Rule>

/**
 * Controls a server that runs elsewhere, with the interface of one in this process. `close` leaves it running.
 *
 * Without a URL it is `createToolmock()`: under `toolmock run` an environment of its own on the server of the run, elsewhere a
 * server of its own.
 * @param url where it serves, as `TOOLMOCK_URL` says
 * @throws ToolmockError INVALID_ARGUMENT, UNREACHABLE, NO_TOOLMOCK, ENVIRONMENT_NOT_FOUND, ADMIN_TOKEN_REQUIRED
 */
export async function connect(url?: string, options: ConnectOptions = {}): Promise<Toolmock> {
  checkOptions('connect', options, RULES)
  if (url !== undefined) return toolmockOf(await connection(url, options))
  const [given] = Object.entries(options).find(([, value]) => value !== undefined) ?? []
  if (given !== undefined) throw invalidArgument(`connect: ${given} is about a server that runs; give its URL first`)
  return createToolmock()
}
