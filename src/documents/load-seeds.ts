import { type SeedBundle, withDefaultClient } from '../domain/seed.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { BUNDLED, parsedBundledSeed } from './package-files.ts'

const loadReader = lazyImport(() => import('./seed-files.ts'))

/**
 * The seeds at these paths, one after the other: a file, a folder, or `bundled`. Neither YAML nor zod is loaded for the
 * bundled one where the build has left it parsed. `note` is called with what the files do not say.
 * @throws DocumentError with the problems of all files; UnreadableFileError
 */
export async function loadSeeds(
  paths: readonly string[],
  checks: DocumentChecks,
  note: (line: string) => void = () => undefined,
): Promise<SeedBundle> {
  const isBundled = paths.length === 1 && paths[0] === BUNDLED
  const parsed = isBundled ? await parsedBundledSeed() : undefined
  if (parsed) return withDefaultClient(parsed)
  const { notesOn, readSources, soundBundle } = await loadReader()
  const sources = await readSources(paths, checks)
  const bundle = soundBundle(sources)
  for (const line of sources.flatMap(notesOn)) note(line)
  return withDefaultClient(bundle)
}
