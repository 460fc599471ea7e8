import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type ChunkingContext, type InputOptions, type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { bundledSeed } from './bundled-seed.ts'
import { SHARED, writeCommonJs } from './commonjs.ts'
import { ENTRIES } from './entries.ts'
import { billOfMaterials, bundledPackages, licenseTexts } from './licenses.ts'
import { manifestOf, ROOT } from './project.ts'
import { emitTypes } from './types.ts'

// `npm run build` makes everything that the published package has in dist/.
//
// rolldown bundles the command line, the library and the adapters for test runners with every package that they use: the
// published package has no dependencies. A dynamic import stays a chunk of its own, which Node reads when it is first needed. All that
// `toolmock start` imports statically is one chunk: with thirty small chunks a start takes a twelfth longer.

/** A `try` block that begins with a call of `decodeURIComponent` or its like and ignores the result. */
const CALL_THAT_THROWS = /(try\s*\{\s*)((?:de|en)codeURI(?:Component)?\([^()]*\))(?=;?\s*return true)/g

/** The package assigns its exports to `this`. rolldown treats it as CommonJS only with this wrapper. */
const uriTemplate: Plugin = {
  name: 'uri-template-lite',
  transform: {
    filter: { id: /uri-template-lite\/index\.js$/ },
    handler: (code) => ({ code: `(function(){${code}\n}).call(exports)`, map: null }),
  },
}

/**
 * rolldown treats `decodeURIComponent` and its like as free of side effects, and removes a call whose result is unused. Such
 * a call throws when the text is not well encoded, and the code around it relies on that.
 */
const callsThatThrow: Plugin = {
  name: 'calls-that-throw',
  transform: {
    filter: { code: CALL_THAT_THROWS },
    handler: (code) => ({
      code: code.replaceAll(CALL_THAT_THROWS, '$1if ($2 === undefined) return false'),
      map: null,
    }),
  },
}

const CLI = { name: 'cli', source: 'src/app/cli/main.ts' }

/** The entries of `toolmock start` after `src/app/cli/main.ts`: each of these modules imports the next one dynamically. */
const START = ['src/app/cli/program.ts', 'src/app/cli/start.ts', 'src/app/app.ts']

/** The other ways to start a mock. */
const OTHER_STARTS = ['src/app/cli/run.ts', 'src/index.ts']

/** Packages that take longer to load than the rest of a start together. The validators use only small run-time parts of Ajv. */
const HEAVY =
  /node_modules\/(zod|yaml|pg|undici|re2js|@modelcontextprotocol|@bufbuild|@connectrpc|@faker-js|@stoplight|@peculiar|ajv\/dist\/(?!runtime\/)|ajv-formats\/dist\/(?!formats))/

/** The packages in the bundle of the dashboard, which `npm run generate` makes. */
const DASHBOARD_PACKAGES = [...['preact', '@preact/signals', '@preact/signals-core']].map(
  (name) => `${ROOT}node_modules/${name}/package.json`,
)

/** The typefaces of the dashboard, which come with it. */
const TYPEFACES = ['geist', 'geist-mono'].map((name) => ({
  name: `@fontsource-variable/${name}`,
  version: '5.3.0',
  license: 'OFL-1.1',
  text: readFileSync(`${ROOT}src/ui/dashboard/assets/OFL.txt`, 'utf8').trim(),
}))

/** The media types that the mock sends or reads. */
const MEDIA_TYPES = new Set([
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/yaml',
  'image/svg+xml',
  'multipart/form-data',
  'text/css',
  'text/event-stream',
  'text/html',
  'text/javascript',
  'text/plain',
  'text/xml',
  'text/yaml',
])

/** What `debug` and `depd` export, without their output. */
const SILENT = '() => Object.assign(() => {}, { function: (wrapped) => wrapped, property: () => {} })'

/**
 * Replaces what packages contain and the mock never uses. Of Express: most of its table of media types, its parsers of
 * bodies (`body-parser`) and nested query parameters (`qs`), files, cookies, addresses of proxies (`ipaddr.js`), and messages
 * for whoever develops with it (`debug`, `depd`). Of Prism: Postman collections, remote references, fake data.
 */
const unused: Plugin = {
  name: 'unused',
  load: {
    filter: { id: /mime-db\/db\.json$|^\0unused:/ },
    handler: (id) => {
      if (!id.endsWith('db.json')) {
        return {
          code: `module.exports = ${id.endsWith(':debug') || id.endsWith(':depd') ? SILENT : '{}'}`,
          moduleType: 'js',
        }
      }
      const all = Object.entries(JSON.parse(readFileSync(id, 'utf8')) as object)
      return {
        code: JSON.stringify(Object.fromEntries(all.filter(([type]) => MEDIA_TYPES.has(type)))),
        moduleType: 'json',
      }
    },
  },
  resolveId: {
    filter: {
      id: /^(postman-collection|node-fetch|@faker-js\/faker|body-parser|qs|send|serve-static|content-disposition|cookie|cookie-signature|ipaddr\.js|debug|depd)$/,
    },
    handler: (id) => ({ id: `\0unused:${id}` }),
  },
}

/** What `toolmock start` loads: the modules of START and everything that they import statically. */
let startModules: Set<string> | undefined

function isLoadedAtStart(id: string, modules: ChunkingContext): boolean {
  if (startModules === undefined) {
    startModules = new Set(START.map((path) => ROOT + path))
    for (const each of startModules)
      for (const imported of modules.getModuleInfo(each)?.importedIds ?? []) startModules.add(imported)
  }
  return startModules.has(id)
}

/** @throws Error that names the heavy packages which a start would load */
function checkStart(chunks: readonly OutputChunk[]): void {
  const entries = [...START, ...OTHER_STARTS].map((path) => ROOT + path)
  const loaded = new Set(chunks.filter(({ moduleIds }) => moduleIds.some((id) => entries.includes(id))))
  for (const { imports } of loaded) for (const each of chunks) if (imports.includes(each.fileName)) loaded.add(each)
  const heavy = [...loaded].flatMap(({ moduleIds }) => moduleIds.flatMap((id) => HEAVY.exec(id)?.[0] ?? []))
  if (heavy.length === 0) return
  throw new Error(`A start would load ${[...new Set(heavy)].join(', ')}: import it dynamically where it is used`)
}

/** @throws Error when the bundle lacks a call that may throw: its `try` block only returns true */
export function checkCatches(chunks: readonly OutputChunk[]): void {
  const [found] = chunks.flatMap(({ code }) => /.{0,80}try\s*\{\s*return\s*(?:!0|true);?\s*\}\s*catch/.exec(code) ?? [])
  if (found !== undefined) throw new Error(`The bundle lacks a call that may throw, see callsThatThrow: ${found}`)
}

/**
 * The same code in ASCII. V8 keeps a text with other characters at two bytes a character, which makes an idle server a megabyte
 * larger.
 * @throws Error where an escape would mean something else
 */
export function inAscii(code: string): string {
  const other = /\\\P{ASCII}|String\.raw`[^`]*\P{ASCII}/u.exec(code)?.[0]
  if (other !== undefined) throw new Error(`The bundle has a character that cannot be escaped: ${other.slice(-80)}`)
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** How the sources become a bundle; each way to publish adds its input and its output. */
export const BUNDLING = {
  cwd: ROOT,
  platform: 'node',
  // An adapter has to use the test runner of the project that imports it.
  external: ['vitest', /^vitest\//, '@jest/globals', '@playwright/test'],
  plugins: [unused, uriTemplate, callsThatThrow],
  // jsonc-parser's main file is UMD, which no bundler can follow.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  transform: {
    target: 'node20.20',
    define: {
      TOOLMOCK_VERSION: JSON.stringify(manifestOf(ROOT).version),
      TOOLMOCK_PARSED_SEED: JSON.stringify('dist/bundled-seed.json'),
    },
  },
  tsconfig: false,
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message)
  },
} satisfies InputOptions

