import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'
import { plural } from '../src/domain/text.ts'
import { serveAndStop } from './package-server.ts'
import { manifestOf, ROOT } from './project.ts'

// `npm run check:package` packs what is published, installs it into an empty project without a network, and uses it there.

/** The most that may be installed, so that `npx toolmock` starts quickly. */
const BOUNDS = { packages: 10, megabytes: 15 }

/** A user's program. It is type-checked with strict options, and runs as an ES module once its types are removed. */
const CONSUMER = `import { connect, createToolmock, ToolmockError } from 'toolmock'
import type { JournalEntry, Toolmock, ToolmockEnvironment, ToolmockOptions, Variables } from 'toolmock'

const options: ToolmockOptions = { scenario: 'token-dies-mid-run', clock: '2026-01-01T00:00:00Z', freeze: true }
const mock: Toolmock = await createToolmock(options)
const variables: Variables = mock.env
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: mock.clientId,
  client_secret: variables.TOOLMOCK_CLIENT_SECRET,
})
const token = await fetch(mock.url + '/oauth/token', { method: 'POST', body: form })
const entries: readonly JournalEntry[] = await mock.journal.requests({ operation: 'create_token' })
const { now } = await mock.clock.advance('2h')
const elsewhere = await connect(mock.url)
const other: ToolmockEnvironment = await elsewhere.environment('worker-2')
await other.seed({ accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] })
await other.connections.disable('mail')
await other.snapshots.take('before')
const refused: unknown = await other.accounts.expire('ca_none').catch((error: unknown) => error)
const code: string = refused instanceof ToolmockError ? refused.code : ''
const unfired = (await mock.scenarios.unfired()).map(({ rule }) => rule)
await other[Symbol.asyncDispose]()
await mock.close()
const seen: unknown = [token.status, entries[0]?.status, now, code, unfired.length]
if (JSON.stringify(seen) !== '[200,200,"2026-01-01T02:00:00.000Z","ACCOUNT_NOT_FOUND",2]') {
  throw new Error('unexpected results of the library: ' + JSON.stringify(seen))
}
`

/** A user's test with the fixture, which only a project with vitest can import. */
const FIXTURE = `import { test, toolmockTest, type ToolmockFixtures } from 'toolmock/vitest'
const strict: typeof test = toolmockTest({ strict: true })
strict('has an environment', async ({ mock, toolmock }: ToolmockFixtures) => {
  if (mock.url !== toolmock.url || (await mock.journal.count()) !== 0) throw new Error('no environment of its own')
})
`

const folder = mkdtempSync(join(tmpdir(), 'toolmock-package-'))
try {
  install(folder)
  checkCommands(folder)
  await serveAndStop(join(folder, 'node_modules/.bin/toolmock'))
  checkLibrary(folder)
  checkTypes(folder)
  console.log(measure(folder))
  checkFixture(folder)
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
  if (version !== manifestOf(ROOT).version)
    throw new Error(`toolmock --version prints ${version}, not ${manifestOf(ROOT).version}`)
  if (!run(toolmock, ['--help'], project).includes('Usage: npx toolmock'))
    throw new Error('toolmock --help prints no usage')
}

function checkLibrary(project: string): void {
  const { outputText } = transpileModule(CONSUMER, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 },
  })
  writeFileSync(join(project, 'library.mjs'), outputText)
  run(process.execPath, ['library.mjs'], project)
}

/** Type-checks the program without the types of Node. The declarations of the library are checked as well. */
function checkTypes(project: string): void {
  checkTypesOf(project, 'consumer.ts', CONSUMER, {})
}

/** Type-checks and runs the fixture's test in a project with vitest, without a check of vitest's declarations. */
function checkFixture(project: string): void {
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(project, 'node_modules/vitest'))
  checkTypesOf(project, 'fixture.test.ts', FIXTURE, { skipLibCheck: true })
  run(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', project], project)
  rmSync(join(project, 'node_modules/vitest'))
}

function checkTypesOf(project: string, file: string, code: string, more: object): void {
  writeFileSync(join(project, file), code)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
    noEmit: true,
    ...more,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', project], project)
}

function measure(project: string): string {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as { packages: object }
  const packages = Object.keys(lock.packages).filter((name) => name !== '').length
  const megabytes = bytes(join(project, 'node_modules')) / 1e6
  const line = `installed: ${plural(packages, 'package')}, ${megabytes.toFixed(2)} MB`
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

/** Runs a program and returns its output. @throws Error when it fails; its stderr is shown */
function run(command: string, args: readonly string[], cwd: string): string {
  mkdirSync(cwd, { recursive: true })
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
