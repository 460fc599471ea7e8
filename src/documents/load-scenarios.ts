import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isScenarioPath, type Scenario } from '../domain/scenario.ts'
import { StartError } from '../domain/start-error.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { bundledScenarioFolder } from './load-seeds.ts'
import { UnreadableFileError } from './problem.ts'
import type { KnownConnectors } from './seed-checks.ts'

/** The parser and its schemas are loaded when the first scenario is read. */
const loadParser = lazyImport(async () => {
  const [{ textOf }, { readDocument }, { toScenario }, { parseScenario }] = await Promise.all([
    import('./seed-files.ts'),
    import('./read.ts'),
    import('./scenario.ts'),
    import('./scenario-files.ts'),
  ])
  return { textOf, readDocument, toScenario, parseScenario }
})

export async function bundledScenarioNames(): Promise<string[]> {
  const folder = bundledScenarioFolder()
  const entries = await readdir(folder).catch((error: unknown) => {
    throw new UnreadableFileError(folder, `it cannot be read (${String(error)})`)
  })
  return entries.flatMap((entry) => (entry.endsWith('.yaml') ? [entry.slice(0, -'.yaml'.length)] : [])).sort()
}

/** What is read with a scenario: the checks, and the connectors it may be about. */
export interface ScenarioContext {
  readonly checks: DocumentChecks
  readonly connectors: KnownConnectors
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
    const scenario = isScenarioPath(name) ? await readScenarioFile(name, context) : await loadNamed(name, context)
    const twice = scenarios.some((other) => other.name === scenario.name)
    if (twice) throw new StartError(`scenario ${scenario.name} is given for the second time; give each once`)
    scenarios.push(scenario)
  }
  return scenarios
}

/** A bundled scenario; undefined when there is none of this name. @throws DocumentError when its connectors are missing */
export async function bundledScenario(name: string, context: ScenarioContext): Promise<Scenario | undefined> {
  if (!(await bundledScenarioNames()).includes(name)) return undefined
  return readScenarioFile(join(bundledScenarioFolder(), `${name}.yaml`), context)
}

/** Every bundled scenario, in the order of their names; connectors that they name need not exist, because they are only shown. */
export async function bundledScenarios(checks: DocumentChecks): Promise<Scenario[]> {
  const { textOf, readDocument, toScenario } = await loadParser()
  const scenarios: Scenario[] = []
  for (const name of await bundledScenarioNames()) {
    const file = join(bundledScenarioFolder(), `${name}.yaml`)
    const text = await textOf(file)
    const read = await readDocument(text, file, checks)
    if (read.kind === 'scenario' && read.document) scenarios.push({ ...toScenario(read.document), text })
  }
  return scenarios
}

async function loadNamed(name: string, context: ScenarioContext): Promise<Scenario> {
  for (const seed of context.seeds ?? []) {
    const file = join(seed, 'scenarios', `${name}.yaml`)
    const isThere = await stat(file).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isThere) return readScenarioFile(file, context)
  }
  const scenario = await bundledScenario(name, context)
  if (scenario) return scenario
  const names = await bundledScenarioNames()
  throw new StartError(
    `there is no bundled scenario ${JSON.stringify(name)}${didYouMean(name, names)}; there are ${names.join(', ')}, or give the path of a file`,
  )
}

async function readScenarioFile(file: string, { checks, connectors }: ScenarioContext): Promise<Scenario> {
  const { textOf, parseScenario } = await loadParser()
  return parseScenario({ file, text: await textOf(file) }, checks, connectors)
}
