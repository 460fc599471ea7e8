import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { installPackages } from './install.ts'
import { ROOT } from './project.ts'

/*
 *     npm run check:all                  # every step of STEPS; one that fails does not stop the others
 *     npm run check:code                 # those of CODE
 *     npm run check:lint                 # one step: tsx .build/check.ts lint
 *     npm run check:lint -- src/app/cli      # lint and format: only these files and folders
 */

const CODE = {
  generated: ['npm run --silent generate'],
  lint: ['eslint --config .config/eslint.config.js --max-warnings 0 .'],
  types: ['tsc --noEmit', 'tsc --noEmit -p src/ui/dashboard', 'tsc --noEmit -p test/ui/dashboard'],
  format: ['prettier --check .'],
  'dead-code': ['knip --config .config/knip.json'],
  directions: ['depcruise --config .config/dependency-cruiser.cjs src'],
  spec: ['redocly lint --config .config/redocly.yaml'],
}
const { generated, lint, types, format, ...short } = CODE
/** In the order in which they begin: the longest first, but what waits for a build after another long one, so that both work. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  generated,
  build: ['tsx .build/bundle.ts'],
  site: ['npm run --silent check:site'],
  image: ['tsx .build/image/check.ts'],
  lint,
  release: ['tsx .build/release/check.ts'],
  types,
  format,
  package: ['publint --strict', 'tsx .build/package.ts'],
  ...short,
}
/** They take minutes and what they read rarely changes, so `npm run release:check` runs them and CI does not. */
const OF_RELEASES: Readonly<Record<string, readonly string[]>> = {
  'second-build': ['tsx .build/release/check.ts --second-build'],
  compilers: ['tsx .build/compilers.ts'],
  binary: ['tsx .build/binary/check.ts'],
  runtimes: ['tsx .build/runtimes.ts'],
}
const ALL_STEPS = { ...STEPS, ...OF_RELEASES }
/** What reads the files that another step makes waits for it. */
const AFTER: Readonly<Record<string, string>> = {
  image: 'build',
  release: 'build',
  'second-build': 'build',
  package: 'build',
  compilers: 'build',
  binary: 'build',
  runtimes: 'build',
}
/** One step waits for disks and processes while another one computes. */
const AT_ONCE = 2

const words = process.argv.slice(2)
const wanted = words[0] === 'all' ? Object.keys(STEPS) : words.filter((word) => Object.hasOwn(ALL_STEPS, word))
const files = words.filter((word) => word !== 'all' && !wanted.includes(word))
const unknown = files.filter((file) => !existsSync(join(ROOT, file)))
if (unknown.length > 0)
  throw new Error(`there is no check or file ${unknown.join(', ')}; checks: ${Object.keys(ALL_STEPS).join(', ')}`)

// The programs of the checks, and the packages of the tests, whose types the compiler and the linter read.
installPackages('.config')
installPackages('test')
const PATH = ['.config', '.'].map((folder) => join(ROOT, folder, 'node_modules/.bin')).join(delimiter)
const env = { ...process.env, PATH: `${PATH}${delimiter}${process.env['PATH'] ?? ''}` }

const waiting = Object.keys(ALL_STEPS).filter((name) => (wanted.length > 0 ? wanted.includes(name) : name in CODE))
const results = new Map<string, Promise<boolean>>()
// The other steps read what it generates.
if (waiting[0] === 'generated') {
  waiting.shift()
  await begin('generated')
}
await Promise.all(Array.from({ length: AT_ONCE }, beginWaiting))
const failed: string[] = []
for (const [name, passes] of results) if (!(await passes)) failed.push(`check:${name}`)
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function beginWaiting(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await begin(name)
}

function begin(name: string): Promise<boolean> {
  const result = runStep(name)
  results.set(name, result)
  return result
}

/** Runs all commands, also after one that failed. */
async function runStep(name: string): Promise<boolean> {
  await results.get(AFTER[name] ?? '')
  let passes = true
  for (const step of ALL_STEPS[name] ?? [])
    if (!(await runCommand(files.length > 0 ? step.replace(/ \.$/, ` ${files.join(' ')}`) : step))) passes = false
  return passes
}

/** Prints what a command says when it has ended, so that two at once do not mix. */
async function runCommand(command: string): Promise<boolean> {
  const began = performance.now()
  const child = spawn(`${command} 2>&1`, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'], shell: true })
  const status = new Promise((resolve) => child.once('close', resolve))
  const output = await text(child.stdout)
  const hasPassed = (await status) === 0
  console.log(`> ${command} (${((performance.now() - began) / 1000).toFixed(0)} s)\n${output.trimEnd()}`)
  return hasPassed
}
