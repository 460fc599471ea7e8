import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ROOT } from './project.ts'

/*
 * Folders with a package.json of their own contain what only some tests or checks need, so that `npm ci` stays small:
 * `test`, `test/runners` and `integrations/testcontainers` for `npm run test:rest`, `.config` and `test/types` for `npm run check`, `test/long` for Lighthouse, `.build/site` for the site, `test/mutation` for Stryker.
 */

/**
 * Installs the packages of a folder by its lock file, unless they are installed.
 * @throws Error when npm cannot install them
 */
export function installPackages(folder: string): void {
  const lock = `${ROOT}${folder}/package-lock.json`
  // A copy of the lock file, written last: an interrupted installation is repeated.
  const installed = `${ROOT}${folder}/node_modules/.installed.json`
  if (contentOf(installed) === contentOf(lock)) return
  console.log(`installing the packages of ${folder}/package.json, once for this lock file`)
  const { status } = spawnSync('npm', ['ci', '--prefer-offline'], { cwd: ROOT + folder, stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`The packages of ${folder}/package.json could not be installed: run npm ci in ${folder} to see why`)
  copyFileSync(lock, installed)
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.argv.slice(2).forEach(installPackages)
