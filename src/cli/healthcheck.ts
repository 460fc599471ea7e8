import { readArguments } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { systemCode } from './failure.ts'
import { HEALTHCHECK_FLAGS } from './flags.ts'
import { serverAddress } from './server-address.ts'
import { UsageError } from './usage-error.ts'

const PATIENCE_MS = 2_000

/** Asks a server whether it is up: 0 when it says so, else 1 with the reason on stderr. */
export async function healthcheck(argv: readonly string[], { variables, out, err }: Surroundings): Promise<number> {
  const { values, rest } = readArguments(HEALTHCHECK_FLAGS, argv, variables)
  if (rest.length > 0) throw new UsageError(`healthcheck takes no ${rest.join(' ')}.`)
  const address = `${serverAddress(values)}/_mock/health`
  const answer = await ask(address)
  if (answer === 200) {
    out(`${address} is up`)
    return 0
  }
  err(`toolmock: ${address} ${typeof answer === 'number' ? `answers ${answer}` : answer}`)
  return 1
}

/** The status of the answer, or why there was none. */
async function ask(address: string): Promise<number | string> {
  const { get } = address.startsWith('https:') ? await import('node:https') : await import('node:http')
  // It asks whether the server is up, sends nothing worth stealing, and need not know the authority.
  const options = { agent: false, timeout: PATIENCE_MS, rejectUnauthorized: false }
  return new Promise((resolve) => {
    const request = get(address, options, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('timeout', () => request.destroy(new Error(`does not answer within ${PATIENCE_MS} ms`)))
    request.on('error', (error) => {
      resolve(systemCode(error) === 'ECONNREFUSED' ? 'is not served' : error.message)
    })
  })
}
