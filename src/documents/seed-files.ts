import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connector } from '../domain/connector.ts'
import { emptyBundle, mergeBundles, type SeedBundle } from '../domain/seed.ts'
import { type CheckContext, type DocumentChecks, ToolSchemaCheck } from './connector-checks.ts'
import { DocumentError, type Problem, UnreadableFileError } from './problem.ts'
import { located, type ReadConnector, readDocument, type ReadScenario, type ReadSeed } from './read.ts'
import { checkSeed, connectorsIn, type KnownConnectors, namesIn, possibleNames } from './seed-checks.ts'
import { toBundle } from './seed.ts'

/** The files that make one seed: a folder's, or one. */
export interface SeedFiles {
  seeds: ReadSeed[]
  connectors: ReadConnector[]
  /** No part of a seed. */
  scenarios: ReadScenario[]
  /** Problems of files that are none of these. */
  problems: Problem[]
}

export interface TextFile {
  file: string
  text: string
}

/** The text of a file, or of every YAML and JSON file in a folder, at any depth and in the order of their names. */
export async function textFiles(path: string): Promise<TextFile[]> {
  const files = await filesAt(path)
  return Promise.all(files.map(async (file) => ({ file, text: await readText(file) })))
}

/** The text of one file. @throws UnreadableFileError */
export function textOf(file: string): Promise<string> {
  return readText(file)
}

export async function readSeedFiles(files: readonly TextFile[], checks: DocumentChecks): Promise<SeedFiles> {
  return readFiles(files, { ...checks, toolSchemas: new ToolSchemaCheck() })
}

/** The files of the bundled seed, whose JSON Schemas are not compiled again. */
export async function readBundledFiles(files: readonly TextFile[], checks: DocumentChecks): Promise<SeedFiles> {
  return readFiles(files, checks)
}

async function readFiles(files: readonly TextFile[], context: CheckContext): Promise<SeedFiles> {
  const read: SeedFiles = { seeds: [], connectors: [], scenarios: [], problems: [] }
  for (const { text, file } of files) {
    const document = await readDocument(text, file, context)
    if (document.kind === 'seed') read.seeds.push(document)
    else if (document.kind === 'connector') read.connectors.push(document)
    else if (document.kind === 'scenario') read.scenarios.push(document)
    else read.problems.push(...document.problems)
  }
  return read
}

/** What the readable files of a seed hold. Connectors stand in the order of its list; files that it does not name follow. */
export function bundleOf({ seeds, connectors }: SeedFiles): SeedBundle {
  const files = connectors.flatMap((each): Connector[] => (each.connector ? [each.connector] : []))
  const bundles = seeds.flatMap(({ document }) => (document ? [toBundle(document, files)] : []))
  return mergeBundles([...bundles, { ...emptyBundle(), connectors: files }])
}

/** Everything that is wrong with the files of a seed, given the connectors that there are besides. */
export function problemsOf(files: SeedFiles, besides: KnownConnectors): Problem[] {
  const { seeds, connectors, scenarios, problems } = files
  const raw = [
    ...connectors.flatMap(({ source }) => namesIn(source.value)),
    ...seeds.flatMap(({ source, document }) => (document ? namesIn(source.value) : possibleNames(source.value))),
  ]
  const known = new Map([
    ...raw.map((name) => [name, undefined] as const),
    ...besides,
    ...connectorsIn(bundleOf(files)),
  ])
  const names = new Set(connectors.flatMap(({ source }) => namesIn(source.value)))
  return [
    ...problems,
    ...seeds.flatMap((seed) => [...seed.problems, ...located(seed.source, checkSeed(seed.source.value, known, names))]),
    ...connectors.flatMap((connector) => connector.problems),
    ...repeatedConnectors(connectors),
    ...scenarios.map(({ source }) =>
      source.problem({
        path: [],
        found: 'a scenario',
        allowed: 'seeds and connectors (scenarios start with --scenario)',
      }),
    ),
  ]
}

/** One seed document, checked against the connectors that there are besides. @throws DocumentError */
export async function parseSeed(file: TextFile, checks: DocumentChecks, besides: KnownConnectors): Promise<SeedBundle> {
  const files = await readSeedFiles([file], checks)
  const problems = problemsOf(files, besides)
  if (problems.length > 0) throw new DocumentError(problems)
  return bundleOf(files)
}

function repeatedConnectors(connectors: readonly ReadConnector[]): Problem[] {
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

async function filesAt(path: string): Promise<string[]> {
  const isFolder = await stat(path).then((found) => found.isDirectory(), unreadable(path))
  if (!isFolder) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(unreadable(path))
  const files = entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  if (files.length > 0) return files
  throw new UnreadableFileError(path, 'the folder holds no .yaml, .yml or .json file')
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch(unreadable(file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableFileError(file, 'it is not UTF-8 text')
  }
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
