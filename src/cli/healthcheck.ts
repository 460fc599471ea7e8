import { HttpClient } from '../http-client.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { noAnswerReason, serverOf } from './running-server.ts'

const TIMEOUT_MS = 2_000

export async function healthcheck(argv: readonly string[], context: CommandContext): Promise<number> {
  const { out, err } = context
  const read = readArguments('healthcheck', argv, context)
  const { url } = serverOf(read)
  // Nothing secret is sent, so the certificate need not be trusted.
  const client = new HttpClient(url, { timeoutMs: TIMEOUT_MS, anyCertificate: true })
  const answer = await client
    .send({ method: 'GET', path: '/_mock/health' })
    .then(({ status }) => (status === 200 ? undefined : `answers ${status}`), noAnswerReason)
  if (answer === undefined) {
    out(`${url}/_mock/health is up`)
    return 0
  }
  err(`toolmock: ${url}/_mock/health ${answer}`)
  return 1
}
