import { accountsOf, connectionsOf } from './accounts.ts'
import { ANYTHING, checkNamed, type Kind } from './arguments.ts'
import { clockOf } from './clock.ts'
import { contractOf } from './contract.ts'
import type { Control } from './control.ts'
import { journalOf } from './journal.ts'
import { linksOf } from './links.ts'
import { scenariosOf } from './scenarios.ts'
import { snapshotsOf } from './snapshots.ts'
import type { EnvironmentOptions, Toolmock, ToolmockEnvironment } from './toolmock.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { Variables } from './variables.ts'

/** How an environment is reached by the client under test, and how it ends. */
export interface EnvironmentParts {
  readonly control: Control
  readonly env: Variables
  /** Called once. */
  readonly end: () => Promise<void>
}

/** An environment with everything that a test does to it. */
function environmentOf({ control, env, end }: EnvironmentParts): ToolmockEnvironment {
  let ended: Promise<void> | undefined
  const close = (): Promise<void> => (ended ??= ending(control, end))
  return {
    name: control.environment,
    url: env.TOOLMOCK_URL,
    clientId: env.TOOLMOCK_CLIENT_ID,
    clientSecret: env.TOOLMOCK_CLIENT_SECRET,
    env,
    clock: clockOf(control),
    accounts: accountsOf(control),
    connections: connectionsOf(control),
    links: linksOf(control),
    journal: journalOf(control),
    contract: contractOf(control),
    scenarios: scenariosOf(control),
    snapshots: snapshotsOf(control),
    reset: async () => {
      await control.call('POST /reset')
    },
    seed: async (document) => {
      await control.call('POST /seed', { body: document })
    },
    connector: async (document) => {
      await control.call('PUT /connectors/{name}', { path: { name: document.connector }, body: document })
    },
    state: () => control.call('GET /state'),
    replaceState: async (state) => {
      await control.call('PUT /state', { body: state })
    },
    close,
    // Where the platform has no such symbol this is a member that nobody calls.
    [Symbol.asyncDispose]: close,
  }
}

/** A server with one of its environments. */
export function toolmockOf(parts: EnvironmentParts): Toolmock {
  return {
    ...environmentOf(parts),
    environment: (name, options) => createEnvironment(parts, name, options),
  }
}

const KINDS = { seed: ANYTHING, clock: ANYTHING, freeze: ANYTHING, idSeed: ANYTHING } satisfies Record<
  keyof EnvironmentOptions,
  Kind
>

async function createEnvironment(
  { control: server, env }: EnvironmentParts,
  name: string | undefined,
  options: EnvironmentOptions = {},
): Promise<ToolmockEnvironment> {
  checkNamed('environment', options, KINDS)
  const { seed, clock, freeze, idSeed } = options
  const start = freeze === undefined ? clock : { now: clock, frozen: freeze }
  const created = await server.call('POST /environments', { body: { name, seed, clock: start, id_seed: idSeed } })
  const control = server.in(created.name)
  return environmentOf({
    control,
    env: { ...env, TOOLMOCK_CLIENT_ID: created.client_id, TOOLMOCK_CLIENT_SECRET: created.client_secret },
    end: () => remove(server.in(created.name)),
  })
}

/** The environment may be gone with its server, or by another hand. */
async function remove(control: Control): Promise<void> {
  try {
    await control.call('DELETE /environments/{name}', { path: { name: control.environment } })
  } catch (error) {
    if (!(error instanceof ToolmockError && GONE.has(error.code))) throw error
  }
}
const GONE: ReadonlySet<string> = new Set(['ENVIRONMENT_NOT_FOUND', 'UNREACHABLE', 'CLOSED'])

function ending(control: Control, end: () => Promise<void>): Promise<void> {
  control.close()
  return end()
}
