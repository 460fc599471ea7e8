import { execFileSync, spawnSync } from 'node:child_process'
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
import { build } from 'esbuild'
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'
import { MOVED_CODE } from '../src/files/package-disk.ts'
import { plural } from '../src/model/domain/text.ts'
import { ADAPTERS, COMMONJS_CONSUMER, CONSUMER, FIXTURE, RUNNERS } from './consumer-programs.ts'
import { installPackages } from './install.ts'
import { serveAndStop } from './package-server.ts'
import { manifestOf, ROOT } from './project.ts'

// `npm run check:package` packs what is published, installs it into an empty project without a network, and uses it there.

/** The most that may be installed, so that `npx toolmock` starts quickly. */
const BOUNDS = { packages: 10, megabytes: 10 }

const folder = mkdtempSync(join(tmpdir(), 'toolmock-package-'))
try {
  install(folder)
  checkCommands(folder)
  await serveAndStop([join(folder, 'node_modules/.bin/toolmock')])
  checkLibrary(folder)
  await checkBundles(folder)
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

/** A bundled program works with toolmock outside of the bundle, and says so where it is inside. */
async function checkBundles(project: string): Promise<void> {
  for (const [program, format] of Object.entries({ 'library.mjs': 'esm', 'library.cjs': 'cjs' } as const)) {
    for (const external of [['toolmock'], []]) {
      const outfile = join(project, 'bundled', program)
      const entryPoints = [join(project, program)]
      await build({ bundle: true, platform: 'node', logLevel: 'error', entryPoints, outfile, format, external })
      const { stderr, status } = spawnSync(process.execPath, [outfile], { encoding: 'utf8' })
      if (external.length > 0 ? status !== 0 : !stderr.includes(MOVED_CODE))
        throw new Error(`${program} in a bundle ${external.length > 0 ? 'without' : 'with'} toolmock: ${stderr}`)
    }
  }
}

/** Type-checks the programs without the types of Node. The declarations of the library are checked as well. */
function checkTypes(project: string): void {
  checkTypesOf(project, { 'consumer.mts': CONSUMER, 'consumer.cts': COMMONJS_CONSUMER }, {})
}

/** Type-checks the adapters against the types of their runners, without a check of these, and runs the test with vitest. */
function checkAdapters(project: string): void {
  installPackages('test/runners')
  mkdirSync(join(project, 'node_modules/@playwright'))
  for (const [name, path] of Object.entries(RUNNERS)) symlinkSync(join(ROOT, path), join(project, 'node_modules', name))
  const files = { 'fixture.test.ts': FIXTURE, 'adapters.mts': ADAPTERS, 'adapters.cts': ADAPTERS }
  checkTypesOf(project, files, { skipLibCheck: true })
  // As ts-jest compiles to CommonJS. `npm run check:compilers` has the other compilers and module resolutions.
  checkTypesOf(
    project,
    { 'consumer.ts': COMMONJS_CONSUMER, 'adapters.ts': ADAPTERS },
    { module: 'commonjs', moduleResolution: 'node', ignoreDeprecations: '6.0', skipLibCheck: true },
  )
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
