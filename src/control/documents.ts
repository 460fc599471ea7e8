import { DocumentError } from '../documents/problem.ts'
import type { Connector } from '../domain/connector.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { SeedBundle } from '../domain/seed.ts'
import { knownConnectors } from '../scenarios/known-connectors.ts'
import type { Environment } from '../state/environment.ts'
import type { SentBody } from './body.ts'
import type { ControlContext } from './context.ts'
import { ControlError, faulty } from './control-error.ts'

/*
 * Documents that are sent instead of being read from files, by the same rules and with the same words. What reads them is
 * loaded when somebody sends one. Their places are lines and columns of the body.
 */

/** The seed in a body; its accounts may stand at connectors that the environment has. @throws DocumentError */
export async function seedIn(body: SentBody, context: ControlContext, environment?: Environment): Promise<SeedBundle> {
  const { parseSeed } = await import('../documents/seed-files.ts')
  return parseSeed(
    { file: 'body', text: body.text },
    context.documents,
    environment ? knownConnectors(environment) : new Map(),
  )
}

/**
 * A seed inside another body; its accounts may stand at the connectors of the server, if it has none of its own.
 * @throws ControlError with the path of every problem in the body
 */
export async function inlineSeed(seed: object, context: ControlContext): Promise<SeedBundle> {
  const [{ parseSeed }, { connectorsIn }] = await Promise.all([
    import('../documents/seed-files.ts'),
    import('../documents/seed-checks.ts'),
  ])
  const own = ['connectors', 'connections'].some((part) => Object.hasOwn(seed, part))
  const besides = own ? new Map<string, Connector>() : connectorsIn(await context.environments.serverSeed())
  try {
    return await parseSeed({ file: 'seed', text: JSON.stringify(seed) }, context.documents, besides)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    const faults = error.problems.map(({ path, found, allowed }) => ({ path: `seed.${path}`, found, allowed }))
    throw faulty('INVALID_DOCUMENT', faults)
  }
}

/** The connector in a body, whose name has to be the one of the path. @throws DocumentError, ControlError */
export async function connectorIn(body: SentBody, context: ControlContext, name: string): Promise<Connector> {
  const { parseConnector } = await import('../documents/read.ts')
  const connector = await parseConnector(body.text, 'body', context.documents)
  checkName('connector', connector.connector, name)
  return connector
}

/** The scenario in a body, whose name has to be the one of the path. @throws DocumentError, ControlError */
export async function scenarioIn(
  body: SentBody,
  context: ControlContext,
  { environment, name }: { environment: Environment; name: string },
): Promise<Scenario> {
  const { parseScenario } = await import('../documents/scenario-files.ts')
  const scenario = await parseScenario(
    { file: 'body', text: body.text },
    context.documents,
    knownConnectors(environment),
  )
  checkName('name', scenario.name, name)
  return scenario
}

function checkName(path: string, found: string, wanted: string): void {
  if (found === wanted) return
  throw faulty('INVALID_DOCUMENT', [
    { path, found: JSON.stringify(found), allowed: `${JSON.stringify(wanted)}, the name in the path` },
  ])
}

/** Names of environments, snapshots and scenarios are parts of paths. @throws ControlError INVALID_NAME */
export function checkedName(what: string, name: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name) && name !== '.' && name !== '..') return name
  const message = `${JSON.stringify(name.slice(0, 100))} is no name for ${what}; a name is 1 to 64 letters, digits, ".", "_" and "-"`
  throw new ControlError('INVALID_NAME', message)
}
