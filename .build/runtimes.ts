import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'
import { COMMONJS_CONSUMER, CONSUMER } from './consumer-programs.ts'
import { serveAndStop } from './package-server.ts'
import { ROOT } from './project.ts'

// `npm run check:runtimes` uses the built command line and library in Bun and Deno, out of npm's packages of those names.

/** How each runs a script, and prints where its program is: npm's command is a script that starts that. */
const RUNTIMES = {
  bun: { spec: 'bun@1', place: ['-e', 'console.log(process.execPath)'], run: [] },
  deno: { spec: 'deno@2', place: ['eval', 'console.log(Deno.execPath())'], run: ['run', '--allow-all'] },
} as const

const folder = mkdtempSync(join(tmpdir(), 'toolmock-runtimes-'))
try {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/toolmock'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  writeProgram('library.mjs', CONSUMER, ModuleKind.ESNext)
  writeProgram('library.cjs', COMMONJS_CONSUMER, ModuleKind.Node16)
  for (const [name, { spec, place, run }] of Object.entries(RUNTIMES)) {
    const program = execute('npm', ['exec', '--yes', `--package=${spec}`, '--', name, ...place])
    for (const file of ['library.mjs', 'library.cjs']) execute(program, [...run, file])
    await serveAndStop([program, ...run, `${ROOT}dist/cli.js`])
    console.log(
      `${name} ${execute(program, ['--version']).split('\n', 1).join('')}: library and conformance of the server`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function writeProgram(file: string, code: string, module: ModuleKind): void {
  const compilerOptions = { module, target: ScriptTarget.ES2023 }
  const { outputText } = transpileModule(code, { compilerOptions, fileName: file.replace('js', 'ts') })
  writeFileSync(join(folder, file), outputText)
}

function execute(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
