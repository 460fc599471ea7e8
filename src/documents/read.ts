import type { z } from 'zod'
import { isJsonObject, type JsonObject, own } from '../domain/json.ts'
import type { Connector } from '../domain/connector.ts'
import type { Extension } from '../domain/extension.ts'
import {
  outboundProblems,
  type DocumentCheckContext,
  checkConnector,
  type DocumentChecks,
  responderProblems,
  ToolSchemaCheck,
} from './connector-checks.ts'
import { connectorSchema, toConnector } from './connector.ts'
import { type Problem, problemsOf, MAX_LISTED, moreProblems, shown, valuesAt } from '../schema/problems.ts'
import { DocumentError, type FileProblem, problemAt } from './problem.ts'
import { type ParsedSeed, seedSchema } from './seed.ts'
import { extensionSchema, servedProblems, toExtension } from './extension.ts'
import { type ParsedScenario, scenarioSchema } from './scenario.ts'
import { SourceText } from './source-text.ts'
import { checkVocabulary } from './seed-checks.ts'

const DOCUMENTS = 'a seed, a connector, a scenario or an extension'

/** A file as far as it could be read on its own: what it holds when its shape is right, and what is wrong with it. */
interface Read<Kind extends string, Of> {
  kind: Kind
  source: SourceText
  document: Of | undefined
  problems: readonly FileProblem[]
}

export type ReadConnector = Read<'connector', Connector>
type ReadSeed = Read<'seed', ParsedSeed>
type ReadExtension = Read<'extension', Extension>

/** Its problems are those of its shape; the rest depends on the connectors there are. */
export interface ReadScenario extends Omit<Read<'scenario', ParsedScenario>, 'problems'> {
  shapeProblems: readonly Problem[]
}

/** A file of cases, which only `run --cases` and `validate` read on. */
type ReadCases = Omit<Read<'cases', never>, 'document'>

/** A text that is none of them. */
interface UnknownDocument {
  kind: 'unknown'
  file: string
  problems: readonly FileProblem[]
}

export type ReadDocument = ReadConnector | ReadSeed | ReadScenario | ReadExtension | ReadCases | UnknownDocument

/**
 * Reads one YAML or JSON text and recognises what it is: a file with `connector` at its top is a connector, one with `extension` an
 * extension, one with `cases` a file of cases, one with `rules` or `name` a scenario, others are seeds.
 */
export async function readDocument(text: string, file: string, context: DocumentCheckContext): Promise<ReadDocument> {
  const source = open(text, file)
  if (!(source instanceof SourceText)) return { kind: 'unknown', file, problems: source }
  if (!isJsonObject(source.value)) {
    const problem = { path: [], found: shown(source.value), allowed: `an object: ${DOCUMENTS}` }
    return { kind: 'unknown', file, problems: [source.problem(problem)] }
  }
  const has = (key: string): boolean => own(source.value as JsonObject, key) !== undefined
  if (has('connector')) return readConnector(source, context)
  if (has('extension')) return readExtension(source, context)
  if (has('cases')) {
    const problem = { path: [], found: 'a file of cases', allowed: `${DOCUMENTS} (cases are for run --cases)` }
    return { kind: 'cases', source, problems: [source.problem(problem)] }
  }
  return has('rules') || has('name') ? readScenario(source) : readSeed(source, context)
}

/** One connector document. @throws DocumentError with everything that is wrong with it */
export async function parseConnector(text: string, file: string, checks: DocumentChecks): Promise<Connector> {
  const source = open(text, file)
  if (!(source instanceof SourceText)) throw new DocumentError(source)
  const { document, problems } = await readConnector(source, { ...checks, toolSchemas: new ToolSchemaCheck() })
  if (!document || problems.length > 0) throw new DocumentError(problems)
  return document
}

/** One extension document. @throws DocumentError with everything that is wrong with it */
export async function parseExtension(text: string, file: string, checks: DocumentChecks): Promise<Extension> {
  const read = await readDocument(text, file, { ...checks, toolSchemas: new ToolSchemaCheck() })
  if (read.kind === 'extension' && read.document && read.problems.length === 0) return read.document
  if (read.kind === 'extension' || read.kind === 'unknown' || read.kind === 'cases')
    throw new DocumentError(read.problems)
  const allowed = 'an extension: extension, collections, responders'
  throw new DocumentError([read.source.problem({ path: [], found: `a ${read.kind}`, allowed })])
}

/** The problems of a source in their order in the file, each place and text once, up to a bound. */
export function located(source: SourceText, problems: readonly Problem[]): FileProblem[] {
  const distinct = new Map(
    problems.map((problem) => source.problem(problem)).map((problem) => [problem.message, problem]),
  )
  const sorted = [...distinct.values()].sort((a, b) => a.line - b.line || a.column - b.column)
  const next = sorted[MAX_LISTED]
  if (!next) return sorted
  const more = { path: [], subject: 'the document', ...moreProblems(sorted.length - MAX_LISTED) }
  return [...sorted.slice(0, MAX_LISTED), problemAt(source.file, next, more)]
}

/** What a document holds when its shape is right, and what is wrong with its shape. */
function parsed<Schema extends z.ZodType>(schema: Schema, { value }: SourceText) {
  const { data, error } = schema.safeParse(value)
  return { data, shape: error ? problemsOf(error.issues, value) : [] }
}

async function readConnector(source: SourceText, context: DocumentCheckContext): Promise<ReadConnector> {
  const { data, shape } = parsed(connectorSchema, source)
  const problems = located(source, [...shape, ...(await checkConnector(source.value, context))])
  return { kind: 'connector', source, document: data && toConnector(data), problems }
}

async function readExtension(source: SourceText, checks: DocumentCheckContext): Promise<ReadExtension> {
  const { data, shape } = parsed(extensionSchema, source)
  const document = isJsonObject(source.value) ? source.value : {}
  const inside = responderProblems(document, checks)
  const ofSchemas = (await checks.toolSchemas?.problems(document, ['responders', '*', 'body_schema'])) ?? []
  const problems = located(source, [...shape, ...inside, ...ofSchemas, ...servedProblems(source.value, checks)])
  return { kind: 'extension', source, document: data && toExtension(data), problems }
}

function readScenario(source: SourceText): ReadScenario {
  const { data, shape } = parsed(scenarioSchema, source)
  return { kind: 'scenario', source, document: data, shapeProblems: shape }
}

async function readSeed(source: SourceText, context: DocumentCheckContext): Promise<ReadSeed> {
  const { data, shape } = parsed(seedSchema, source)
  const problems = [...shape, ...checkVocabulary(source.value, context.words)]
  for (const { path, value } of valuesAt(source.value, ['webhooks', '*', 'url']))
    problems.push(...outboundProblems(path, value, context.allowOutbound))
  for (const { path, value } of valuesAt(source.value, ['connectors', '*'])) {
    const inside = await checkConnector(value, context)
    problems.push(...inside.map((problem) => ({ ...problem, path: [...path, ...problem.path] })))
  }
  return { kind: 'seed', source, document: data, problems: located(source, problems) }
}

function open(text: string, file: string): SourceText | readonly FileProblem[] {
  try {
    return new SourceText(text, file)
  } catch (error) {
    if (error instanceof DocumentError) return error.problems
    throw error
  }
}
