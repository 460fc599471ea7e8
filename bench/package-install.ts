import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A package that is installed in its own folder, as a user installs it. */
export interface InstalledPackage {
  /** The package itself. */
  folder: string
  version: string
  packages: number
  megabytes: number
}

/** Packs a project and installs the tarball without a network. All rows measure this installation. */
export async function installPacked(project: string, into: string): Promise<InstalledPackage> {
  mkdirSync(into, { recursive: true })
  const output = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', into], project)
  const [{ filename }] = JSON.parse(output) as [{ filename: string }]
  return installPackage(into, 'toolmock', [join(into, filename), '--offline'])
}

/** Installs a package below a folder. @throws Error with the output of npm */
export async function installPackage(into: string, name: string, args: readonly string[]): Promise<InstalledPackage> {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, 'package.json'), JSON.stringify({ private: true }))
  await npm(['install', '--prefix', into, '--ignore-scripts', '--no-audit', '--no-fund', ...args], into)
  return installedPackage(into, name)
}

/** The package that is installed below a folder, with the number and the size of all packages there. */
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

/** A hash of the paths and contents of all files of a folder. */
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

async function npm(args: readonly string[], cwd: string): Promise<string> {
  return (await promisify(execFile)('npm', args, { cwd, timeout: 240_000 })).stdout
}
