import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { conflictWith, type Extension } from '../model/domain/extension.ts'
import { isScenarioPath, partsOfName, type Scenario } from '../model/domain/scenario.ts'
import { type SeedBundle, withDefaultClient } from '../model/domain/seed.ts'
import { StartError } from '../model/domain/start-error.ts'
import { lazyImport } from '../model/domain/once.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { BUNDLED, bundledFile, bundledNames, parsedBundledSeed } from './package-files.ts'
import type { KnownConnectors } from './seed-checks.ts'
import { readTextFile, readTextFiles, type TextFile } from './text-files.ts'

/* What parses each kind is loaded with its first document: a start with the bundled seed loads neither YAML nor zod. */

const loadSeedFiles = lazyImport(() => import('./seed-files.ts'))
const loadReader = lazyImport(() => import('./read.ts'))
const loadScenarioFiles = lazyImport(() => import('./scenario-files.ts'))

/** `note` gets what the files do not say. @throws DocumentError with the problems of all files; UnreadableFileError */
export async function loadSeeds(
  paths: readonly string[],
  checks: DocumentChecks,
  note: (line: string) => void = () => undefined,
): Promise<SeedBundle> {
  const isBundled = paths.length === 1 && paths[0] === BUNDLED
  const parsed = isBundled ? await parsedBundledSeed() : undefined
  if (parsed) return withDefaultClient(parsed)
  const { notesOn, readSources, soundBundle } = await loadSeedFiles()
  const sources = await readSources(paths, checks)
  const bundle = soundBundle(sources)
  for (const line of sources.flatMap(notesOn)) note(line)
  return withDefaultClient(bundle)
}

/**
 * The extensions that `--extension` names, in order: a bundled one by its name, or a file by its path. Those in seed folders follow.
 * @throws StartError for an unknown name, or two that answer the same; DocumentError with every problem, UnreadableFileError
 */
export async function loadExtensions(
  {
    extensions: names = [],
    seeds = [],
  }: { extensions?: readonly string[] | undefined; seeds?: readonly string[] | undefined },
  checks: DocumentChecks,
): Promise<Extension[]> {
  const extensions: Extension[] = []
  const folders = seeds.filter((path) => path !== BUNDLED)
  if (names.length + folders.length === 0) return extensions
  const { parseExtension, readConfigDocument: readDocument } = await loadReader()
  const add = async (file: string, text: string): Promise<void> => {
    const extension = await parseExtension(text, file, checks)
    const conflict = conflictWith(extension, extensions)
    if (conflict !== undefined) throw new StartError(`${file}: ${conflict}`)
    extensions.push(extension)
  }
  for (const name of names) {
    const { file, text } = isScenarioPath(name) ? await textFile(name) : await bundledFile('extension', name)
    await add(file, text)
  }
  for (const { file, text } of (await Promise.all(folders.map((folder) => readTextFiles(folder)))).flat()) {
    // Other files of a seed need not be read for this.
    if (!/(?:^|[{,])\s*["']?extension["']?\s*:/m.test(text)) continue
    const { kind } = await readDocument(text, file, checks)
    if (kind === 'extension') await add(file, text)
  }
  return extensions
}

/** What a third party and an extension may answer. */
export const ANY_STATUS = Array.from({ length: 400 }, (_, at) => 200 + at)

/** The checks of a server with these extensions, which scenarios name as operations; there may be more later. */
export function withExtensions(
  checks: DocumentChecks,
  extensions: { readonly names: readonly string[] },
): DocumentChecks {
  return {
    ...checks,
    get operations() {
      return new Map([...checks.operations, ...extensions.names.map((name) => [name, ANY_STATUS] as const)])
    },
  }
}

export interface ScenarioContext {
  readonly checks: DocumentChecks
  /** Undefined for a scenario that is only shown: connectors that it names need not exist. */
  readonly connectors: KnownConnectors | undefined
  /** The seeds of the server: a folder of them can have scenarios of its own. */
  readonly seeds?: readonly string[] | undefined
}

/**
 * By name and parameters, of the folder `scenarios` in a seed or bundled, or by the path of a file. @throws StartError
 * for an unknown name, DocumentError with every problem, UnreadableFileError
 */
export async function loadScenarios(names: readonly string[], context: ScenarioContext): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  for (const name of names) {
    const [plainName, parameters] = partsOfName(name)
    const scenario = isScenarioPath(name)
      ? await parseScenarioFile(await textFile(name), context)
      : await parseScenarioFile(await scenarioFile(plainName, context.seeds ?? []), context, parameters)
    const twice = scenarios.some((namesake) => namesake.name === scenario.name)
    if (twice) throw new StartError(`scenario ${scenario.name} is given for the second time; give each once`)
    scenarios.push(scenario)
  }
  return scenarios
}

/** Undefined when there is none of this name. @throws DocumentError when its connectors or parameters do not fit */
export async function bundledScenario(name: string, context: ScenarioContext): Promise<Scenario | undefined> {
  const [plainName, parameters] = partsOfName(name)
  if (!(await bundledNames('scenario')).includes(plainName)) return undefined
  return parseScenarioFile(await bundledFile('scenario', plainName), context, parameters)
}

/** Every bundled scenario, in the order of their names, to be shown. */
export async function bundledScenarios(checks: DocumentChecks): Promise<Scenario[]> {
  return loadScenarios(await bundledNames('scenario'), { checks, connectors: undefined })
}

async function scenarioFile(name: string, seeds: readonly string[]): Promise<TextFile> {
  for (const seed of seeds) {
    const file = join(seed, 'scenarios', `${name}.yaml`)
    const isThere = await stat(file).then(
      (stats) => stats.isFile(),
      () => false,
    )
    if (isThere) return textFile(file)
  }
  return bundledFile('scenario', name)
}

async function textFile(file: string): Promise<TextFile> {
  return { file, text: await readTextFile(file) }
}

async function parseScenarioFile(source: TextFile, context: ScenarioContext, parameters = ''): Promise<Scenario> {
  const { parseScenario, scenarioWithParameters: withParameters } = await loadScenarioFiles()
  return parseScenario(
    parameters === '' ? source : withParameters(source, parameters),
    context.checks,
    context.connectors,
  )
}
