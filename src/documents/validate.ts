import { mergeBundles } from '../domain/seed.ts'
import { type DocumentChecks } from './connector-checks.ts'
import { BUNDLED, BUNDLED_SEED, loadSeeds } from './load-seeds.ts'
import { type Problem, UnreadableFileError } from './problem.ts'
import { problemsOfSources, type ReadSource, readSource } from './read-bundles.ts'
import { connectorsIn, type KnownConnectors } from './seed-checks.ts'
import { problemsOfScenario } from './scenario-files.ts'
import type { SeedFiles } from './seed-files.ts'

export interface Validation {
  files: SeedFiles['files']
  problems: Problem[]
  unreadable: { file: string; reason: string }[]
}

/**
 * Checks files and folders as a start with all of them would: seeds as `--seed` takes them, `bundled` among them, scenarios as
 * `--scenario` does.
 */
export async function validateFiles(paths: readonly string[], checks: DocumentChecks): Promise<Validation> {
  const unreadable: Validation['unreadable'] = []
  const sources: ReadSource[] = []
  for (const path of paths) {
    try {
      sources.push(await readSource(path, checks, BUNDLED_SEED))
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error
      unreadable.push({ file: error.file, reason: error.reason })
    }
  }
  const seeds = sources.map(({ files, ...source }) => ({
    ...source,
    ...(files && { files: { ...files, scenarios: [] } }),
  }))
  const files = sources.flatMap((source) => source.files?.files ?? [])
  return {
    files: [...new Map(files.map((each) => [each.file, each])).values()],
    problems: [...problemsOfSources(seeds), ...(await scenarioProblems(sources, checks))],
    unreadable,
  }
}

async function scenarioProblems(sources: readonly ReadSource[], checks: DocumentChecks): Promise<Problem[]> {
  const scenarios = sources.flatMap(({ files }) => files?.scenarios ?? [])
  if (scenarios.length === 0) return []
  const connectors = await connectorsOf(sources, checks)
  const { operations } = checks
  return scenarios.flatMap((scenario) => problemsOfScenario(scenario, { operations, connectors }))
}

/** Like a start without `--seed`, files that bring no seed have the bundled one. */
async function connectorsOf(sources: readonly ReadSource[], checks: DocumentChecks): Promise<KnownConnectors> {
  const isSeed = ({ files }: ReadSource): boolean => !files || files.seeds.length + files.connectors.length > 0
  if (!sources.some(isSeed)) return connectorsIn(await loadSeeds([BUNDLED], checks))
  return connectorsIn(mergeBundles(sources.map(({ bundle }) => bundle)))
}
