import { z } from 'zod'
import { isJsonObject, type JsonValue } from '../model/domain/json.ts'
import { mergeBundles } from '../model/domain/seed.ts'
import { quote } from '../model/domain/text.ts'
import { type Path, type Problem, problemValue, valuesAt } from '../model/schema/problems.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { References } from './connector-references.ts'
import { connectorSchema } from './connector.ts'
import { loadSeeds, withExtensions } from './load.ts'
import { BUNDLED } from './package-files.ts'
import { type FileProblem, UnreadableFileError } from './problem.ts'
import { fileProblems, type ReadDocument, readConfigDocument } from './read.ts'
import { scenarioSchema } from './scenario.ts'
import { seedSchema } from './seed.ts'
import { connectorsIn, type KnownConnectors } from './seed-checks.ts'
import { checkScenario } from './scenario-files.ts'
import { ofKind, problemsOfSources, readSources, seedProblems, type SeedSource } from './seed-files.ts'
import type { SourceText } from './source-text.ts'

export interface Validation {
  /** Every file, and what it was taken for. */
  files: { file: string; kind: ReadDocument['kind'] }[]
  problems: FileProblem[]
  /** What a start accepts and a user may still want to fix. */
  warnings: FileProblem[]
  unreadable: { file: string; reason: string }[]
  /** Files of folders that are not for the mock. */
  leftOut: string[]
  /** Files of cases, which are not checked here. */
  cases: SourceText[]
}

/** As `start` does: seeds as `--seed` takes them, `bundled` among them, scenarios as `--scenario` does. */
export async function validateFiles(paths: readonly string[], checks: DocumentChecks): Promise<Validation> {
  const unreadable: UnreadableFileError[] = []
  const sources: SeedSource[] = []
  for (const path of paths) {
    try {
      sources.push(...(await readSources([path], checks, unreadable)))
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error
      unreadable.push(error)
    }
  }
  const documents = sources.flatMap((source) => source.documents)
  // The bundled seed may come without its files.
  const files = sources.flatMap(({ path, documents: read }) =>
    read.length > 0 ? read.map(({ file, kind }) => ({ file, kind })) : [{ file: path, kind: 'seed' as const }],
  )
  // Here a file may be of any kind.
  const problems = problemsOfSources(sources.map((source) => ({ ...source, isMixed: true })))
  return {
    files: [...new Map(files.map((each) => [each.file, each])).values()],
    problems: [...problems, ...(await scenarioProblems(sources, documents, checks))],
    warnings: warningsOf(documents),
    unreadable: unreadable.map(({ file, reason }) => ({ file, reason })),
    leftOut: [...new Set(sources.flatMap((source) => source.leftOut))],
    cases: ofKind(documents, 'cases').map(({ source }) => source),
  }
}

interface SchemaPart {
  readonly title?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly anyOf?: readonly SchemaPart[]
}

interface Duration {
  readonly path: readonly string[]
  /** What a number without a unit is read in. */
  readonly unit: 'seconds' | 'milliseconds'
}

/** The durations of a document. Its schema is the only list of them: their titles end with the unit, as `duration, or seconds`. */
function durationsIn(schema: z.ZodType): Duration[] {
  const durations: Duration[] = []
  const visit = ({ title = '', properties = {}, items, anyOf = [] }: SchemaPart, path: readonly string[]): void => {
    const unit = /\bor (seconds|milliseconds)$/.exec(title)?.[1]
    // The key ms says its unit.
    if (unit !== undefined && path.at(-1) !== 'ms') durations.push({ path, unit: unit as Duration['unit'] })
    for (const [key, part] of Object.entries(properties)) visit(part, [...path, key])
    for (const part of anyOf) visit(part, path)
    if (items) visit(items, [...path, '*'])
  }
  visit(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as SchemaPart, [])
  return durations
}

/** Tools are handed to models, whose providers take fewer names than the service does. */
function nameForModels(name: JsonValue) {
  if (typeof name !== 'string' || /^[A-Za-z0-9_-]{1,64}$/.test(name)) return undefined
  return { found: `${quote(name)}, which models refuse`, allowed: '1 to 64 letters, digits, underscores and hyphens' }
}

