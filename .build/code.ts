import { chmodSync } from 'node:fs'
import { build, type Metafile } from 'esbuild'
import { FORM } from './form.ts'
import { mergeStart } from './merged-start.ts'
import { manifestOf, ROOT } from './project.ts'
import { slimTables } from './slim.ts'

/** Packages written as CommonJS call `require`, which an ES module has to make for itself. */
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);"

/**
 * Bundles the command line and the library into `outdir`. Nothing is left to install, and what is imported dynamically stays
 * a chunk of its own, read when it is first needed.
 */
export async function bundleCode(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...FORM,
    absWorkingDir: ROOT,
    entryPoints: { cli: 'src/cli/main.ts', index: 'src/index.ts', vitest: 'src/vitest.ts' },
    outdir,
    // Whoever uses the fixture has it, and it has to be the very same one.
    external: ['vitest'],
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: REQUIRE },
    define: { TOOLMOCK_VERSION: JSON.stringify(manifestOf(ROOT).version) },
    plugins: [slimTables],
    // Its main file is UMD, whose parts no bundler finds; Prism's reader needs it.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    metafile: true,
  })
  await mergeStart(metafile)
  chmodSync(`${outdir}/cli.js`, 0o755)
  return metafile
}
