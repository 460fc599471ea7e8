import { basename, dirname, parse, resolve } from 'node:path'
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from '../model/domain/json.ts'
import { emptyBundle, mergeBundles, type SeedBundle } from '../model/domain/seed.ts'
import { plural } from '../model/domain/text.ts'
import { repeatedNames } from '../model/schema/parts.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { BUNDLED, bundledSeedFiles, parsedBundledSeed } from './package-files.ts'
import { DocumentError, type FileProblem, UnreadableFileError } from './problem.ts'
import { fileProblems, locatedProblems, type Read, type ReadDocument, readConfigDocument } from './read.ts'
import { checkSeed, connectorsIn, type KnownConnectors, listedNames, namesIn, possibleNames } from './seed-checks.ts'
import { seedSchema, toBundle } from './seed.ts'
import { isFolder, type TextFile, textFiles, textsBeside } from './text-files.ts'

/** The seed at one path of `--seed`. */
export interface SeedSource {
  readonly path: string
  /** Every file, as what it was taken for; none of the parsed bundled seed. */
  readonly documents: readonly ReadDocument[]
  readonly bundle: SeedBundle
  /** Whether files of other kinds are left to other flags: so it is in a folder. */
  readonly isMixed: boolean
  /** The names of the connectors that came with a seed file. */
  readonly beside: readonly string[]
  /** Files of a folder that are not for the mock, such as `package.json`. */
  readonly leftOut: readonly string[]
}

export function ofKind<Kind extends ReadDocument['kind']>(
  documents: readonly ReadDocument[],
  kind: Kind,
): Extract<ReadDocument, { kind: Kind }>[] {
  return documents.filter((each): each is Extract<ReadDocument, { kind: Kind }> => each.kind === kind)
}

/** Reads seeds, right or wrong: files, folders, or `bundled`. @throws UnreadableFileError unless there is a list for them */
export async function readSources(
  paths: readonly string[],
  checks: DocumentChecks,
  skipped?: UnreadableFileError[],
): Promise<SeedSource[]> {
  const sources: SeedSource[] = []
  for (const path of paths) {
    const parsed = path === BUNDLED ? await parsedBundledSeed() : undefined
    if (parsed) sources.push({ path, documents: [], bundle: parsed, isMixed: false, beside: [], leftOut: [] })
    else sources.push(path === BUNDLED ? await readBundledFiles(checks) : await readFiles(path, checks, skipped))
  }
  return sources
}

/** The files of the bundled seed, whose JSON Schemas are not compiled again. */
export async function readBundledFiles(checks: DocumentChecks): Promise<SeedSource> {
  const documents = await readTexts(await bundledSeedFiles(), { ...checks, trustSchemas: true })
  return { path: BUNDLED, documents, bundle: bundleOf(documents), isMixed: false, beside: [], leftOut: [] }
}

/** A folder, or a file; the connectors beside a seed file come with it. */
async function readFiles(path: string, checks: DocumentChecks, skipped?: UnreadableFileError[]): Promise<SeedSource> {
  const isMixed = await isFolder(path)
  const before = skipped?.length
  const texts = await textFiles(path, skipped)
  const read = await readTexts(texts, checks)
  const isTaken = read.map((each, at) => !isMixed || isForMock(each, texts[at]?.text ?? ''))
  const taken = read.filter((_each, at) => isTaken[at])
  if (taken.length === 0 && read.length > 0) throw new UnreadableFileError(path, NONE_FOR_MOCK)
  const hasSeed = taken.some(({ kind }) => kind === 'seed')
  const others = hasSeed ? await readTexts(await textsBeside(path, skipped), checks) : []
  // What a seed names may be in a file that cannot be read.
  const unread = (skipped ?? []).slice(before).map(({ file }) => ({ kind: 'unknown' as const, file, fileProblems: [] }))
  const documents = [...taken, ...others, ...unread]
  const beside = ofKind(others, 'connector').flatMap(({ source }) => namesIn(source.value))
  const leftOut = read.filter((_each, at) => !isTaken[at]).map(({ file }) => file)
  return { path, documents, bundle: bundleOf(documents), isMixed, beside, leftOut }
}

async function readTexts(files: readonly TextFile[], checks: DocumentChecks): Promise<ReadDocument[]> {
  const documents: ReadDocument[] = []
  for (const { text, file } of files) documents.push(await readConfigDocument(text, file, checks))
  return documents
}

