import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Extension, servesSame } from '../domain/extension.ts'
import { isScenarioPath } from '../domain/scenario.ts'
import { StartError } from '../domain/start-error.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { lazyImport } from '../lazy-import.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { bundledExtensionFolder } from './load-seeds.ts'

/** The parser and its schemas are loaded when the first extension is read. */
const loadParser = lazyImport(async () => {
  const [{ textOf }, { parseExtension }] = await Promise.all([import('./seed-files.ts'), import('./read.ts')])
  return { textOf, parseExtension }
})

/**
 * The extensions that `--extension` names, in order: a bundled one by its name, or a file by its path.
 * @throws StartError for an unknown name, or two that answer the same; DocumentError with every problem, UnreadableFileError
 */
export async function loadExtensions(names: readonly string[], checks: DocumentChecks): Promise<Extension[]> {
  const extensions: Extension[] = []
  for (const name of names) {
    const file = isScenarioPath(name) ? name : await bundledFile(name)
    const { textOf, parseExtension } = await loadParser()
    const extension = await parseExtension(await textOf(file), file, checks)
    const conflict = conflictWith(extension, extensions)
    if (conflict !== undefined) throw new StartError(`${file}: ${conflict}`)
    extensions.push(extension)
  }
  return extensions
}

/** Why an extension cannot be there together with others; undefined where it can. */
function conflictWith(added: Extension, others: readonly Extension[]): string | undefined {
  for (const { extension, responders } of others) {
    if (extension === added.extension) return `extension ${extension} is there for the second time; give each once`
    for (const { name, on } of added.responders) {
      const same = responders.find((responder) => servesSame(on, responder.on))
      if (same)
        return `responder ${name} answers ${on.path}, which responder ${same.name} of extension ${extension} answers`
    }
  }
  return undefined
}

async function bundledFile(name: string): Promise<string> {
  const folder = bundledExtensionFolder()
  const names = (await readdir(folder)).map((entry) => entry.replace(/\.yaml$/, '')).sort()
  if (names.includes(name)) return join(folder, `${name}.yaml`)
  throw new StartError(
    `there is no bundled extension ${JSON.stringify(name)}${didYouMean(name, names)}; there are ${names.join(', ')}, or give the path of a file`,
  )
}
