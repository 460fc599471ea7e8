import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * `npm run test:mutation`: makes small changes in the sources and tells which of them no test notices. Stryker's vitest
 * runner is right with vitest 3 only; with vitest 4 it reports survivors that are none. So it has an installation of its own
 * in this folder, and proves itself first: of two planted mutants one has to be killed and the other has to survive.
 *
 *     npm run test:mutation                                  # src/domain and src/operations, by the tests below
 *     npm run test:mutation -- src/domain/duration.ts --tests 'test/domain/**'
 */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REPORT = `${ROOT}coverage/mutation.json`

const MODULES = ['src/domain/**/*.ts', 'src/operations/**/*.ts']
/** Tests that reach these modules without processes, browsers or disks. */
const TESTS = ['domain', 'operations', 'third-party', 'http', 'magic-links', 'scenarios'].map(
  (module) => `test/${module}/**/*.test.ts`,
)

interface Mutant {
  readonly replacement: string
  readonly status: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', multiple: true } },
})
install()
prove()
const files = positionals.length > 0 ? positionals : MODULES
process.exitCode = mutate(files, values.tests ?? TESTS)

function install(): void {
  if (existsSync(`${FOLDER}node_modules`)) return
  const { status } = spawnSync('npm', ['ci'], { cwd: FOLDER, stdio: 'inherit' })
  if (status !== 0) throw new Error(`Stryker could not be installed: npm ci in ${FOLDER}`)
}

/** @throws Error when a mutant that a test notices is not killed, or one that no test notices is */
function prove(): void {
  mutate(['test/mutation/proof/planted.ts'], ['test/mutation/proof/planted.proof.ts'])
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as { files: Record<string, { mutants: Mutant[] }> }
  const mutants = Object.values(report.files).flatMap((file) => file.mutants)
  const found = (replacement: string) => mutants.find((mutant) => mutant.replacement === replacement)?.status
  const [killed, survived] = [found('value > 10'), found('value < 10')]
  if (killed !== 'Killed' || survived !== 'Survived')
    throw new Error(
      `Stryker cannot be believed: the planted mutants are ${killed} and ${survived}, not Killed and Survived`,
    )
  process.stdout.write('proved: of the planted mutants one is killed and one survives\n\n')
}

/** @returns the exit code of Stryker */
function mutate(sources: readonly string[], tests: readonly string[]): number {
  const stryker = `${FOLDER}node_modules/@stryker-mutator/core/bin/stryker.js`
  const env = { ...process.env, MUTATION_FILES: sources.join(','), MUTATION_TESTS: tests.join(',') }
  const args = [stryker, 'run', 'test/mutation/stryker.config.js']
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1
}
