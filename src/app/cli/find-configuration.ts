import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { CONFIGURATION_FILES, readTextFile } from '../../files/text-files.ts'
import { isJsonObject, parsedJson } from '../../model/domain/json.ts'
import { StartError } from '../../model/domain/start-error.ts'
import type { Configuration } from './arguments.ts'

/** A `package.json` is a configuration where it has the key `toolmock`. */
const NAMES = [...CONFIGURATION_FILES, 'package.json']

/** The file that is named, else the first one upwards to the folder with `.git`. @throws StartError; DocumentError */
export async function findConfiguration(path: string | undefined): Promise<Configuration | undefined> {
  if (path !== undefined) return configurationOf(path)
  const [first, second] = await configurationFiles()
  if (first && second) throw new StartError(`${first.file} and ${second.file} are both configurations: keep one`)
  return first && parseConfiguration(first.file, first.text)
}

/** The configurations of the nearest folder that has any; more than one is a mistake. */
export async function configurationFiles(): Promise<readonly { readonly file: string; readonly text: string }[]> {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const configurations = await Promise.all(NAMES.map((name) => configurationIn(join(folder, name))))
    const there = configurations.filter((each) => each !== undefined)
    if (there.length > 0 || existsSync(join(folder, '.git')) || dirname(folder) === folder) return there
  }
}

async function configurationIn(path: string): Promise<{ readonly file: string; readonly text: string } | undefined> {
  if (!existsSync(path)) return undefined
  const file = relative(process.cwd(), path)
  const text = await readTextFile(file)
  return !path.endsWith('package.json') || hasKey(text) ? { file, text } : undefined
}

/** A package.json that is broken is reported by the programs that it is for. */
function hasKey(text: string): boolean {
  const value = parsedJson(text)
  return isJsonObject(value) && 'toolmock' in value
}

/** The configurations at a path: the file itself, or those of a folder. */
export function configurationsAt(path: string): string[] {
  if (CONFIGURATION_FILES.includes(basename(path))) return [path]
  return CONFIGURATION_FILES.map((name) => join(path, name)).filter((file) => existsSync(file))
}

/** @throws StartError; DocumentError with every problem of the file */
export async function configurationOf(file: string): Promise<Configuration> {
  return parseConfiguration(file, await readTextFile(file))
}

async function parseConfiguration(file: string, text: string): Promise<Configuration> {
  // The schema and its libraries are loaded where there is a file.
  const { readConfiguration } = await import('./configuration.ts')
  return readConfiguration(file, text, resolve(dirname(file)))
}
