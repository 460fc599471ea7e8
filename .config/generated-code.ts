import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Tests import code that is generated from the spec. `npm test` generates it; a direct run of vitest generates what is missing. */
export default function ensureGeneratedCode(): void {
  const isThere = existsSync('src/contract/generated') && existsSync('src/rpc/generated')
  if (isThere || !existsSync('.build/generate.ts')) return
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', '.build/generate.ts'], { stdio: 'inherit' })
  if (status !== 0)
    throw new Error(
      'The code that comes from spec/openapi.yaml could not be generated: run npm run generate to see why',
    )
}
