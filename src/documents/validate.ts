import { isJsonObject } from '../domain/json.ts'
import { mergeBundles } from '../domain/seed.ts'
import { quote } from '../domain/text.ts'
import { valuesAt } from '../schema/findings.ts'
import { type DocumentChecks, ToolSchemaCheck } from './connector-checks.ts'
import { unreachedResponders } from './connector-references.ts'
import { BUNDLED, BUNDLED_SEED, loadSeeds } from './load-seeds.ts'
import { type Problem, UnreadableFileError } from './problem.ts'
import { type ReadDocument, readDocument } from './read.ts'
import { problemsOfSources, type ReadSource, readSource } from './read-bundles.ts'
import { connectorsIn, type KnownConnectors } from './seed-checks.ts'
import { problemsOfScenario } from './scenario-files.ts'
import { problemsOfSeed, type SeedFiles } from './seed-files.ts'

export interface Validation {
  files: SeedFiles['files']
  problems: Problem[]
  /** What a start accepts and a user may still want to mend. */
  warnings: Problem[]
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
    warnings: [...nameWarnings(sources), ...responderWarnings(sources)],
    unreadable,
  }
}

const TOOL_NAMES = [
  ['tools', '*', 'name'],
  ['connectors', '*', 'tools', '*', 'name'],
]

/** Tools are handed to models, whose providers take fewer names than the service does. */
function nameWarnings(sources: readonly ReadSource[]): Problem[] {
  const documents = sources.flatMap(({ files }) => [...(files?.seeds ?? []), ...(files?.connectors ?? [])])
  const warnings = documents.flatMap(({ source }) =>
    TOOL_NAMES.flatMap((path) => valuesAt(source.value, path)).flatMap(({ path, value }) => {
      if (typeof value !== 'string' || /^[A-Za-z0-9_-]{1,64}$/.test(value)) return []
      const found = `${quote(value)}, which models refuse`
      return [source.problem({ path, found, allowed: '1 to 64 letters, digits, underscores and hyphens' })]
    }),
  )
  return [...new Map(warnings.map((warning) => [warning.message, warning])).values()]
}

/** Responders that answer no tool. */
function responderWarnings(sources: readonly ReadSource[]): Problem[] {
  const documents = sources.flatMap(({ files }) => files?.connectors ?? [])
  const warnings = documents.flatMap(({ source }) =>
    isJsonObject(source.value) ? unreachedResponders(source.value).map((finding) => source.problem(finding)) : [],
  )
  return [...new Map(warnings.map((warning) => [warning.message, warning])).values()]
}

async function scenarioProblems(sources: readonly ReadSource[], checks: DocumentChecks): Promise<Problem[]> {
  const scenarios = sources.flatMap(({ files }) => files?.scenarios ?? [])
  if (scenarios.length === 0) return []
  const connectors = await connectorsOf(sources, checks)
  const { operations } = checks
  return scenarios.flatMap((scenario) => problemsOfScenario(scenario, { operations, connectors }))
}

/** Checks one document as it is sent, against the connectors that there are. */
export async function validateText(
  text: string,
  checks: DocumentChecks,
  connectors: KnownConnectors,
): Promise<{ kind: ReadDocument['kind']; problems: readonly Problem[] }> {
  const file = 'body'
  const read = await readDocument(text, file, { ...checks, toolSchemas: new ToolSchemaCheck() })
  const { kind } = read
  switch (kind) {
    case 'scenario':
      return { kind, problems: problemsOfScenario(read, { operations: checks.operations, connectors }) }
    case 'seed':
      return { kind, problems: await problemsOfSeed({ text, file }, checks, connectors) }
    case 'connector':
    case 'unknown':
      return { kind, problems: read.problems }
  }
}

/** Like a start without `--seed`, files that bring no seed have the bundled one. */
async function connectorsOf(sources: readonly ReadSource[], checks: DocumentChecks): Promise<KnownConnectors> {
  const isSeed = ({ files }: ReadSource): boolean => !files || files.seeds.length + files.connectors.length > 0
  if (!sources.some(isSeed)) return connectorsIn(await loadSeeds([BUNDLED], checks))
  return connectorsIn(mergeBundles(sources.map(({ bundle }) => bundle)))
}
