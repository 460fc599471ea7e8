import type { Simulator, SimulatorOptions } from '../simulator.ts'
import { Control } from './control.ts'
import { toolmockOf } from './environment.ts'
import type { ToolmockOptions } from './options.ts'
import type { Toolmock } from './toolmock.ts'
import { ToolmockError } from './toolmock-error.ts'

const LOOPBACK = '127.0.0.1'

/**
 * Starts a mock in this process: in memory and on a free port, unless told otherwise.
 *
 *     await using mock = await createToolmock({ scenario: 'token-dies-mid-run' })
 *
 * @throws ToolmockError NOT_STARTED with what and where, for a file that cannot be used or an address that is taken
 */
export async function createToolmock(options: ToolmockOptions = {}): Promise<Toolmock> {
  // Whoever only connects to a server does not load one.
  const { createSimulator } = await import('../simulator.ts')
  const simulator = await createSimulator(simulatorOptions(options)).catch((error: unknown) => {
    throw notStarted(error)
  })
  const { host = LOOPBACK, port = 0, adminToken } = options
  try {
    const { url } = await simulator.listen({ host, port })
    return toolmockOf({
      control: new Control({ url, adminToken, own: true }, 'default'),
      env: variablesOf(url, simulator),
      end: () => simulator.close(),
    })
  } catch (error) {
    await simulator.close()
    throw notStarted(error)
  }
}

function variablesOf(url: string, { client, authorityFile }: Simulator) {
  return {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    ...(authorityFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorityFile }),
  }
}

function simulatorOptions(options: ToolmockOptions): SimulatorOptions {
  const { scenario, scenarios = [], clock, tls, journalSize, host = LOOPBACK, port: _port, ...same } = options
  const named = [...(scenario === undefined ? [] : [scenario]), ...scenarios]
  return {
    ...same,
    scenarios: named.length === 0 ? undefined : named,
    clock: clock === undefined ? undefined : instantOf(clock),
    journalCapacity: journalSize,
    tls: tls === true ? { hosts: [host] } : tls === false ? undefined : tls,
  }
}

/** @throws ToolmockError NOT_STARTED; a time without a zone would be read in the zone of the machine */
function instantOf(clock: string | Date): string {
  const at = clock instanceof Date ? clock.getTime() : INSTANT.test(clock) ? Date.parse(clock) : Number.NaN
  if (at >= 0) return new Date(at).toISOString()
  const message = `clock is ${JSON.stringify(clock)}; give an instant from 1970 on with its time zone, such as 2026-01-31T12:00:00Z, or a Date`
  throw new ToolmockError('NOT_STARTED', message)
}
const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

function notStarted(error: unknown): ToolmockError {
  if (error instanceof ToolmockError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ToolmockError('NOT_STARTED', `toolmock did not start: ${message}`, { cause: error })
}
