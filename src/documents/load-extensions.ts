import { conflictWith, type Extension } from '../domain/extension.ts'
import { isScenarioPath } from '../domain/scenario.ts'
import { StartError } from '../domain/start-error.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { BUNDLED, bundledFileNamed } from './package-files.ts'
import { readTextFile, textsIn } from './text-files.ts'

/** The parser and its schemas are loaded when the first extension is read. */
const loadParser = lazyImport(() => import('./read.ts'))

/**
 * The extensions that `--extension` names, in order: a bundled one by its name, or a file by its path. Those in seed folders follow.
 * @throws StartError for an unknown name, or two that answer the same; DocumentError with every problem, UnreadableFileError
 */
export async function loadExtensions(
  {
    extensions: names = [],
    seeds = [],
  }: { extensions?: readonly string[] | undefined; seeds?: readonly string[] | undefined },
  checks: DocumentChecks,
): Promise<Extension[]> {
  const extensions: Extension[] = []
  const folders = seeds.filter((path) => path !== BUNDLED)
  if (names.length + folders.length === 0) return extensions
  const { parseExtension, readDocument } = await loadParser()
  const add = async (file: string, text: string): Promise<void> => {
    const extension = await parseExtension(text, file, checks)
    const conflict = conflictWith(extension, extensions)
    if (conflict !== undefined) throw new StartError(`${file}: ${conflict}`)
    extensions.push(extension)
  }
  for (const name of names) {
    const file = isScenarioPath(name) ? name : await bundledFileNamed('extension', name)
    await add(file, await readTextFile(file))
  }
  for (const { file, text } of (await Promise.all(folders.map(textsIn))).flat()) {
    // Other files of a seed need not be read for this.
    if (!/(?:^|[{,])\s*["']?extension["']?\s*:/m.test(text)) continue
    const { kind } = await readDocument(text, file, checks)
    if (kind === 'extension') await add(file, text)
  }
  return extensions
}

/** What a third party and an extension may answer. */
export const ANY_STATUS = Array.from({ length: 400 }, (_, at) => 200 + at)

/** The checks of a server with these extensions, which scenarios name as operations; there may be more later. */
export function withExtensions(
  checks: DocumentChecks,
  extensions: { readonly names: readonly string[] },
): DocumentChecks {
  return {
    ...checks,
    get operations() {
      return new Map([...checks.operations, ...extensions.names.map((name) => [name, ANY_STATUS] as const)])
    },
  }
}
