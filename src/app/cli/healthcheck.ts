import type { Run } from './command.ts'
import { RefusedError } from './failure.ts'
import { healthStatus, noResponseReason, serverOf } from './running-server.ts'

export const healthcheck: Run<'healthcheck'> = async (args, { out }) => {
  const { url } = serverOf(args)
  const response = await healthStatus(url).then(
    (status) => (status === 200 ? undefined : `answers ${status}`),
    noResponseReason,
  )
  if (response !== undefined) throw new RefusedError(`${url}/_mock/health ${response}`)
  out(`${url}/_mock/health is up`)
}
