import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveAndStop } from './package-server.ts'
import { manifestOf, ROOT } from './project.ts'

// `npm run check:package`: what is published, packed, installed into an empty project without a network, and used there.

/** More than this and `npx toolmock` is no longer quick. */
const BOUNDS = { packages: 10, megabytes: 15 }

/** Uses the library by its types alone, the strictest way there is. */
const CONSUMER = `import { createToolmock } from 'toolmock'
const mock = await createToolmock()
const parts: string[] = [mock.url, mock.clientId, mock.clientSecret]
await mock.close()
export { parts }
`

const folder = mkdtempSync(join(tmpdir(), 'toolmock-package-'))
try {
  install(folder)
  checkCommands(folder)
  await serveAndStop(join(folder, 'node_modules/.bin/toolmock'))
  checkLibrary(folder)
  checkTypes(folder)
  console.log(measure(folder))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function install(project: string): void {
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], ROOT)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`], project)
}

function checkCommands(project: string): void {
  const toolmock = join(project, 'node_modules/.bin/toolmock')
  const version = run(toolmock, ['--version'], project).trim()
  if (version !== manifestOf(ROOT).version) throw new Error(`toolmock --version says ${version}`)
  if (!run(toolmock, ['--help'], project).includes('Usage: toolmock')) throw new Error('toolmock --help says no usage')
}

function checkLibrary(project: string): void {
  const code = `${CONSUMER}
if (parts.some((part) => part === '')) throw new Error('the library gives no connection')`
  writeFileSync(join(project, 'library.mjs'), code.replace(': string[]', ''))
  run(process.execPath, ['library.mjs'], project)
}

function checkTypes(project: string): void {
  writeFileSync(join(project, 'consumer.ts'), CONSUMER)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    types: [],
    noEmit: true,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', project], project)
}

function measure(project: string): string {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as { packages: object }
  const packages = Object.keys(lock.packages).filter((name) => name !== '').length
  const megabytes = bytes(join(project, 'node_modules')) / 1e6
  const line = `installed: ${packages} ${packages === 1 ? 'package' : 'packages'}, ${megabytes.toFixed(2)} MB`
  if (packages > BOUNDS.packages || megabytes > BOUNDS.megabytes) {
    throw new Error(`${line}; at most ${BOUNDS.packages} packages and ${BOUNDS.megabytes} MB are published`)
  }
  return line
}

function bytes(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytes(join(path, name)), 0)
}

/** The output of a program; when it fails, what it said is shown and this fails as well. */
function run(command: string, args: readonly string[], cwd: string): string {
  mkdirSync(cwd, { recursive: true })
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
