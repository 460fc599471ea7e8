import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Each run has its own, so it is never older than the seed files. */
const FILE = join(tmpdir(), `toolmock-parsed-seed-${process.pid}.json`)

/** Has the sources take the parsed bundled seed, as the build does. */
export const PARSED_SEED = { TOOLMOCK_PARSED_SEED: JSON.stringify(FILE) }

/** Parses the bundled seed once for the run: most tests start a mock, and parsing is most of a start. */
export default async function parseBundledSeed(): Promise<() => void> {
  // It needs code that another global setup may have to generate first.
  const { bundledSeed } = await import('../.build/bundled-seed.ts')
  writeFileSync(FILE, await bundledSeed())
  return () => {
    rmSync(FILE)
  }
}
