import type { z } from 'zod'
import { isJsonObject, ownMember } from '../model/domain/json.ts'
import { preparePatterns } from '../model/domain/text-pattern.ts'
import type { Connector } from '../model/domain/connector.ts'
import type { Extension } from '../model/domain/extension.ts'
import {
  outboundProblems,
  checkConnector,
  type DocumentChecks,
  schemaProblems,
  templateProblems,
} from './connector-checks.ts'
import { connectorSchema, toConnector } from './connector.ts'
import {
  type Problem,
  problemsOf,
  MAX_LISTED,
  moreProblems,
  problemSentence,
  problemValue,
  valuesAt,
} from '../model/schema/problems.ts'
import { DocumentError, type FileProblem, problemAt } from './problem.ts'
import { type ParsedSeed, seedSchema } from './seed.ts'
import { extensionSchema, servedProblems, toExtension } from './extension.ts'
import { type ParsedScenario, scenarioSchema } from './scenario.ts'
import { SourceText } from './source-text.ts'
import { checkVocabulary } from './seed-checks.ts'

/** The kinds of documents, and what a valid one is read as. Only `run --cases` and `validate` read a file of cases on. */
interface Documents {
  seed: ParsedSeed
  connector: Connector
  scenario: ParsedScenario
  extension: Extension
  cases: undefined
}
type DocumentKind = keyof Documents

export interface Read<Kind extends DocumentKind> {
  readonly kind: Kind
  readonly file: string
  readonly source: SourceText
  readonly document: Documents[Kind] | undefined
  /** What depends on other files is not among them. */
  readonly problems: readonly Problem[]
}

/** A text that is none of them. */
interface UnknownDocument {
  readonly kind: 'unknown'
  readonly file: string
  readonly fileProblems: readonly FileProblem[]
}

export type ReadDocument = { [Kind in DocumentKind]: Read<Kind> }[DocumentKind] | UnknownDocument

const DOCUMENTS = 'a seed, a connector, a scenario or an extension'

/** By its top: `connector`, `extension`, `cases`, `rules` or `name` (a scenario); everything else is a seed. */
export async function readConfigDocument(text: string, file: string, checks: DocumentChecks): Promise<ReadDocument> {
  await preparePatterns(text)
  let source: SourceText
  try {
    source = new SourceText(text, file)
  } catch (error) {
    if (error instanceof DocumentError) return { kind: 'unknown', file, fileProblems: error.problems }
    throw error
  }
  const { value } = source
  if (!isJsonObject(value)) {
    const problem = {
      path: [],
      found: value === null ? 'empty' : problemValue(value),
      allowed: `an object: ${DOCUMENTS}`,
    }
    return { kind: 'unknown', file, fileProblems: [source.problem(problem)] }
  }
  const has = (key: string): boolean => ownMember(value, key) !== undefined
  if (has('connector')) return readConnector(source, checks)
  if (has('extension')) return readExtension(source, checks)
  if (has('cases')) {
    const problem = { path: [], found: 'a file of cases', allowed: `${DOCUMENTS} (cases are for run --cases)` }
    return { kind: 'cases', file, source, document: undefined, problems: [problem] }
  }
  return has('rules') || has('name') ? readScenario(source) : readSeed(source, checks)
}

/** One connector document. @throws DocumentError with everything that is wrong with it */
export async function parseConnector(text: string, file: string, checks: DocumentChecks): Promise<Connector> {
  await preparePatterns(text)
  return soundDocument(await readConnector(new SourceText(text, file), checks))
}

/** One extension document. @throws DocumentError with everything that is wrong with it */
export async function parseExtension(text: string, file: string, checks: DocumentChecks): Promise<Extension> {
  const read = await readConfigDocument(text, file, checks)
  if (read.kind === 'extension') return soundDocument(read)
  throw anotherKind(read, 'an extension: extension, collections, responders')
}

