import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import { emptyBundle, mergeBundles, type SeedBundle } from '../domain/seed.ts'
import { CONFIGURATION_FILES } from './configuration-files.ts'
import { type DocumentCheckContext, type DocumentChecks, ToolSchemaCheck } from './connector-checks.ts'
import { DocumentError, type FileProblem, UnreadableFileError } from './problem.ts'
import { located, type ReadConnector, type ReadDocument, readDocument } from './read.ts'
import { checkSeed, connectorsIn, type KnownConnectors, listedNames, namesIn, possibleNames } from './seed-checks.ts'
import { seedSchema, toBundle } from './seed.ts'

/** The files at one path that a seed is read from; files of other kinds in a folder are no part of it. */
export interface SeedFiles {
  /** Every file, as what it was taken for. */
  readonly documents: readonly ReadDocument[]
  readonly isFolder: boolean
  /** The names of the connectors that came with a seed file. */
  readonly beside: readonly string[]
  /** Files of a folder that are not for the mock, such as `package.json`. */
  readonly leftOut: readonly string[]
}

type Kind = ReadDocument['kind']

export function ofKind<Of extends Kind>(
  { documents }: Pick<SeedFiles, 'documents'>,
  kind: Of,
): Extract<ReadDocument, { kind: Of }>[] {
  return documents.filter((each): each is Extract<ReadDocument, { kind: Of }> => each.kind === kind)
}

export interface TextFile {
  file: string
  text: string
}

/** The text of a file, or of every YAML and JSON file in a folder, at any depth and in the order of their names. */
export async function textFiles(path: string): Promise<TextFile[]> {
  const files = (await isFolder(path)) ? await filesIn(path) : [path]
  if (files.length === 0) throw new UnreadableFileError(path, 'the folder has no .yaml, .yml or .json file')
  return textsOf(files)
}

