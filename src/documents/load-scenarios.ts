import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isScenarioPath, type Scenario } from '../domain/scenario.ts'
import { StartError } from '../domain/start-error.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { bundledFile, bundledFileNamed, bundledNames } from './package-files.ts'
import type { KnownConnectors } from './seed-checks.ts'
import { readTextFile } from './text-files.ts'

/** The parser and its schemas are loaded when the first scenario is read. */
const loadParser = lazyImport(() => import('./scenario-files.ts'))

/** What is read with a scenario: the checks, and the connectors it may be about. */
export interface ScenarioContext {
  readonly checks: DocumentChecks
  /** Undefined for a scenario that is only shown: connectors that it names need not exist. */
  readonly connectors: KnownConnectors | undefined
  /** The seeds of the server: a folder of them can have scenarios of its own. */
  readonly seeds?: readonly string[] | undefined
}

/**
 * The scenarios that `--scenario` names, in order: one of the folder `scenarios` in a seed, or a bundled one, by its name, or a
 * file by its path.
 * @throws StartError for an unknown name, DocumentError with every problem, UnreadableFileError
 */
export async function loadScenarios(names: readonly string[], context: ScenarioContext): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  for (const name of names) {
    const file = isScenarioPath(name) ? name : await fileNamed(name, context.seeds ?? [])
    const scenario = await readScenarioFile(file, context)
    const twice = scenarios.some((other) => other.name === scenario.name)
    if (twice) throw new StartError(`scenario ${scenario.name} is given for the second time; give each once`)
    scenarios.push(scenario)
  }
  return scenarios
}

/** A bundled scenario; undefined when there is none of this name. @throws DocumentError when its connectors are missing */
export async function bundledScenario(name: string, context: ScenarioContext): Promise<Scenario | undefined> {
  if (!(await bundledNames('scenario')).includes(name)) return undefined
  return readScenarioFile(bundledFile('scenario', name), context)
}

/** Every bundled scenario, in the order of their names, to be shown. */
export async function bundledScenarios(checks: DocumentChecks): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  for (const name of await bundledNames('scenario')) {
    scenarios.push(await readScenarioFile(bundledFile('scenario', name), { checks, connectors: undefined }))
  }
  return scenarios
}

async function fileNamed(name: string, seeds: readonly string[]): Promise<string> {
  for (const seed of seeds) {
    const file = join(seed, 'scenarios', `${name}.yaml`)
    const isThere = await stat(file).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isThere) return file
  }
  return bundledFileNamed('scenario', name)
}

async function readScenarioFile(file: string, { checks, connectors }: ScenarioContext): Promise<Scenario> {
  const { parseScenario } = await loadParser()
  return parseScenario({ file, text: await readTextFile(file) }, checks, connectors)
}
