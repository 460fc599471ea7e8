import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { ENTRIES } from './entries.ts'
import { ROOT } from './project.ts'

const IMPORTS = /(?<=\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"]+)\1/g

/**
 * Writes the declarations that the entries need, and only those: once, as CommonJS, which both forms of an entry can refer to. A
 * type of a bundled package is refused: users would have to install that package.
 * @throws Error that names the file which imports a package
 */
export function emitTypes(dist: string): void {
  const outdir = `${dist}/types`
  const all = mkdtempSync(join(tmpdir(), 'toolmock-types-'))
  try {
    const tsc = resolve(ROOT, 'node_modules/typescript/bin/tsc')
    const project = resolve(ROOT, '.config/tsconfig.types.json')
    execFileSync(process.execPath, [tsc, '--project', project, '--outDir', all], { stdio: 'inherit' })
    const declared = ENTRIES.map((entry) => ({ ...entry, path: entry.source.replace(/^src\/(.*)\.ts$/, '$1') }))
    const files = declared.flatMap(({ path, packages }) => [...reachable(join(all, `${path}.d.ts`), packages)])
    for (const file of new Set(files)) {
      const target = join(outdir, relative(all, file))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, declarationsOf(file))
    }
    writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n')
    for (const { name, path } of declared)
      for (const form of ['ts', 'cts'])
        writeFileSync(`${dist}/${name}.d.${form}`, `export * from './types/${path}.js'\n`)
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

/** The declarations with `.js` in relative imports, which every module resolution accepts, and with tabs: half of them is indents. */
function declarationsOf(file: string): string {
  const text = readFileSync(file, 'utf8').replaceAll(IMPORTS, (whole, quote: string, name: string) =>
    name.startsWith('.') && existsSync(resolve(dirname(file), name.replace(/\.ts$/, '.d.ts')))
      ? `${quote}${name.replace(/\.ts$/, '.js')}${quote}`
      : whole,
  )
  return text.replaceAll(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4))
}