/** What a document holds, where nothing is wrong with it. @throws DocumentError */
export function soundDocument<Kind extends DocumentKind>(
  read: Read<Kind>,
  others: readonly Problem[] = [],
): NonNullable<Documents[Kind]> {
  const problems = fileProblems(read, others)
  if (!read.document || problems.length > 0) throw new DocumentError(problems)
  return read.document
}

/** The error for a document of another kind than was asked for. */
export function anotherKind(read: ReadDocument, allowed: string): DocumentError {
  if (read.kind === 'unknown' || read.kind === 'cases') return new DocumentError(fileProblems(read))
  return new DocumentError([read.source.problem({ path: [], found: `a ${read.kind}`, allowed })])
}

/** Everything that is wrong with a document on its own, and what else was found in it. */
export function fileProblems(
  read: Pick<Read<DocumentKind>, 'source' | 'problems'> | UnknownDocument,
  others: readonly Problem[] = [],
): readonly FileProblem[] {
  return 'fileProblems' in read ? read.fileProblems : locatedProblems(read.source, [...read.problems, ...others])
}

/** Problems of which the place is looked up, which takes the longer the more keys the document has. */
const MAX_PLACED = 1000

/** The problems of a source in their order in the file, each place and text once, up to a bound. */
export function locatedProblems(source: SourceText, problems: readonly Problem[]): FileProblem[] {
  const distinct = [...new Map(problems.map((problem) => [problemSentence(problem), problem])).values()]
  const placed = distinct.slice(0, MAX_PLACED).map((problem) => source.problem(problem))
  const sorted = placed.sort((a, b) => a.line - b.line || a.column - b.column)
  const next = sorted[MAX_LISTED]
  if (!next) return sorted
  const more = { path: [], subject: 'the document', ...moreProblems(distinct.length - MAX_LISTED) }
  return [...sorted.slice(0, MAX_LISTED), problemAt(source.file, next, more)]
}

/** What a document holds when its shape is right, and what is wrong with its shape. */
function parseSource<Schema extends z.ZodType>(schema: Schema, { value }: SourceText) {
  const { data, error } = schema.safeParse(value)
  return { data, shape: error ? problemsOf(error.issues, value) : [] }
}

async function readConnector(source: SourceText, checks: DocumentChecks): Promise<Read<'connector'>> {
  const { data, shape } = parseSource(connectorSchema, source)
  const problems = [...shape, ...(await checkConnector(source.value, checks))]
  return { kind: 'connector', file: source.file, source, document: data && toConnector(data), problems }
}

async function readExtension(source: SourceText, checks: DocumentChecks): Promise<Read<'extension'>> {
  const { data, shape } = parseSource(extensionSchema, source)
  const document = isJsonObject(source.value) ? source.value : {}
  const ofSchemas = await schemaProblems(document, ['responders', '*', 'body_schema'], checks)
  const problems = [...shape, ...templateProblems(document, checks), ...ofSchemas, ...servedProblems(document, checks)]
  return { kind: 'extension', file: source.file, source, document: data && toExtension(data), problems }
}

function readScenario(source: SourceText): Read<'scenario'> {
  const { data, shape } = parseSource(scenarioSchema, source)
  return { kind: 'scenario', file: source.file, source, document: data, problems: shape }
}

async function readSeed(source: SourceText, checks: DocumentChecks): Promise<Read<'seed'>> {
  const { data, shape } = parseSource(seedSchema, source)
  const problems = [...shape, ...checkVocabulary(source.value, checks.words)]
  for (const { path, value } of valuesAt(source.value, ['webhooks', '*', 'url']))
    problems.push(...outboundProblems(path, value, checks.allowOutbound))
  for (const { path, value } of valuesAt(source.value, ['connectors', '*'])) {
    const inside = await checkConnector(value, checks)
    problems.push(...inside.map((problem) => ({ ...problem, path: [...path, ...problem.path] })))
  }
  return { kind: 'seed', file: source.file, source, document: data, problems }
}
