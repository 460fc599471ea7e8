import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../domain/once.ts'
import { mergeBundles, type SeedBundle, withDefaultClient } from '../domain/seed.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import type { BundledSeed } from './read-bundles.ts'

/**
 * The file with the parsed bundled seed. The bundler puts it in (`.build/bundle.ts`), and so does a test run
 * (`.config/test-build.ts`). Sources that run unbundled have none: what an earlier build parsed may be older than the seed.
 */
declare const TOOLMOCK_PARSED_SEED: string | undefined

const loadReader = lazyImport(() => import('./read-bundles.ts'))

/** The name under which `--seed` knows the seed that comes with the package. */
export const BUNDLED = 'bundled'

/**
 * The seeds at these paths, one after the other: a file, a folder, or `bundled`. Neither YAML nor zod is loaded for the
 * bundled one where the build has left it parsed. `note` is called with which connectors came with a seed file.
 * @throws DocumentError with the problems of all files; UnreadableFileError
 */
export async function loadSeeds(
  paths: readonly string[],
  checks: DocumentChecks,
  note?: (line: string) => void,
): Promise<SeedBundle> {
  if (paths.length === 1 && paths[0] === BUNDLED) {
    const parsed = await parsedBundledSeed()
    if (parsed) return withDefaultClient(parsed)
  }
  const { readBundles } = await loadReader()
  const bundles = await readBundles(paths, checks, BUNDLED_SEED, note)
  return withDefaultClient(mergeBundles(bundles))
}

/** The `seeds` folder of the package this file belongs to, whether it runs from `src` or from `dist`. */
export function bundledSeedFolder(): string {
  return join(packageRoot(), 'seeds')
}

export function bundledScenarioFolder(): string {
  return join(packageRoot(), 'scenarios')
}

export function bundledExtensionFolder(): string {
  return join(packageRoot(), 'extensions')
}

/** The folder with the files that `toolmock init` writes, a folder for each example. */
export function starterFolder(): string {
  return join(packageRoot(), 'starter')
}

/** The folder with the script and the style sheet of the dashboard: the build copies what `npm run generate` makes. */
export function dashboardFolder(): string {
  return join(packageRoot(), isBuilt() ? 'dist/ui' : 'src/ui/generated')
}

async function parsedBundledSeed(): Promise<SeedBundle | undefined> {
  return typeof TOOLMOCK_PARSED_SEED === 'string' ? readParsedSeed() : undefined
}

/** The build has checked it. Read once for all servers of a process: a seed is never changed. */
const readParsedSeed = once(async () => {
  return JSON.parse(await readFile(resolve(packageRoot(), TOOLMOCK_PARSED_SEED ?? ''), 'utf8')) as SeedBundle
})

function isBuilt(): boolean {
  return fileURLToPath(import.meta.url).startsWith(join(packageRoot(), 'dist') + sep)
}

export const BUNDLED_SEED: BundledSeed = { folder: bundledSeedFolder, parsed: parsedBundledSeed }

function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'seeds', 'default.yaml'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('the seeds folder of the package is missing')
    folder = parent
  }
  return folder
}
