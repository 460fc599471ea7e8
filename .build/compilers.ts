import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ADAPTERS, COMMONJS_CONSUMER, CONSUMER, RUNNERS } from './consumer-programs.ts'
import { installPackages } from './install.ts'
import { ROOT } from './project.ts'

// `npm run check:compilers` type-checks programs of users with each version of TypeScript and each way to resolve modules.

const COMPILERS = 'test/types'

interface Resolution {
  readonly module: string
  readonly files: Readonly<Record<string, string>>
}
const MODULE_FILES = {
  'consumer.mts': CONSUMER,
  'consumer.cts': COMMONJS_CONSUMER,
  'adapters.mts': ADAPTERS,
  'adapters.cts': ADAPTERS,
}
const RESOLUTIONS: Readonly<Record<string, Resolution>> = {
  // As ts-jest compiles to CommonJS. It reads no `exports`, so `typesVersions` has the subpaths.
  node: { module: 'commonjs', files: { 'consumer.ts': COMMONJS_CONSUMER, 'adapters.ts': ADAPTERS } },
  node16: { module: 'node16', files: MODULE_FILES },
  nodenext: { module: 'nodenext', files: MODULE_FILES },
  bundler: { module: 'esnext', files: { 'consumer.ts': CONSUMER, 'adapters.ts': ADAPTERS } },
}

/** One compiler waits for the disk while another one computes. */
const AT_ONCE = 2

installPackages(COMPILERS)
installPackages('test/runners')
const { devDependencies } = JSON.parse(readFileSync(`${ROOT}${COMPILERS}/package.json`, 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>
}
const waiting = Object.keys(devDependencies).flatMap((compiler) =>
  Object.entries(RESOLUTIONS)
    // TypeScript 7 has no `moduleResolution: node`.
    .filter(([name]) => name !== 'node' || compiler !== 'typescript-7')
    .map(([name, resolution]) => ({ compiler, name, resolution })),
)
const folder = mkdtempSync(join(tmpdir(), 'toolmock-compilers-'))
try {
  installDeclarations(join(folder, 'node_modules'))
  const total = waiting.length
  const failures: string[] = []
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) failures.push(...(await errorsOf(next)))
    }),
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
  console.log(`types: ${total} pairs of compiler and module resolution`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A copy, because a compiler resolves a link to its target, where there are no packages of test runners. */
function installDeclarations(packages: string): void {
  for (const [name, path] of Object.entries(RUNNERS)) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(join(ROOT, path), join(packages, name))
  }
  for (const name of ['package.json', 'dist'])
    cpSync(join(ROOT, name), join(packages, 'toolmock', name), {
      recursive: true,
      filter: (path) => !/\/dist\/(chunks|ui)$/.test(path),
    })
}

async function errorsOf({ compiler, name, resolution }: (typeof waiting)[number]): Promise<string[]> {
  const project = join(folder, compiler, name)
  mkdirSync(project, { recursive: true })
  for (const [file, code] of Object.entries(resolution.files)) writeFileSync(join(project, file), code)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: resolution.module,
    moduleResolution: name,
    target: 'es2022',
    lib: ['es2023', 'dom'],
    types: [],
    noEmit: true,
    // The declarations of the test runners do not fit every compiler.
    skipLibCheck: true,
    ...(compiler === 'typescript-6' && name === 'node' && { ignoreDeprecations: '6.0' }),
  }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: Object.keys(resolution.files) }),
  )
  const tsc = `${ROOT}${COMPILERS}/node_modules/${compiler}/bin/tsc`
  return promisify(execFile)(process.execPath, [tsc, '--project', project]).then(
    () => [],
    (error: unknown) => [`${compiler}, moduleResolution ${name}:\n${(error as { stdout: string }).stdout.trimEnd()}`],
  )
}
