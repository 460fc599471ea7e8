import { DOCUMENT_CHECKS } from '../src/app/document-checks.ts'
import { BUNDLED, bundledSeedFolder } from '../src/documents/load-seeds.ts'
import { readBundles } from '../src/documents/read-bundles.ts'
import { mergeBundles } from '../src/domain/seed.ts'

/** The bundled seed as JSON, checked and parsed, so that a start loads neither `yaml` nor `zod`. */
export async function bundledSeed(): Promise<string> {
  const unparsed = { folder: bundledSeedFolder, parsed: () => Promise.resolve(undefined) }
  return JSON.stringify(mergeBundles(await readBundles([BUNDLED], DOCUMENT_CHECKS, unparsed)))
}
