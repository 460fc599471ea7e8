import { mergeBundles, type SeedBundle } from '../domain/seed.ts'
import { plural } from '../domain/text.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { DocumentError, type FileProblem } from './problem.ts'
import { connectorsIn } from './seed-checks.ts'
import { bundleOf, ofKind, problemsOf, readBundledFiles, readSeedFiles, type SeedFiles } from './seed-files.ts'

/** Where the bundled seed comes from: parsed by the build, or else its folder. */
export interface BundledSeed {
  folder: () => string
  parsed: () => Promise<SeedBundle | undefined>
}

/** The seed at one path of `--seed`. The parsed bundled seed has no files. */
export interface ReadSource {
  readonly path: string
  readonly bundle: SeedBundle
  readonly files?: SeedFiles
}

/** Reads the seed at a path, right or wrong: a file, a folder, or `bundled`. @throws UnreadableFileError */
export async function readSource(path: string, checks: DocumentChecks, bundled: BundledSeed): Promise<ReadSource> {
  const parsed = path === 'bundled' ? await bundled.parsed() : undefined
  if (parsed) return { path, bundle: parsed }
  const files =
    path === 'bundled' ? await readBundledFiles(bundled.folder(), checks) : await readSeedFiles(path, checks)
  return { path, bundle: bundleOf(files), files }
}

/** What is wrong with seeds that are put one after the other, each problem once. An account may have a connector of any of them. */
export function problemsOfSources(sources: readonly ReadSource[]): FileProblem[] {
  const known = connectorsIn(mergeBundles(sources.map(({ bundle }) => bundle)))
  const files = sources.flatMap((source) => source.files ?? [])
  const problems = [...files.flatMap((each) => problemsOf(each, known)), ...repeatedIds(files)]
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()]
}

/**
 * The seeds at these paths, in order; `note` is called with what their files do not say.
 * @throws DocumentError with the problems of all files; UnreadableFileError
 */
export async function readBundles(
  paths: readonly string[],
  checks: DocumentChecks,
  bundled: BundledSeed,
  note: (line: string) => void = () => undefined,
): Promise<SeedBundle[]> {
  const sources: ReadSource[] = []
  for (const path of paths) sources.push(await readSource(path, checks, bundled))
  const problems = problemsOfSources(sources)
  if (problems.length > 0) throw new DocumentError(problems)
  for (const line of sources.flatMap(notesOn)) note(line)
  return sources.map(({ bundle }) => bundle)
}

function notesOn({ path, files }: ReadSource): string[] {
  if (!files) return []
  const { beside } = files
  const came = `${plural(beside.length, 'connector')} came with it from the folder beside it: ${beside.join(', ')}`
  return [
    ...(beside.length === 0 ? [] : [`${path}: ${came}`]),
    ...ofKind(files, 'scenario').map(
      ({ source }) => `${source.file} is a scenario and was not started: --scenario starts it`,
    ),
  ]
}

/** Ids that two files give to different accounts; within one file its schema refuses them. */
function repeatedIds(files: readonly SeedFiles[]): FileProblem[] {
  const places = new Set<string>()
  const owners = new Map<string, string>()
  return files
    .flatMap((each) => ofKind(each, 'seed'))
    .flatMap(({ source, document }) =>
      (document?.accounts ?? []).flatMap(
        ({ id, connector, identifier, organization_id, user_id }, at): FileProblem[] => {
          const place = JSON.stringify([connector, identifier, organization_id, user_id])
          // An account that is there keeps its id.
          if (places.has(place)) return []
          places.add(place)
          const owner = id === undefined ? undefined : owners.get(id)
          if (id !== undefined && owner === undefined) owners.set(id, source.file)
          if (owner === undefined) return []
          const found = `${JSON.stringify(id)}, the id of another account in ${owner}`
          return [source.problem({ path: ['accounts', at, 'id'], found, allowed: 'an id that no other account has' })]
        },
      ),
    )
}
