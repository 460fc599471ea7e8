import { once } from '../model/domain/once.ts'
import type { SeedBundle } from '../model/domain/seed.ts'
import { StartError } from '../model/domain/start-error.ts'
import { didYouMean } from '../model/domain/suggestion.ts'
import { thereAre } from '../model/domain/text.ts'
import { packageFile, packagePaths } from './package-disk.ts'
import type { TextFile } from './text-files.ts'

/* Nothing here loads YAML or zod, which a start with the bundled seed does without. */

/** The name under which `--seed` knows the seed that comes with the package. */
export const BUNDLED = 'bundled'

/** Put in by `.build/bundle.ts`. Unbundled sources have none: an earlier one may be older than the seed. */
declare const TOOLMOCK_PARSED_SEED: string | undefined

type BundledKind = 'scenario' | 'extension'

export async function bundledNames(kind: BundledKind): Promise<string[]> {
  const paths = await packagePaths(`${kind}s`)
  return paths.flatMap((path) => new RegExp(`^${kind}s/([^/]+)\\.yaml$`).exec(path)?.[1] ?? []).sort()
}

/** The bundled scenario or extension that the command line names. @throws StartError when there is none */
export async function bundledFile(kind: BundledKind, name: string): Promise<TextFile> {
  const names = await bundledNames(kind)
  if (names.includes(name)) return packageFile(`${kind}s/${name}.yaml`)
  throw new StartError(
    `there is no bundled ${kind} ${JSON.stringify(name)}${didYouMean(name, names)}; ${thereAre(names, 'there is none')}, or give the path of a file`,
  )
}

/** The files of the bundled seed. */
export async function bundledSeedFiles(): Promise<TextFile[]> {
  return Promise.all((await packagePaths('seeds')).sort().map(packageFile))
}

/** A file that `toolmock init` writes. */
export async function starterText(path: string): Promise<string> {
  return (await packageFile(`starter/${path}`)).text
}

/** The bundled seed where the build has left it parsed. */
export async function parsedBundledSeed(): Promise<SeedBundle | undefined> {
  return typeof TOOLMOCK_PARSED_SEED === 'string' ? readParsedSeed() : undefined
}

/** The build has checked it. Read once for all servers of a process: a seed is never changed. */
const readParsedSeed = once(async () => {
  const { text } = await packageFile(TOOLMOCK_PARSED_SEED ?? '')
  return JSON.parse(text) as SeedBundle
})