const NONE_FOR_MOCK =
  'the folder has no seed, connector, scenario or extension: none of its files has a top-level key of one'

/** A file with this name is meant for the mock, an empty one too. */
const OWN_NAME = /^seed\.(?:ya?ml|json)$/
/** Folders in which every file is meant for the mock. */
const OWN_FOLDERS: readonly string[] = ['seeds', 'connectors', 'scenarios', 'extensions']
/** The top-level keys by which a file is known to be for the mock. `name` and `description` are in many files. */
const OWN_KEYS = [...Object.keys(seedSchema.shape), 'connector', 'extension', 'cases', 'rules', 'initial'].filter(
  (key) => key !== '$schema',
)
/** The same in a text that cannot be read: at the start of a line, or of the text. */
const OWN_KEY_IN_TEXT = new RegExp(`(?:^\\s*\\{\\s*|^ {0,4}|^\\t)["']?(?:${OWN_KEYS.join('|')})["']?\\s*:`, 'm')

/** Whether a file of a folder is meant for the mock: the folder of a project has others. */
function isForMock(read: ReadDocument, text: string): boolean {
  if (OWN_FOLDERS.includes(basename(dirname(resolve(read.file)))) || OWN_NAME.test(basename(read.file))) return true
  if (read.kind === 'unknown') return OWN_KEY_IN_TEXT.test(text)
  const { value } = read.source
  return isJsonObject(value) && OWN_KEYS.some((key) => Object.hasOwn(value, key))
}

/** What the readable files of a seed hold. Connectors are in the order of its list; files that it does not name follow. */
function bundleOf(documents: readonly ReadDocument[]): SeedBundle {
  const files = ofKind(documents, 'connector').flatMap(({ document }) => document ?? [])
  const bundles = ofKind(documents, 'seed').flatMap(({ document }) => (document ? [toBundle(document, files)] : []))
  return mergeBundles([...bundles, { ...emptyBundle(), connectors: files }])
}

/** Seeds that are put one after the other. @throws DocumentError with the problems of all files */
export function soundBundle(sources: readonly SeedSource[]): SeedBundle {
  const problems = problemsOfSources(sources)
  if (problems.length > 0) throw new DocumentError(problems)
  return mergeBundles(sources.map(({ bundle }) => bundle))
}

/** What is wrong with seeds that are put one after the other, each problem once. An account may have a connector of any of them. */
export function problemsOfSources(sources: readonly SeedSource[]): FileProblem[] {
  const connectors = connectorsIn(mergeBundles(sources.map(({ bundle }) => bundle)))
  const problems = [...sources.flatMap((each) => problemsOfFiles(each, connectors)), ...repeatedIds(sources)]
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()]
}

/** Files that are listed by name. */
const MAX_LEFT_OUT = 10

