import { DocumentError } from '../documents/problem.ts'
import type { Connector } from '../domain/connector.ts'
import type { JsonObject } from '../domain/json.ts'
import type { SeedBundle } from '../domain/seed.ts'
import { addressOf } from '../http/node-request.ts'
import { checkedName, environmentNamed, type Reply, type ServerCall } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'

export async function createEnvironment(call: ServerCall<'create_environment'>): Promise<Reply> {
  const { services, request, body } = call
  const { environment, client } = await services.environments.create({
    name: body.name === undefined ? undefined : checkedName('an environment', body.name),
    seed: body.seed && (await seedOf(call, body.seed)),
    clock: body.clock,
    idSeed: body.id_seed,
  })
  const created = {
    name: environment.name,
    client_id: client.id,
    client_secret: client.client_secret,
    base_url: addressOf(request, services.baseUrl),
  }
  return { status: 201, body: created }
}

export function deleteEnvironment({ services, path: { name } }: ServerCall<'delete_environment'>): Reply {
  const { environments, journals, records, scenarios } = services
  if (name === 'default') {
    const message =
      'the environment default cannot be deleted, because calls without ?environment= use it; reset it instead'
    throw new ControlError('ENVIRONMENT_REQUIRED', message)
  }
  const environment = environmentNamed(services, name)
  const history = scenarios.of(environment).history()
  environments.remove(name)
  const onceDurable = (): void => {
    journals.remove(environment)
    records.removed(name, history)
  }
  return { body: {}, onceDurable }
}

/**
 * The seed in the body. When it has no connectors and connections of its own, its accounts can use those of the server.
 * @throws ControlError with the path of every problem in the body
 */
async function seedOf({ services }: ServerCall<'create_environment'>, seed: JsonObject): Promise<SeedBundle> {
  const [{ parseSeed }, { connectorsIn }] = await Promise.all([
    import('../documents/seed-files.ts'),
    import('../documents/seed-checks.ts'),
  ])
  const own = ['connectors', 'connections'].some((part) => Object.hasOwn(seed, part))
  const connectors = own ? new Map<string, Connector>() : connectorsIn(await services.environments.serverSeed())
  try {
    return await parseSeed({ file: 'seed', text: JSON.stringify(seed) }, services.documentChecks, connectors)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    // The problems have lines and columns of a text that the caller has not sent.
    const problems = error.problems.map(({ path, found, allowed }) => ({ path: `seed.${path}`, found, allowed }))
    throw invalidInput('INVALID_DOCUMENT', problems)
  }
}
