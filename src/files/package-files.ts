import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../model/domain/once.ts'
import type { SeedBundle } from '../model/domain/seed.ts'
import { StartError } from '../model/domain/start-error.ts'
import { didYouMean } from '../model/domain/suggestion.ts'
import { thereAre } from '../model/domain/text.ts'

/* Nothing here loads YAML or zod, which a start with the bundled seed does without. */

/** The name under which `--seed` knows the seed that comes with the package. */
export const BUNDLED = 'bundled'

/** A folder of the package this file belongs to, whether it runs from `src` or from `dist`; `toolmock init` copies `starter`. */
export function packageFolder(name: 'seeds' | 'scenarios' | 'extensions' | 'starter'): string {
  return join(packageRoot(), name)
}

/** The folder with the script and the style sheet of the dashboard: the build copies what `npm run generate` makes. */
export function dashboardFolder(): string {
  const isBuilt = fileURLToPath(import.meta.url).startsWith(join(packageRoot(), 'dist') + sep)
  return join(packageRoot(), isBuilt ? 'dist/ui' : 'src/ui/dashboard/generated')
}

export async function bundledNames(kind: 'scenario' | 'extension'): Promise<string[]> {
  const entries = await readdir(packageFolder(`${kind}s`))
  return entries.flatMap((entry) => (entry.endsWith('.yaml') ? [entry.slice(0, -'.yaml'.length)] : [])).sort()
}

export function bundledFile(kind: 'scenario' | 'extension', name: string): string {
  return join(packageFolder(`${kind}s`), `${name}.yaml`)
}

/** The file of a bundled scenario or extension that the command line names. @throws StartError when there is none */
export async function bundledFileNamed(kind: 'scenario' | 'extension', name: string): Promise<string> {
  const names = await bundledNames(kind)
  if (names.includes(name)) return bundledFile(kind, name)
  throw new StartError(
    `there is no bundled ${kind} ${JSON.stringify(name)}${didYouMean(name, names)}; ${thereAre(names, 'there is none')}, or give the path of a file`,
  )
}

/** Put in by `.build/bundle.ts`. Unbundled sources have none: an earlier one may be older than the seed. */
declare const TOOLMOCK_PARSED_SEED: string | undefined

/** The bundled seed where the build has left it parsed. */
export async function parsedBundledSeed(): Promise<SeedBundle | undefined> {
  return typeof TOOLMOCK_PARSED_SEED === 'string' ? readParsedSeed() : undefined
}

/** The build has checked it. Read once for all servers of a process: a seed is never changed. */
const readParsedSeed = once(async () => {
  return JSON.parse(await readFile(resolve(packageRoot(), TOOLMOCK_PARSED_SEED ?? ''), 'utf8')) as SeedBundle
})

function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'seeds', 'default.yaml'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('the seeds folder of the package is missing')
    folder = parent
  }
  return folder
}
