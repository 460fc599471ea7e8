import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, systemCode, systemReason } from '../model/domain/system-error.ts'
import { UnreadableFileError } from './problem.ts'

/** What a configuration file may be called. In a folder of seeds it is no part of them. */
export const CONFIGURATION_FILES: readonly string[] = ['toolmock.config.yaml', 'toolmock.config.json']

export interface TextFile {
  file: string
  text: string
}

/** At any depth, in the order of names. Unreadable files go to `skipped`; without it the first of them is thrown. */
export async function textFiles(path: string, skipped?: UnreadableFileError[]): Promise<TextFile[]> {
  const files = (await isFolder(path)) ? await filesIn(path) : [path]
  if (files.length === 0) throw new UnreadableFileError(path, 'the folder has no .yaml, .yml or .json file')
  return readTextFileList(files, skipped)
}

/** The texts in a folder; none where there is no folder. */
export async function readTextFiles(folder: string, skipped?: UnreadableFileError[]): Promise<TextFile[]> {
  const isThere = await stat(folder).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => (hasCode(error, 'ENOENT', 'ENOTDIR') ? false : throwUnreadable(folder)(error)),
  )
  return isThere ? readTextFileList(await filesIn(folder), skipped) : []
}

/** The texts in the folder `connectors` beside a file; none beside a folder, which has its connectors inside. */
export async function textsBeside(path: string, skipped?: UnreadableFileError[]): Promise<TextFile[]> {
  return (await isFolder(path)) ? [] : readTextFiles(join(dirname(path), 'connectors'), skipped)
}

export async function readTextFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch(throwUnreadable(file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableFileError(file, 'it is not UTF-8 text')
  }
}

export function isFolder(path: string): Promise<boolean> {
  return stat(path).then((stats) => stats.isDirectory(), throwUnreadable(path))
}

/** Each file once. Hidden files are of other programs; in a volume of Kubernetes files link into a hidden folder. */
async function filesIn(folder: string, visited = new Set<string>()): Promise<string[]> {
  visited.add(await realpath(folder).catch(() => folder))
  const paths: string[] = []
  for (const name of (await readdir(folder).catch(throwUnreadable(folder))).sort()) {
    const path = join(folder, name)
    const place = await realpath(path).catch(() => path)
    if (name.startsWith('.') || name === 'node_modules' || visited.has(place)) continue
    visited.add(place)
    const target = await stat(path).catch(() => undefined)
    const isTaken = /\.(?:ya?ml|json)$/.test(name) && !CONFIGURATION_FILES.includes(name)
    if (target?.isDirectory()) paths.push(...(await filesIn(path, visited)))
    else if (isTaken && target?.isFile() !== false) paths.push(path)
  }
  return paths.sort()
}

async function readTextFileList(files: readonly string[], skipped?: UnreadableFileError[]): Promise<TextFile[]> {
  const results = await Promise.allSettled(files.map(async (file) => ({ file, text: await readTextFile(file) })))
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return result.value
    if (!skipped || !(result.reason instanceof UnreadableFileError)) throw result.reason
    skipped.push(result.reason)
    return []
  })
}

function throwUnreadable(path: string): (error: unknown) => never {
  return (error) => {
    const reason = REASONS[systemCode(error) ?? ''] ?? `it cannot be read (${systemReason(error)})`
    throw new UnreadableFileError(path, reason)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read',
  EISDIR: 'it is a folder',
}
