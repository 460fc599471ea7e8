import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { FORM } from './form.ts'
import { ROOT } from './project.ts'
import { loadedByStart } from './start-weight.ts'

/**
 * Makes one file of the small chunks that every start loads. The bundler splits wherever two entries share code, also where
 * one is never loaded without the other: thirty files, whose finding and opening takes a twelfth of a start.
 * @throws Error when a chunk is imported in a way that this does not know
 */
export async function mergeStart(metafile: Metafile): Promise<void> {
  const { outputs } = metafile
  const merged = [...loadedByStart(metafile)].filter((name) => !outputs[name]?.entryPoint)
  const folder = `${ROOT}${merged[0]?.replace(/[^/]+$/, '') ?? ''}`
  const numbers = new Map(merged.map((name, number) => [basename(name), number]))
  await build({
    ...FORM,
    stdin: { contents: merged.map((name, number) => reexports(name, number, outputs)).join('\n'), resolveDir: folder },
    outfile: `${folder}${SHARED}`,
    plugins: [onlyThese(numbers)],
  })
  for (const name of Object.keys(outputs)) {
    const file = `${ROOT}${name}`
    if (merged.includes(name)) rmSync(file)
    else if (name.endsWith('.js')) writeFileSync(file, redirected(readFileSync(file, 'utf8'), name, numbers))
  }
}

const SHARED = 'shared.js'

/** Each export with the number of its chunk, since two chunks may have one of the same name. */
function reexports(name: string, number: number, outputs: Metafile['outputs']): string {
  const names = (outputs[name]?.exports ?? []).map((each) => `${each} as ${numbered(each, number)}`)
  return `export { ${names.join(', ')} } from './${basename(name)}'`
}

function numbered(name: string, number: number): string {
  return `${name}_${number}`
}

/** What is no merged chunk stays a file of its own. */
function onlyThese(numbers: ReadonlyMap<string, number>): Plugin {
  return {
    name: 'only-these',
    setup(plugged) {
      plugged.onResolve({ filter: /^\.\// }, ({ path }) =>
        numbers.has(basename(path)) ? undefined : { path, external: true },
      )
    },
  }
}

/** The imports that the bundler writes between chunks, and no others. */
const IMPORT = /import(?:\{([^}]*)\}from)?"(\.\/(?:chunks\/)?)(chunk-[A-Z0-9]+\.js)"/g

function redirected(code: string, file: string, numbers: ReadonlyMap<string, number>): string {
  const changed = code.replace(IMPORT, (whole, names: string | undefined, folder: string, chunk: string) => {
    const number = numbers.get(chunk)
    if (number === undefined) return whole
    if (names === undefined) return `import"${folder}${SHARED}"`
    return `import{${names
      .split(',')
      .map((each) => renumbered(each, number))
      .join(',')}}from"${folder}${SHARED}"`
  })
  const left = [...numbers.keys()].find((chunk) => changed.includes(chunk))
  if (left) throw new Error(`${file} imports ${left} in a way that .build/merged-start.ts does not know`)
  return changed
}

/** `name` or `name as local`. */
function renumbered(specifier: string, number: number): string {
  const [name = '', local = name] = specifier.split(' as ')
  return `${numbered(name, number)} as ${local}`
}