/** What is said of files that a folder has and that are not for the mock. */
export function leftOutNote(files: readonly string[]): string {
  const more = files.length - MAX_LEFT_OUT
  const fileNames = `${files.slice(0, MAX_LEFT_OUT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const which = files.length === 1 ? 'which has' : 'which have'
  return `${plural(files.length, 'file')} left out, ${which} no top-level key of a file of the mock: ${fileNames}`
}

/** What a user may want to know of seeds that are right. */
export function notesOn({ path, documents, beside, leftOut }: SeedSource): string[] {
  const came = `${plural(beside.length, 'connector')} came with it from the folder beside it: ${beside.join(', ')}`
  return [
    ...(beside.length === 0 ? [] : [`${path}: ${came}`]),
    ...(leftOut.length === 0 ? [] : [leftOutNote(leftOut)]),
    ...ofKind(documents, 'scenario').map(
      ({ file }) => `${file} is a scenario and was not started: --scenario starts it`,
    ),
  ]
}

/** Everything that is wrong with the files of a seed; `known` are the connectors that there are once it is added. */
function problemsOfFiles(
  { documents, isMixed }: Pick<SeedSource, 'documents' | 'isMixed'>,
  knownConnectors: KnownConnectors,
): FileProblem[] {
  const [seeds, connectors] = [ofKind(documents, 'seed'), ofKind(documents, 'connector')]
  // A file that cannot be read may be a connector; most are called as it is.
  const unknown = ofKind(documents, 'unknown').map(({ file }) => parse(file).name)
  const names = new Set([...connectors.flatMap(({ source }) => namesIn(source.value)), ...unknown])
  // Names of connectors that cannot be read are known, so that one mistake is reported once.
  const unread = [
    ...connectors.flatMap(({ source, document }) => (document ? [] : namesIn(source.value))),
    ...unknown,
    ...seeds.flatMap(({ source, document }) =>
      document ? listedNames(source.value).filter((name) => !names.has(name)) : possibleNames(source.value),
    ),
  ]
  const all = new Map([...unread.map((name) => [name, undefined] as const), ...knownConnectors])
  return [
    ...ofKind(documents, 'unknown').flatMap((each) => fileProblems(each)),
    ...seeds.flatMap((seed) => [
      ...fileProblems(seed),
      ...locatedProblems(seed.source, checkSeed(seed.source.value, all, names)),
    ]),
    ...connectors.flatMap((each) => fileProblems(each)),
    ...repeatedConnectors(connectors),
    ...ofKind(documents, 'extension').flatMap((each) => fileProblems(each)),
    ...(isMixed ? [] : notSeeds(documents)),
  ]
}

/** Files that were given as a seed and are none. */
function notSeeds(documents: readonly ReadDocument[]): FileProblem[] {
  const others = [...ofKind(documents, 'scenario'), ...ofKind(documents, 'extension')].map(({ source, kind }) => {
    const allowed = `seeds and connectors (${kind}s start with --${kind})`
    return source.problem({ path: [], found: kind === 'scenario' ? 'a scenario' : 'an extension', allowed })
  })
  return [...others, ...ofKind(documents, 'cases').flatMap((each) => fileProblems(each))]
}

function repeatedConnectors(connectors: readonly Read<'connector'>[]): FileProblem[] {
  const names = connectors.map(({ source }) => namesIn(source.value)[0])
  return repeatedNames(names).flatMap(({ name, index, before }) => {
    const mistake = `${jsonText(name)}, which ${connectors[before]?.file ?? ''} describes already`
    const problem = { path: ['connector'], found: mistake, allowed: 'one file for each connector' }
    return connectors[index]?.source.problem(problem) ?? []
  })
}

/** Ids that two files give to different accounts; within one file its schema refuses them. */
function repeatedIds(sources: readonly SeedSource[]): FileProblem[] {
  const places = new Set<string>()
  const owners = new Map<string, string>()
  const seeds = sources.flatMap(({ documents }) => ofKind(documents, 'seed'))
  return seeds.flatMap(({ source, file, document }) =>
    (document?.accounts ?? []).flatMap(({ id, connector, identifier, organization_id, user_id }, at): FileProblem[] => {
      const place = jsonText([connector, identifier, organization_id, user_id])
      // An account that is there keeps its id.
      if (places.has(place)) return []
      places.add(place)
      const owner = id === undefined ? undefined : owners.get(id)
      if (id !== undefined && owner === undefined) owners.set(id, file)
      if (owner === undefined) return []
      const mistake = `${jsonText(id)}, the id of another account in ${owner}`
      return [
        source.problem({ path: ['accounts', at, 'id'], found: mistake, allowed: 'an id that no other account has' }),
      ]
    }),
  )
}

/** The files at a path as one document, for a server that reads no files of ours. @throws DocumentError, UnreadableFileError */
export async function seedDocument(path: string, checks: DocumentChecks): Promise<JsonObject> {
  const { documents, isMixed } = await (path === BUNDLED ? readBundledFiles(checks) : readFiles(path, checks))
  const [seeds, connectors] = [ofKind(documents, 'seed'), ofKind(documents, 'connector')]
  const refused = [...ofKind(documents, 'unknown'), ...seeds, ...connectors].flatMap((each) => fileProblems(each))
  const all = [...(isMixed ? [] : notSeeds(documents)), ...refused]
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
  const read = await readConfigDocument(file.text, file.file, checks)
  const problems = seedProblems(read, there)
  if (problems.length > 0) throw new DocumentError(problems)
  return bundleOf([read])
}

/** What is wrong with a document that is added as a seed where these connectors are. */
export function seedProblems(read: ReadDocument, there: KnownConnectors): readonly FileProblem[] {
  const documents = [read]
  return problemsOfFiles({ documents, isMixed: false }, connectorsIn(bundleOf(documents), there))
}
