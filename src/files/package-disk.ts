import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../model/domain/start-error.ts'
import type { TextFile } from './text-files.ts'

/* The files of the package on disk. A self-contained executable has `.build/binary/package-assets.ts` in place of this file. */

/** A file that only the package of this code has, whether it runs from `src` or from `dist`. */
const MARKER = 'spec/control.openapi.yaml'

export const MOVED_CODE =
  'the files of the package toolmock are not beside its code. A bundler that takes the code leaves them behind: keep toolmock external, as in esbuild --bundle --external:toolmock'

/** By a path in the package. */
export async function packageFile(path: string): Promise<TextFile> {
  const file = resolve(packageRoot(), path)
  return { file, text: await readFile(file, 'utf8') }
}

/** The paths of the files in a folder of the package, at any depth. */
export async function packagePaths(folder: string): Promise<string[]> {
  const root = packageRoot()
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'))
}

/** A file that the page of the dashboard loads: the build copies its assets, and what `npm run generate` makes. */
export async function dashboardFile(name: string): Promise<Buffer> {
  const isBuilt = fileURLToPath(import.meta.url).startsWith(join(packageRoot(), 'dist') + sep)
  const folder = /\.(js|css)$/.test(name) ? 'generated' : 'assets'
  return readFile(join(packageRoot(), isBuilt ? 'dist/ui' : `src/ui/dashboard/${folder}`, name))
}

/** @throws StartError when a bundler has moved this code */
export function packageRoot(): string {
  // What a bundler makes of it in CommonJS is undefined.
  const url = import.meta.url as string | undefined
  let folder = url === undefined ? '/' : dirname(fileURLToPath(url))
  while (!existsSync(join(folder, MARKER))) {
    const parent = dirname(folder)
    if (parent === folder) throw new StartError(MOVED_CODE)
    folder = parent
  }
  return folder
}
