import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { installPackages } from '../.build/install.ts'

/** Installs what only tests need, and generates the code that tests import where `npm test` has not done that. */
export default function providePrerequisites(): void {
  for (const folder of ['test', 'test/runners']) installPackages(folder)
  const folders = ['contract', 'domain', 'rpc', 'schema'].map((module) => `src/${module}/generated`)
  if (folders.every((folder) => existsSync(folder))) return
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', '.build/generate.ts'], { stdio: 'inherit' })
  if (status !== 0)
    throw new Error(
      'The code that comes from spec/openapi.yaml could not be generated: run npm run generate to see why',
    )
}
