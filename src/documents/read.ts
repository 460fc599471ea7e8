import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import type { Connector } from '../domain/connector.ts'
import { type CheckContext, checkConnector, type DocumentChecks } from './connector-checks.ts'
import { toConnector } from './connector-document.ts'
import { connectorSchema } from './connector-schema.ts'
import { findingsOf } from './findings.ts'
import { DocumentError, type Finding, type Path, type Problem, shown } from './problem.ts'
import { type SeedDocument, seedSchema } from './seed-schema.ts'
import { type ScenarioDocument, scenarioSchema } from './scenario-schema.ts'
import { ToolSchemaCheck } from './tool-schema.ts'
import { SourceText } from './source-text.ts'
import { vocabularyFindings, vocabularyIn } from './vocabulary-checks.ts'

/** A file as far as it could be read on its own: what it holds when its shape is right, and what is wrong with it. */
export type ReadDocument = ReadConnector | ReadSeed | ReadScenario | UnknownDocument

export interface ReadConnector {
  kind: 'connector'
  source: SourceText
  connector: Connector | undefined
  problems: Problem[]
}

export interface ReadSeed {
  kind: 'seed'
  source: SourceText
  document: SeedDocument | undefined
  problems: Problem[]
}

export interface ReadScenario {
  kind: 'scenario'
  source: SourceText
  document: ScenarioDocument | undefined
  /** Of its shape; the rest depends on the connectors there are. */
  findings: readonly Finding[]
}

interface UnknownDocument {
  kind: 'unknown'
  problems: readonly Problem[]
}

/**
 * Reads one YAML or JSON text and recognises what it is: a file with `connector` at its top is a connector, one with `rules`
 * or `name` a scenario, others are seeds.
 */
export async function readDocument(text: string, file: string, context: CheckContext): Promise<ReadDocument> {
  const source = open(text, file)
  if (!(source instanceof SourceText)) return { kind: 'unknown', problems: source }
  if (!isJsonObject(source.value)) {
    const finding = { path: [], found: shown(source.value), allowed: 'an object: a seed, a connector or a scenario' }
    return { kind: 'unknown', problems: [source.problem(finding)] }
  }
  const has = (key: string): boolean => own(source.value as JsonObject, key) !== undefined
  if (has('connector')) return readConnector(source, context)
  return has('rules') || has('name') ? readScenario(source) : readSeed(source, context)
}

/** One connector document. @throws DocumentError with everything that is wrong with it */
export async function parseConnector(text: string, file: string, checks: DocumentChecks): Promise<Connector> {
  const source = open(text, file)
  if (!(source instanceof SourceText)) throw new DocumentError(source)
  const { connector, problems } = await readConnector(source, { ...checks, toolSchemas: new ToolSchemaCheck() })
  if (!connector || problems.length > 0) throw new DocumentError(problems)
  return connector
}

/** The problems of a source in the order in which they stand in the file, each place and text once. */
export function located(source: SourceText, findings: readonly Finding[]): Problem[] {
  const problems = new Map(
    findings.map((finding) => source.problem(finding)).map((problem) => [problem.message, problem]),
  )
  return [...problems.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}

async function readConnector(source: SourceText, context: CheckContext): Promise<ReadConnector> {
  const result = connectorSchema.safeParse(source.value)
  const shape = result.success ? [] : findingsOf(result.error.issues, source)
  const problems = located(source, [...shape, ...(await checkConnector(source.value, context))])
  return { kind: 'connector', source, connector: result.success ? toConnector(result.data) : undefined, problems }
}

function readScenario(source: SourceText): ReadScenario {
  const result = scenarioSchema.safeParse(source.value)
  const findings = result.success ? [] : findingsOf(result.error.issues, source)
  return { kind: 'scenario', source, document: result.success ? result.data : undefined, findings }
}

async function readSeed(source: SourceText, context: CheckContext): Promise<ReadSeed> {
  const result = seedSchema.safeParse(source.value)
  const findings = result.success ? [] : findingsOf(result.error.issues, source)
  for (const [index, document] of inlineConnectors(source.value)) {
    const inside: Path = ['connectors', index]
    for (const finding of await checkConnector(document, context)) {
      findings.push({ ...finding, path: [...inside, ...finding.path] })
    }
  }
  const vocabulary = vocabularyIn(source.value)
  if (vocabulary) findings.push(...vocabularyFindings(vocabulary, await context.words()))
  return {
    kind: 'seed',
    source,
    document: result.success ? result.data : undefined,
    problems: located(source, findings),
  }
}

function inlineConnectors(seed: JsonValue): [number, JsonObject][] {
  const connectors = isJsonObject(seed) ? own(seed, 'connectors') : undefined
  if (!Array.isArray(connectors)) return []
  return connectors.flatMap((item, index): [number, JsonObject][] => (isJsonObject(item) ? [[index, item]] : []))
}

function open(text: string, file: string): SourceText | readonly Problem[] {
  try {
    return new SourceText(text, file)
  } catch (error) {
    if (error instanceof DocumentError) return error.problems
    throw error
  }
}
