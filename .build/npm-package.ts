import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Unpacks some files of a package of npm, without its scripts and on any platform.
 * @param integrity as npm states it
 * @throws Error when npm serves other bytes
 */
export function unpackFromNpm(spec: string, integrity: string, paths: readonly string[], folder: string): void {
  mkdirSync(folder, { recursive: true })
  const packed = run('npm', ['pack', spec, '--json', '--prefer-offline', '--pack-destination', folder])
  const [tarball] = JSON.parse(packed) as [{ filename: string; integrity: string }]
  if (tarball.integrity !== integrity)
    throw new Error(`${spec} has the integrity ${tarball.integrity}; pinned is ${integrity}`)
  const files = paths.map((path) => `package/${path}`)
  run('tar', ['-xzf', join(folder, tarball.filename), '-C', folder, '--strip-components=1', ...files])
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 })
}
