import type { App } from '../app/app.ts'
import { VERSION } from '../version.ts'
import { mistypedVariables, readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { controlCall } from './control-session.ts'
import { createLog } from './log.ts'
import { detachedServer } from './detached-server.ts'
import { isGiven, serverOf } from './running-server.ts'
import { LOOPBACK } from './server-options.ts'

/**
 * `mcp`: the control API as tools for an MCP client on stdin and stdout, until the client goes away. Everything else that it
 * has to say goes to stderr.
 */
export async function mcp(argv: readonly string[], context: CommandContext): Promise<number> {
  const read = readArguments('mcp', argv, context)
  const { environment, 'admin-token': adminToken } = read.values
  for (const notice of mistypedVariables(context.variables)) context.err(`toolmock: ${notice}`)
  const own = isGiven(read) || detachedServer() ? undefined : await startOwn(adminToken, context)
  try {
    const { url, ca } = own ?? serverOf(read)
    const { serveMcp } = await import('../mcp/control-server.ts')
    const call = controlCall({ url, ca, adminToken }, environment)
    await serveMcp({ call, url, environment, version: VERSION }, ({ message }) => context.err(`toolmock: ${message}`))
    return 0
  } finally {
    await own?.app.close()
  }
}

/** A server of the bundled seed on a free port, in memory. */
async function startOwn(
  adminToken: string | undefined,
  { err }: CommandContext,
): Promise<{ readonly app: App; readonly url: string; readonly ca?: undefined }> {
  const { createApp } = await import('../app/app.ts')
  const app = await createApp({ state: null, adminToken, log: createLog('warn', false, err) })
  const { url } = await app.listen({ host: LOOPBACK, port: 0 })
  err(`toolmock serves ${url} for this client, dashboard ${url}/_mock/ui`)
  return { app, url }
}
