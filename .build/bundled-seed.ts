import { DOCUMENT_CHECKS } from '../src/app/document-checks.ts'
import { readBundledFiles, soundBundle } from '../src/files/seed-files.ts'

/** The bundled seed as JSON, checked and parsed, so that a start loads neither `yaml` nor `zod`. */
export async function bundledSeed(): Promise<string> {
  return JSON.stringify(soundBundle([await readBundledFiles(DOCUMENT_CHECKS)]))
}
