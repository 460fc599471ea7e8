import { shellQuote } from '../../model/domain/text.ts'
import type { Run } from './command.ts'
import { controlCall } from './control-session.ts'
import { detachedServer, serverOf } from './running-server.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'

const FORMATS = {
  sh: (name: string, value: string) => `export ${name}=${shellQuote(value)}`,
  dotenv: (name: string, value: string) => `${name}=${JSON.stringify(value)}`,
  // Whatever the value, it ends at a line that nobody knew before.
  github: (name: string, value: string) => {
    const delimiter = `end_of_value_${new RandomIds().opaque()}`
    return `${name}<<${delimiter}\n${value}\n${delimiter}`
  },
}

export const env: Run<'env'> = async (args, { out }) => {
  const { environment, json } = args.values
  const format = json ? 'json' : args.values.format
  const server = serverOf(args)
  const connection = await controlCall(server, environment)('GET /env', { query: { format: 'json' } })
  // A server in the background has also said which certificate authority to trust.
  const detached = detachedServer()?.ready
  const variables = { ...(detached?.url === server.url ? detached.variables : {}), ...connection }
  if (format === 'json') out(JSON.stringify(variables, null, 2))
  else for (const [name, value] of Object.entries(variables)) out(FORMATS[format](name, value))
}
