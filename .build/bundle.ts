import { rmSync, writeFileSync } from 'node:fs'
import { DOCUMENT_CHECKS } from '../src/document-checks.ts'
import { serializeBundle } from '../src/documents/bundle.ts'
import { BUNDLED, bundledSeedFolder } from '../src/documents/load-seeds.ts'
import { readBundles } from '../src/documents/read-bundles.ts'
import { mergeBundles } from '../src/domain/seed.ts'
import { bundleCode } from './code.ts'
import { licenseTexts } from './licenses.ts'
import { ROOT } from './project.ts'
import { emitTypes } from './types.ts'

// `npm run build`: everything that the published package has in dist/.
const dist = `${ROOT}dist`
rmSync(dist, { recursive: true, force: true })
const metafile = await bundleCode(dist)
writeFileSync(`${dist}/third-party-licenses.txt`, licenseTexts(metafile))
writeFileSync(`${dist}/bundled-seed.json`, await bundledSeed())
emitTypes(`${dist}/types`)

/** The bundled seed, checked and parsed, so that a start needs neither YAML nor zod. */
async function bundledSeed(): Promise<string> {
  const unparsed = { folder: bundledSeedFolder, parsed: () => Promise.resolve(undefined) }
  return serializeBundle(mergeBundles(await readBundles([BUNDLED], DOCUMENT_CHECKS, unparsed)))
}
