import { isAbsolute, relative } from 'node:path'
import { DocumentError } from '../../files/problem.ts'
import type { Connector } from '../../model/domain/connector.ts'
import type { Environment } from '../../state/environment.ts'
import { type JsonObject, jsonText } from '../../model/domain/json.ts'
import type { SeedBundle } from '../../model/domain/seed.ts'
import { bundledScenario } from '../../files/load.ts'
import { bundledNames } from '../../files/package-files.ts'
import type { Scenario } from '../../model/domain/scenario.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import { quote } from '../../model/domain/text.ts'
import { callerBaseUrl } from '../../model/domain/request-headers.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { checkedName, environmentNamed, type ServerCall, type ControlHandlers } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'

export function labelOf({ model }: Environment): string | null {
  return model.tables.origins.get('origin')?.test?.label ?? null
}

export const environmentHandlers = {
  list_environments: ({ services: { registry, journals } }) => {
    const environments = registry.environments().map((environment) => ({
      name: environment.name,
      label: labelOf(environment),
      client_ids: [...environment.model.tables.clients.values()].map(({ id }) => id),
      accounts: environment.model.tables.accounts.size,
      requests: journals.of(environment).size,
    }))
    return { body: { environments } }
  },

  create_environment: async (call) => {
    const { services, request, body } = call
    const seed = body.seed && (await requestedSeed(call, body.seed))
    const { environment, client } = await services.environments.create({
      name: body.name === undefined ? undefined : checkedName('an environment', body.name),
      seed,
      clock: typeof body.clock === 'string' ? { now: body.clock } : body.clock,
      idSeed: body.id_seed,
      scenarios: body.scenarios && (await requestedScenarios(call, body.scenarios, seed)),
      test: environmentTest(body),
    })
    const created = {
      name: environment.name,
      client_id: client.id,
      client_secret: client.client_secret,
      base_url: callerBaseUrl(request, services.baseUrl),
    }
    return { status: 201, body: created }
  },

  delete_environment: ({ services, path: { name } }) => {
    const { registry, journals, records, scenarios } = services
    if (name === 'default') {
      const message =
        'the environment default cannot be deleted, because calls without ?environment= use it; reset it instead'
      throw new ControlError('ENVIRONMENT_REQUIRED', message)
    }
    const environment = environmentNamed(services, name)
    const history = scenarios.of(environment).history()
    registry.remove(name)
    const onceDurable = (): void => {
      scenarios.of(environment).release()
      journals.remove(environment)
      records.removed(name, history)
    }
    return { body: {}, onceDurable }
  },
} satisfies Partial<ControlHandlers>

const loadParsers = lazyImport(async () => {
  const [{ parseSeed }, { parseScenario }, { connectorsIn }] = await Promise.all([
    import('../../files/seed-files.ts'),
    import('../../files/scenario-files.ts'),
    import('../../files/seed-checks.ts'),
  ])
  return { parseSeed, parseScenario, connectorsIn }
})

/** One without connectors and connections uses those of the server. @throws ControlError with every problem's path */
export async function requestedSeed(
  { services }: Pick<ServerCall<'create_environment'>, 'services'>,
  seed: JsonObject,
): Promise<SeedBundle> {
  const { parseSeed, connectorsIn } = await loadParsers()
  const hasConnectors = ['connectors', 'connections'].some((part) => Object.hasOwn(seed, part))
  const connectors = hasConnectors
    ? new Map<string, Connector>()
    : connectorsIn(await services.environments.serverSeed())
  try {
    return await parseSeed({ file: 'seed', text: jsonText(seed) }, services.documentChecks, connectors)
  } catch (error) {
    throw documentProblems(error, 'seed')
  }
}

/** The scenarios in the body: bundled ones by their names, others as documents. @throws ControlError with every problem */
async function requestedScenarios(
  { services }: ServerCall<'create_environment'>,
  requested: readonly (string | JsonObject)[],
  seed: SeedBundle | undefined,
): Promise<Scenario[]> {
  const { parseScenario, connectorsIn } = await loadParsers()
  const ofServer = connectorsIn(await services.environments.serverSeed())
  const context = { checks: services.documentChecks, connectors: seed ? connectorsIn(seed, ofServer) : ofServer }
  const bundled = async (name: string, at: number): Promise<Scenario> => {
    const scenario = await bundledScenario(name, context)
    if (scenario) return scenario
    const names = await bundledNames('scenario')
    const problem = {
      path: ['scenarios', at],
      found: `${quote(name)}${didYouMean(name, names)}`,
      allowed: `a scenario document, or one of ${names.join(', ')}`,
    }
    throw invalidInput('INVALID_BODY', [problem])
  }
  const parsed = (document: JsonObject, at: number): Promise<Scenario> => {
    const source = { file: 'scenario', text: jsonText(document) }
    return parseScenario(source, context.checks, context.connectors).catch((error: unknown) => {
      throw documentProblems(error, `scenarios[${at}]`)
    })
  }
  const scenarios: Scenario[] = []
  for (const [at, each] of requested.entries()) {
    const scenario = typeof each === 'string' ? await bundled(each, at) : await parsed(each, at)
    if (scenarios.some(({ name }) => name === scenario.name)) {
      const problem = { path: ['scenarios', at], found: `${quote(scenario.name)} again`, allowed: 'each scenario once' }
      throw invalidInput('INVALID_BODY', [problem])
    }
    scenarios.push(scenario)
  }
  return scenarios
}

/** Reports and CI systems name files by their paths below the folder in which the server was started. */
function environmentTest({ label, file, line }: ServerCall<'create_environment'>['body']): TestLabel | undefined {
  if (label === undefined) return undefined
  const below = file !== undefined && isAbsolute(file) ? relative(process.cwd(), file) : file
  const path = below === undefined || below.startsWith('..') ? file : below.replaceAll('\\', '/')
  return { label, ...(path !== undefined && { file: path }), ...(line !== undefined && { line }) }
}

/** The problems have lines and columns of a text that the caller has not sent. */
function documentProblems(error: unknown, at: string): unknown {
  if (!(error instanceof DocumentError)) return error
  const problems = error.problems.map(({ path, found, allowed }) => ({
    path: path === '' ? at : `${at}.${path}`,
    found,
    allowed,
  }))
  return invalidInput('INVALID_DOCUMENT', problems)
}
