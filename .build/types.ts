import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { ROOT } from './project.ts'

const IMPORTS = /(?<=\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"]+)\1/g

/** The declarations that the package exports, and the packages that they may import: those that their users have installed. */
const ENTRIES = [
  { entry: 'index.d.ts', packages: [] },
  { entry: 'vitest.d.ts', packages: ['vitest'] },
]

/**
 * Writes the declarations that the entries need, and only those. A type of a bundled package is refused: users would have to
 * install that package.
 * @throws Error that names the file which imports a package
 */
export function emitTypes(outdir: string): void {
  const all = mkdtempSync(join(tmpdir(), 'toolmock-types-'))
  try {
    const tsc = resolve(ROOT, 'node_modules/typescript/bin/tsc')
    const project = resolve(ROOT, '.config/tsconfig.types.json')
    execFileSync(process.execPath, [tsc, '--project', project, '--outDir', all], { stdio: 'inherit' })
    const files = ENTRIES.flatMap(({ entry, packages }) => [...reachable(join(all, entry), packages)])
    for (const file of new Set(files)) {
      const target = join(outdir, relative(all, file))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, declarationsOf(file))
    }
  } finally {
    rmSync(all, { recursive: true, force: true })
  }
}

/** The declaration file and all that it imports, directly or indirectly. */
function reachable(file: string, packages: readonly string[], seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, , name = ''] of readFileSync(file, 'utf8').matchAll(IMPORTS)) {
    if (name.startsWith('.')) reachable(resolve(dirname(file), name.replace(/\.ts$/, '.d.ts')), packages, seen)
    else if (!packages.includes(name)) throw new Error(`The public types reach ${file}, which imports ${name}`)
  }
  return seen
}

/** The declarations with `.js` in relative imports, which every module resolution accepts. */
function declarationsOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(IMPORTS, (whole, quote: string, name: string) =>
    name.startsWith('.') && existsSync(resolve(dirname(file), name.replace(/\.ts$/, '.d.ts')))
      ? `${quote}${name.replace(/\.ts$/, '.js')}${quote}`
      : whole,
  )
}