/** Local names are shortened. Functions and classes keep their names, so that stack traces stay readable. */
export const MINIFY = { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true } as const

/** What a bundler makes of this code in CommonJS has no URL, and is to say what is wrong instead of failing while it is loaded. */
function withoutUrl(code: string): string {
  return code.replaceAll('createRequire(import.meta.url)', `createRequire(import.meta.url||'file:///')`)
}

/** Bundles the command line, the library and the adapters into `dist`. Returns the paths of the bundled modules. */
export async function bundleCode(dist: string): Promise<string[]> {
  const bundle = await rolldown({
    ...BUNDLING,
    input: Object.fromEntries([CLI, SHARED, ...ENTRIES].map(({ name, source }) => [name, source])),
  })
  const { output } = await bundle.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: MINIFY,
    comments: false,
    codeSplitting: {
      groups: [{ debugName: 'start', name: (id, modules) => (isLoadedAtStart(id, modules) ? 'start' : null) }],
    },
  })
  await bundle.close()
  const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk')
  checkStart(chunks)
  checkCatches(chunks)
  for (const { fileName, code } of chunks) writeFileSync(`${dist}/${fileName}`, withoutUrl(inAscii(code)))
  chmodSync(`${dist}/cli.js`, 0o755)
  await writeCommonJs(dist, chunks)
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}

if (process.argv[1] === import.meta.filename) {
  const dist = `${ROOT}dist`
  rmSync(dist, { recursive: true, force: true })
  const modules = await bundleCode(dist)
  // `npm run generate` bundles the dashboard, and `npm run build` runs it first.
  // The license of the typefaces is in third-party-licenses.txt.
  for (const folder of ['generated', 'assets'])
    cpSync(`${ROOT}src/ui/dashboard/${folder}`, `${dist}/ui`, {
      recursive: true,
      filter: (path) => !path.endsWith('OFL.txt'),
    })
  const packages = [...TYPEFACES, ...bundledPackages([...modules, ...DASHBOARD_PACKAGES])]
  writeFileSync(`${dist}/third-party-licenses.txt`, licenseTexts(packages))
  writeFileSync(`${dist}/bill-of-materials.cdx.json`, billOfMaterials(manifestOf(ROOT), packages))
  writeFileSync(`${dist}/bundled-seed.json`, await bundledSeed())
  emitTypes(dist)
}
