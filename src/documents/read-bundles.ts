import { mergeBundles, type SeedBundle } from '../domain/seed.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { DocumentError, type Problem } from './problem.ts'
import { connectorsIn } from './seed-checks.ts'
import { bundleOf, problemsOf, readBundledFiles, readSeedFiles, type SeedFiles, textFiles } from './seed-files.ts'

/** Where the bundled seed comes from: parsed by the build, or else its folder. */
export interface BundledSeed {
  folder: () => string
  parsed: () => Promise<SeedBundle | undefined>
}

/**
 * The seeds at these paths, in order. An account may stand at a connector of any of them.
 * @throws DocumentError with the problems of all files; UnreadableFileError
 */
export async function readBundles(
  paths: readonly string[],
  checks: DocumentChecks,
  bundled: BundledSeed,
): Promise<SeedBundle[]> {
  const read: { bundle: SeedBundle; files?: SeedFiles }[] = []
  for (const path of paths) {
    const parsed = path === 'bundled' ? await bundled.parsed() : undefined
    if (parsed) {
      read.push({ bundle: parsed })
      continue
    }
    const files =
      path === 'bundled'
        ? await readBundledFiles(await textFiles(bundled.folder()), checks)
        : await readSeedFiles(await textFiles(path), checks)
    read.push({ bundle: bundleOf(files), files })
  }
  const bundles = read.map(({ bundle }) => bundle)
  const known = connectorsIn(mergeBundles(bundles))
  const problems = read.flatMap(({ files }): Problem[] => (files ? problemsOf(files, known) : []))
  if (problems.length > 0) throw new DocumentError(problems)
  return bundles
}
