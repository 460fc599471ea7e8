import { type DocumentChecks } from './connector-checks.ts'
import { BUNDLED, loadSeeds } from './load-seeds.ts'
import { type Problem, UnreadableFileError } from './problem.ts'
import { connectorsIn, type KnownConnectors } from './seed-checks.ts'
import { problemsOfScenario } from './scenario-files.ts'
import { bundleOf, problemsOf, readSeedFiles, type SeedFiles, type TextFile, textFiles } from './seed-files.ts'

export interface Validation {
  /** Every file that was read and what it was taken for. */
  files: { file: string; kind: 'seed' | 'connector' | 'scenario' | 'unknown' }[]
  problems: Problem[]
  unreadable: { file: string; reason: string }[]
}

/**
 * Checks files and folders as one seed, each file as what it is. A seed or scenario may also refer to the bundled
 * connectors, because it may be meant to be added to them.
 */
export async function validateFiles(paths: readonly string[], checks: DocumentChecks): Promise<Validation> {
  const unreadable: Validation['unreadable'] = []
  const texts: TextFile[] = []
  for (const path of paths) {
    try {
      texts.push(...(await textFiles(path)))
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error
      unreadable.push({ file: error.file, reason: error.reason })
    }
  }
  const unique = [...new Map(texts.map((each) => [each.file, each])).values()]
  const read = await readSeedFiles(unique, checks)
  const referring = read.seeds.length + read.scenarios.length > 0
  const besides: KnownConnectors = referring ? connectorsIn(await loadSeeds([BUNDLED], checks)) : new Map()
  const kinds = new Map(
    [...read.seeds, ...read.connectors, ...read.scenarios].map(({ source, kind }) => [source.file, kind]),
  )
  const files = unique.map(({ file }) => ({ file, kind: kinds.get(file) ?? ('unknown' as const) }))
  const problems = [
    ...problemsOf({ ...read, scenarios: [] }, besides),
    ...(await scenarioProblems(read, besides, checks)),
  ]
  return { files, problems, unreadable }
}

/** A scenario may be about the connectors beside it, and about the bundled ones. */
async function scenarioProblems(read: SeedFiles, besides: KnownConnectors, checks: DocumentChecks): Promise<Problem[]> {
  if (read.scenarios.length === 0) return []
  const connectors = new Map([...besides, ...connectorsIn(bundleOf(read))])
  const operations = await checks.operations()
  return read.scenarios.flatMap((scenario) => problemsOfScenario(scenario, { operations, connectors }))
}
