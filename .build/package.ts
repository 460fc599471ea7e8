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
import { plural } from '../src/model/domain/text.ts'
import { installPackages } from './install.ts'
import { serveAndStop } from './package-server.ts'
import { manifestOf, ROOT } from './project.ts'

// `npm run check:package` packs what is published, installs it into an empty project without a network, and uses it there.

/** The most that may be installed, so that `npx toolmock` starts quickly. */
const BOUNDS = { packages: 10, megabytes: 10 }

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

/** The same package for a program in CommonJS: TypeScript finds the types of that form, Node the code. */
const COMMONJS_CONSUMER = `import { createToolmock, ToolmockError, type Toolmock } from 'toolmock'

async function main(): Promise<void> {
  const mock: Toolmock = await createToolmock()
  const refused: unknown = await mock.accounts.expire('ca_none').catch((error: unknown) => error)
  await mock.close()
  const { ToolmockError: imported } = await import('toolmock')
  if (!(refused instanceof ToolmockError)) throw new Error('unexpected result of the library')
  if (imported.name !== ToolmockError.name || !(refused instanceof imported)) throw new Error('there are two libraries')
}
void main()
`

/** What users write with the adapters, in each form. */
const ADAPTERS = `import type { ToolmockEnvironment } from 'toolmock'
import { useToolmock as useInJest } from 'toolmock/jest'
import { useToolmock } from 'toolmock/node-test'
import { test, toolmockTest, type Consent } from 'toolmock/playwright'
import { test as vitestTest, toolmockTest as toolmockVitest } from 'toolmock/vitest'

export const mocks: ToolmockEnvironment[] = [useInJest(), useToolmock({ scope: 'worker', strict: true })]
// @ts-expect-error -- there is no such scope
useToolmock({ scope: 'file' })
export const withApplication = toolmockTest({ scope: 'worker' }).extend<{ user: string }, { application: string }>({
  application: [async ({ toolmock }, use) => use(toolmock.env.TOOLMOCK_URL), { scope: 'worker' }],
  user: ({ application }, use) => use(application),
})
test('decides', async ({ page, mock, consent, toolmock }) => {
  const typed: Consent = consent
  await typed.approve({ as: toolmock.name, link: await mock.links.wait(), page })
  await typed.deny()
  // @ts-expect-error -- a user who denies does not sign in
  await typed.deny({ as: 'ada@example.com' })
  const found: string | null = await page.locator('h1').textContent()
  throw new Error(String(found))
})
toolmockVitest({ contract: {} })('counts', async ({ mock }) => {
  const count: number = await mock.journal.count()
  throw new Error(String(count))
})
vitestTest('has a server', ({ toolmock }) => toolmock.url)
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
  checkAdapters(folder)
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
  const compilerOptions = { module: ModuleKind.Node16, target: ScriptTarget.ES2023 }
  const commonJs = transpileModule(COMMONJS_CONSUMER, { compilerOptions, fileName: 'library.cts' })
  writeFileSync(join(project, 'library.cjs'), commonJs.outputText)
  run(process.execPath, ['library.cjs'], project)
}

/** Type-checks the programs without the types of Node. The declarations of the library are checked as well. */
function checkTypes(project: string): void {
  checkTypesOf(project, { 'consumer.mts': CONSUMER, 'consumer.cts': COMMONJS_CONSUMER }, {})
}

/** Type-checks the adapters against the types of their runners, without a check of these, and runs the test with vitest. */
function checkAdapters(project: string): void {
  installPackages('test/runners')
  const runners = { vitest: 'node_modules/vitest', '@playwright/test': 'test/runners/node_modules/@playwright/test' }
  mkdirSync(join(project, 'node_modules/@playwright'))
  for (const [name, path] of Object.entries(runners)) symlinkSync(join(ROOT, path), join(project, 'node_modules', name))
  const files = { 'fixture.test.ts': FIXTURE, 'adapters.mts': ADAPTERS, 'adapters.cts': ADAPTERS }
  checkTypesOf(project, files, { skipLibCheck: true })
  run(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', project], project)
}

function checkTypesOf(project: string, files: Readonly<Record<string, string>>, more: object): void {
  for (const [file, code] of Object.entries(files)) writeFileSync(join(project, file), code)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // Stricter than `nodenext`, which lets CommonJS import ES modules.
    module: 'node16',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
    noEmit: true,
    ...more,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }))
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