/** A number without a unit means seconds in one place and milliseconds in another. */
function withoutUnit(value: JsonValue, unit: Duration['unit']) {
  // What is no duration is refused, and so is a text where a number means milliseconds.
  if (typeof value !== 'number' && (typeof value !== 'string' || unit === 'milliseconds')) return undefined
  if (!/^\d+(\.\d+)?$/.test(`${value}`)) return undefined
  return {
    found: `${value} without a unit, which is read as ${value} ${unit}`,
    allowed: `a unit, such as ${value}${unit === 'seconds' ? 's' : 'ms'}`,
  }
}

/** Values that are accepted and probably not what was meant, and responders that answer no tool. */
function warningsOf(documents: readonly ReadDocument[]): FileProblem[] {
  const warnings = Object.entries(SCHEMAS).flatMap(([kind, schema]) => {
    const durations = durationsIn(schema)
    return ofKind(documents, kind as keyof typeof SCHEMAS).flatMap(({ source }) => warningsIn(source, durations))
  })
  return [...new Map(warnings.map((warning) => [warning.message, warning])).values()]
}

const SCHEMAS = { seed: seedSchema, connector: connectorSchema, scenario: scenarioSchema }

function warningsIn(source: SourceText, durations: readonly Duration[]): FileProblem[] {
  const problems: Problem[] = []
  const judge = (path: Path, problem: Pick<Problem, 'found' | 'allowed'> | undefined): void => {
    if (problem) problems.push({ ...problem, path })
  }
  // Connectors are in files of their own, and in a seed.
  const connectors = [[], ['connectors', '*']].flatMap((at) => valuesAt(source.value, at))
  for (const { path: base, value: connector } of connectors) {
    for (const { path, value } of valuesAt(connector, ['tools', '*', 'name'], base)) judge(path, nameForModels(value))
    if (!isJsonObject(connector)) continue
    for (const { path, value } of SCHEMA_PLACES.flatMap((at) => valuesAt(connector, at, base)))
      for (const each of inexactNumbers(value, path)) judge(each.path, each)
    for (const each of new References(connector).unreachedResponders()) judge([...base, ...each.path], each)
  }
  for (const { path: at, unit } of durations)
    for (const { path, value } of valuesAt(source.value, at)) judge(path, withoutUnit(value, unit))
  return problems.map((problem) => source.problem(problem))
}

const SCHEMA_PLACES = [
  ['tools', '*', 'input_schema'],
  ['responders', '*', 'body_schema'],
]

/** Numbers of a schema that no double holds: validators compute with doubles (G75). */
function inexactNumbers(value: unknown, path: Path): Problem[] {
  if (typeof value === 'bigint') {
    const rounded = `${problemValue(value)}, which is computed with as ${String(Number(value))}`
    return [{ path, found: rounded, allowed: 'a number that a double holds' }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    inexactNumbers(each, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

async function scenarioProblems(
  sources: readonly SeedSource[],
  documents: readonly ReadDocument[],
  checks: DocumentChecks,
): Promise<FileProblem[]> {
  const scenarios = ofKind(documents, 'scenario')
  if (scenarios.length === 0) return []
  const connectors = await connectorsOf(sources, checks)
  const names = ofKind(documents, 'extension').flatMap(({ document }) => document?.extension ?? [])
  const extended = withExtensions(checks, { names })
  return scenarios.flatMap((each) => fileProblems(each, checkScenario(each.source.value, extended, connectors)))
}

/** Checks one document as it is sent, against the connectors that there are. */
export async function validateText(
  text: string,
  checks: DocumentChecks,
  connectors: KnownConnectors,
): Promise<{ kind: ReadDocument['kind']; problems: readonly FileProblem[] }> {
  const read = await readConfigDocument(text, 'body', checks)
  const { kind } = read
  if (kind === 'seed') return { kind, problems: seedProblems(read, connectors) }
  const others = kind === 'scenario' ? checkScenario(read.source.value, checks, connectors) : []
  return { kind, problems: fileProblems(read, others) }
}

/** Like a start without `--seed`, files that bring no seed have the bundled one. */
async function connectorsOf(sources: readonly SeedSource[], checks: DocumentChecks): Promise<KnownConnectors> {
  const isSeed = ({ path, documents }: SeedSource): boolean =>
    path === BUNDLED || documents.some(({ kind }) => kind === 'seed' || kind === 'connector')
  if (!sources.some(isSeed)) return connectorsIn(await loadSeeds([BUNDLED], checks))
  return connectorsIn(mergeBundles(sources.map(({ bundle }) => bundle)))
}