/** The files of a seed folder that can be extensions: only these are read for them. None where there is no folder. */
export async function extensionTexts(path: string): Promise<TextFile[]> {
  const files = await stat(path).then(
    (found) => (found.isDirectory() ? filesIn(path) : []),
    () => [],
  )
  return (await textsOf(files)).filter(({ text }) => /(?:^|[{,])\s*["']?extension["']?\s*:/m.test(text))
}

/** The texts in the folder `connectors` beside a file; none beside a folder, which has its connectors inside. */
export async function textsBeside(path: string): Promise<TextFile[]> {
  const folder = join(dirname(path), 'connectors')
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    (error: unknown) => (isMissing(error) ? false : unreadable(folder)(error)),
  )
  return !isThere || (await isFolder(path)) ? [] : textsOf(await filesIn(folder))
}

/** Reads the seed at a path: a folder, or a file; the connectors beside a seed file come with it. @throws UnreadableFileError */
export async function readSeedFiles(path: string, checks: DocumentChecks): Promise<SeedFiles> {
  const context = { ...checks, toolSchemas: new ToolSchemaCheck() }
  const inFolder = await isFolder(path)
  const texts = await textFiles(path)
  const read = await readFiles(texts, context)
  const documents = inFolder ? read.filter((each, at) => isForMock(each, texts[at])) : read
  if (documents.length === 0) throw new UnreadableFileError(path, NONE_FOR_MOCK)
  const hasSeed = documents.some(({ kind }) => kind === 'seed')
  const others = hasSeed ? await readFiles(await textsBeside(path), context) : []
  const beside = ofKind({ documents: others }, 'connector').flatMap(({ source }) => namesIn(source.value))
  const leftOut = texts.filter((_text, at) => !documents.some((each) => each === read[at])).map(({ file }) => file)
  return { documents: [...documents, ...others], isFolder: inFolder, beside, leftOut }
}

const NONE_FOR_MOCK =
  'the folder has no seed, connector, scenario or extension: none of its files has a top-level key of one'

/** Folders in which every file is meant for the mock. */
const OWN_FOLDERS: readonly string[] = ['seeds', 'connectors', 'scenarios', 'extensions']
/** The top-level keys by which a file is known to be for the mock. `name` and `description` are in many files. */
const OWN_KEYS = [...Object.keys(seedSchema.shape), 'connector', 'extension', 'cases', 'rules', 'initial'].filter(
  (key) => key !== '$schema',
)
/** The same in a text that cannot be read: at the start of a line, or of the text. */
const OWN_KEY_IN_TEXT = new RegExp(`(?:^\\s*\\{\\s*|^ {0,4}|^\\t)["']?(?:${OWN_KEYS.join('|')})["']?\\s*:`, 'm')

/** Whether a file of a folder is meant for the mock: the folder of a project has others. */
function isForMock(read: ReadDocument, { file, text }: TextFile = { file: '', text: '' }): boolean {
  if (OWN_FOLDERS.includes(basename(dirname(file)))) return true
  if (read.kind === 'unknown') return OWN_KEY_IN_TEXT.test(text)
  const { value } = read.source
  return isJsonObject(value) && OWN_KEYS.some((key) => Object.hasOwn(value, key))
}

/** The files of the bundled seed, whose JSON Schemas are not compiled again. */
export async function readBundledFiles(folder: string, checks: DocumentChecks): Promise<SeedFiles> {
  return { documents: await readFiles(await textFiles(folder), checks), isFolder: false, beside: [], leftOut: [] }
}

async function readFiles(files: readonly TextFile[], context: DocumentCheckContext): Promise<ReadDocument[]> {
  const documents: ReadDocument[] = []
  for (const { text, file } of files) documents.push(await readDocument(text, file, context))
  return documents
}

/** What the readable files of a seed hold. Connectors are in the order of its list; files that it does not name follow. */
export function bundleOf(read: Pick<SeedFiles, 'documents'>): SeedBundle {
  const files = ofKind(read, 'connector').flatMap(({ document }) => document ?? [])
  const bundles = ofKind(read, 'seed').flatMap(({ document }) => (document ? [toBundle(document, files)] : []))
  return mergeBundles([...bundles, { ...emptyBundle(), connectors: files }])
}

/** Everything that is wrong with the files of a seed; `known` are the connectors that there are once it is added. */
export function problemsOf(files: Pick<SeedFiles, 'documents' | 'isFolder'>, known: KnownConnectors): FileProblem[] {
  const [seeds, connectors] = [ofKind(files, 'seed'), ofKind(files, 'connector')]
  const names = new Set(connectors.flatMap(({ source }) => namesIn(source.value)))
  // Names of connectors that cannot be read are known, so that one mistake is reported once.
  const unread = [
    ...connectors.flatMap(({ source, document }) => (document ? [] : namesIn(source.value))),
    ...seeds.flatMap(({ source, document }) =>
      document ? listedNames(source.value).filter((name) => !names.has(name)) : possibleNames(source.value),
    ),
  ]
  const all = new Map([...unread.map((name) => [name, undefined] as const), ...known])
  return [
    ...ofKind(files, 'unknown').flatMap(({ problems }) => problems),
    ...seeds.flatMap((seed) => [...seed.problems, ...located(seed.source, checkSeed(seed.source.value, all, names))]),
    ...connectors.flatMap((connector) => connector.problems),
    ...repeatedConnectors(connectors),
    ...ofKind(files, 'extension').flatMap((extension) => extension.problems),
    ...notSeeds(files),
  ]
}

/** The files at a path as one document, for a server that reads no files of ours. @throws DocumentError, UnreadableFileError */
export async function seedDocument(path: string, checks: DocumentChecks): Promise<JsonObject> {
  const read = await readSeedFiles(path, checks)
  const [seeds, connectors] = [ofKind(read, 'seed'), ofKind(read, 'connector')]
  const refused = [...ofKind(read, 'unknown'), ...seeds, ...connectors].flatMap(({ problems }) => problems)
  const all = [...notSeeds(read), ...refused]
  if (all.length > 0) throw new DocumentError(all)
  const merged = new Map<string, JsonValue>()
  for (const [key, value] of seeds.flatMap(({ source }) => Object.entries(source.value as JsonObject))) {
    const before = merged.get(key)
    if (Array.isArray(before) && Array.isArray(value)) merged.set(key, [...before, ...value])
    else merged.set(key, isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value)
  }
  // Its list names the files, whose documents stand in it in their place.
  const listed = merged.get('connectors')
  const inline = Array.isArray(listed) ? listed.filter(isJsonObject) : []
  const files = connectors.map(({ source }) => source.value as JsonObject)
  if (inline.length + files.length > 0) merged.set('connectors', [...inline, ...files])
  return Object.fromEntries(merged)
}

/** One seed document, to be added where these connectors are. @throws DocumentError */
export async function parseSeed(file: TextFile, checks: DocumentChecks, there: KnownConnectors): Promise<SeedBundle> {
  const { bundle, problems } = await readSeed(file, checks, there)
  if (problems.length > 0) throw new DocumentError(problems)
  return bundle
}

/** What {@link parseSeed} takes and refuses. */
export async function readSeed(
  file: TextFile,
  checks: DocumentChecks,
  there: KnownConnectors,
): Promise<{ bundle: SeedBundle; problems: readonly FileProblem[] }> {
  const documents = await readFiles([file], { ...checks, toolSchemas: new ToolSchemaCheck() })
  const files = { documents, isFolder: false }
  const bundle = bundleOf(files)
  return { bundle, problems: problemsOf(files, connectorsIn(bundle, there)) }
}

/** Files that were given as a seed and are none; those of a folder are left to other flags. */
function notSeeds(files: Pick<SeedFiles, 'documents' | 'isFolder'>): FileProblem[] {
  if (files.isFolder) return []
  const others = [...ofKind(files, 'scenario'), ...ofKind(files, 'extension')].map(({ source, kind }) => {
    const allowed = `seeds and connectors (${kind}s start with --${kind})`
    return source.problem({ path: [], found: kind === 'scenario' ? 'a scenario' : 'an extension', allowed })
  })
  return [...others, ...ofKind(files, 'cases').flatMap(({ problems }) => problems)]
}

function repeatedConnectors(connectors: readonly ReadConnector[]): FileProblem[] {
  const first = new Map<string, string>()
  return connectors.flatMap(({ source }) => {
    const [name = ''] = namesIn(source.value)
    const before = first.get(name)
    if (before === undefined) first.set(name, source.file)
    const found = `${JSON.stringify(name)}, which ${before ?? ''} describes already`
    return before === undefined
      ? []
      : [source.problem({ path: ['connector'], found, allowed: 'one file for each connector' })]
  })
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then((found) => found.isDirectory(), unreadable(path))
}

/** At any depth. Hidden files and installed packages are of other programs; names with two dots are Kubernetes' own. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unreadable(folder))
  const found = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const path = join(folder, entry.name)
      if (/^\.[^.]/.test(entry.name) || entry.name === 'node_modules') return []
      if (entry.isDirectory()) return filesIn(path)
      const isTaken = /\.(?:ya?ml|json)$/.test(entry.name) && !CONFIGURATION_FILES.includes(entry.name)
      return entry.isFile() && isTaken ? [path] : []
    }),
  )
  return found.flat().sort()
}

function textsOf(files: readonly string[]): Promise<TextFile[]> {
  return Promise.all(files.map(async (file) => ({ file, text: await textOf(file) })))
}

export async function textOf(file: string): Promise<string> {
  const bytes = await readFile(file).catch(unreadable(file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableFileError(file, 'it is not UTF-8 text')
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new UnreadableFileError(path, REASONS[code] ?? `it cannot be read (${code || String(error)})`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read',
  EISDIR: 'it is a folder',
}
