import type { Server } from '../library/control-client.ts'
import { VERSION } from '../../model/version.ts'
import { mistypedVariables } from './arguments.ts'
import type { Run } from './command.ts'
import { controlCall } from './control-session.ts'
import { createLog } from './log.ts'
import { detachedServer, isGiven, serverOf } from './running-server.ts'
import { withApp } from './serve-while.ts'
import { mockOfConfiguration } from './server-options.ts'

/** The control API as tools on stdin and stdout, until the client goes away. Everything else goes to stderr. */
export const mcp: Run<'mcp'> = async (args, { variables, err }) => {
  const { environment, 'admin-token': adminToken } = args.values
  for (const notice of mistypedVariables(variables)) err(`toolmock: ${notice}`)
  const serve = async (server: Server): Promise<number> => {
    const { serveMcp } = await import('../../servers/mcp/control-server.ts')
    const call = controlCall(server, environment)
    const options = { call, url: server.url, environment, version: VERSION }
    await serveMcp(options, ({ message }) => err(`toolmock: ${message}`))
    return 0
  }
  if (isGiven(args) || detachedServer()) return serve(serverOf(args))
  const mock = mockOfConfiguration(args.configuration)
  return withApp({ ...mock, state: null, adminToken, log: createLog('warn', false, err) }, (_app, url) => {
    err(`toolmock serves ${url} for this client, dashboard ${url}/_mock/ui`)
    return serve({ url, adminToken })
  })
}
