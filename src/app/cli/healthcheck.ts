import type { Run } from './command.ts'
import { RefusedError } from './failure.ts'
import { healthStatus, noAnswerReason, serverOf } from './running-server.ts'

export const healthcheck: Run<'healthcheck'> = async (args, { out }) => {
  const { url } = serverOf(args)
  const answer = await healthStatus(url).then(
    (status) => (status === 200 ? undefined : `answers ${status}`),
    noAnswerReason,
  )
  if (answer !== undefined) throw new RefusedError(`${url}/_mock/health ${answer}`)
  out(`${url}/_mock/health is up`)
}
