import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A package in a folder of its own, as its user has it. */
export interface InstalledPackage {
  /** The package itself. */
  folder: string
  version: string
  packages: number
  megabytes: number
}

/** Packs a project and installs what was packed, without a network: this is what all rows measure. */
export async function installPacked(project: string, into: string): Promise<InstalledPackage> {
  mkdirSync(into, { recursive: true })
  const said = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', into], project)
  const [{ filename }] = JSON.parse(said) as [{ filename: string }]
  return installPackage(into, 'toolmock', [join(into, filename), '--offline'])
}

/** Installs a package below a folder. @throws Error with what npm said */
export async function installPackage(into: string, name: string, words: readonly string[]): Promise<InstalledPackage> {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, 'package.json'), JSON.stringify({ private: true }))
  await npm(['install', '--prefix', into, '--ignore-scripts', '--no-audit', '--no-fund', ...words], into)
  return installedPackage(into, name)
}

/** What is installed below a folder. */
export function installedPackage(into: string, name: string): InstalledPackage {
  const lock = JSON.parse(readFileSync(join(into, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>
  }
  const folder = join(into, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return {
    folder,
    version,
    packages: Object.keys(lock.packages).filter((path) => path !== '').length,
    megabytes: bytesIn(join(into, 'node_modules')) / 1e6,
  }
}

/** Changes when any file of a folder does. */
export function fingerprint(folder: string): string {
  const hash = createHash('sha256')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  for (const path of paths)
    if (statSync(join(folder, path)).isFile()) hash.update(path).update(readFileSync(join(folder, path)))
  return hash.digest('hex').slice(0, 16)
}

function bytesIn(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0)
}

async function npm(words: readonly string[], cwd: string): Promise<string> {
  return (await promisify(execFile)('npm', words, { cwd, timeout: 240_000 })).stdout
}
