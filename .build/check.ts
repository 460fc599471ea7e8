import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPackages } from './install.ts'
import { ROOT } from './project.ts'

/*
 *     npm run check:code                 # every step of CODE; one that fails does not stop the others
 *     npm run check:lint                 # one step: tsx .build/check.ts lint
 *     npm run check:lint -- src/app/cli      # lint and format: only these files and folders
 */

const CODE = {
  format: ['prettier --check .'],
  generated: ['npm run --silent generate'],
  types: ['tsc --noEmit', 'tsc --noEmit -p src/ui/dashboard', 'tsc --noEmit -p test/ui/dashboard'],
  lint: ['eslint --config .config/eslint.config.js --max-warnings 0 .'],
  spec: ['redocly lint --config .config/redocly.yaml'],
  directions: ['depcruise --config .config/dependency-cruiser.cjs src'],
  'dead-code': ['knip --config .config/knip.json'],
}
const STEPS: Readonly<Record<string, readonly string[]>> = {
  ...CODE,
  package: ['publint --strict', 'tsx .build/package.ts'],
  site: ['npm run --silent check:site'],
  image: ['tsx .build/image/check.ts'],
  release: ['tsx .build/release/check.ts'],
}

const given = process.argv.slice(2)
const named = given.filter((each) => Object.hasOwn(STEPS, each))
const files = given.filter((each) => !named.includes(each))
const names = named.length > 0 ? named : Object.keys(CODE)
const unknown = files.filter((file) => !existsSync(join(ROOT, file)))
if (unknown.length > 0)
  throw new Error(`there is no check or file ${unknown.join(', ')}; checks: ${Object.keys(STEPS).join(', ')}`)

// The programs of the checks, and the packages of the tests, whose types the compiler and the linter read.
installPackages('.config')
installPackages('test')
const PATH = ['.config', '.'].map((folder) => join(ROOT, folder, 'node_modules/.bin')).join(delimiter)
const env = { ...process.env, PATH: `${PATH}${delimiter}${process.env['PATH'] ?? ''}` }
const failed = names.filter((name) => !passes(STEPS[name] ?? []))
if (failed.length > 0) {
  console.error(`failed: ${failed.map((name) => `check:${name}`).join(', ')}`)
  process.exitCode = 1
}

/** Runs all commands, also after one that failed. */
function passes(commands: readonly string[]): boolean {
  const statuses = commands.map((step) => {
    const command = files.length > 0 ? step.replace(/ \.$/, ` ${files.join(' ')}`) : step
    console.log(`> ${command}`)
    return spawnSync(command, { cwd: ROOT, env, stdio: 'inherit', shell: true }).status
  })
  return statuses.every((status) => status === 0)
}
