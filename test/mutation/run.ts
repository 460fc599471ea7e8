import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPackages } from '../../.build/install.ts'
import { GROUPS } from './groups.ts'

/**
 * `npm run test:mutation` makes small changes in the sources and lists those that no test detects. Stryker's vitest runner
 * is correct with vitest 3 only; with vitest 4 it reports false survivors. So this folder has an installation of its own. The
 * runner is checked first: of two planted mutants, one must be killed and the other must survive.
 *
 *     npm run test:mutation                          # every group of groups.ts, one after the other
 *     npm run test:mutation -- domain accounts       # some of them
 *     npm run test:mutation -- --files src/model/domain/duration.ts --tests 'test/model/domain/**'
 */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Mutant {
  readonly replacement: string
  readonly status: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'string', multiple: true }, tests: { type: 'string', multiple: true } },
})
const unknown = positionals.filter((name) => !GROUPS.some((group) => group.name === name))
if (unknown.length > 0) {
  const names = GROUPS.map(({ name }) => name).join(', ')
  throw new Error(`there is no group ${unknown.join(', ')}: the groups are ${names}`)
}
installPackages('test/mutation')
prove()
if (values.files) mutate('files', values.files, values.tests ?? ['test/**/*.test.ts'])
else {
  const groups = GROUPS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  const rows = groups.map(({ name, files, tests }) => row(name, mutate(name, files, tests)))
  const head = ['group', 'score', 'killed', 'survived', 'not covered', 'static, not judged']
  process.stdout.write(
    `\n${[head, head.map(() => '---'), ...rows].map((each) => `| ${each.join(' | ')} |\n`).join('')}`,
  )
}

/** @throws Error when the mutant that a test detects survives, or the one that no test detects is killed */
function prove(): void {
  const mutants = mutate('proof', ['test/mutation/proof/planted.ts'], ['test/mutation/proof/planted.proof.ts'])
  const found = (replacement: string) => mutants.find((mutant) => mutant.replacement === replacement)?.status
  const [killed, survived] = [found('value > 10'), found('value < 10')]
  if (killed !== 'Killed' || survived !== 'Survived')
    throw new Error(
      `Stryker cannot be believed: the planted mutants are ${killed} and ${survived}, not Killed and Survived`,
    )
  process.stdout.write('proved: of the planted mutants one is killed and one survives\n\n')
}

/** @throws Error when Stryker cannot run, for instance because a test fails without any mutant */
function mutate(name: string, files: readonly string[], tests: readonly string[]): Mutant[] {
  const stryker = `${FOLDER}node_modules/@stryker-mutator/core/bin/stryker.js`
  const report = `coverage/mutation/${name}.json`
  const settings = { MUTATION_FILES: files.join(','), MUTATION_TESTS: tests.join(','), MUTATION_REPORT: report }
  const args = [stryker, 'run', 'test/mutation/stryker.config.js']
  const env = { ...process.env, ...settings }
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
  if (status !== 0) throw new Error(`Stryker could not mutate ${name}`)
  const found = JSON.parse(readFileSync(ROOT + report, 'utf8')) as { files: Record<string, { mutants: Mutant[] }> }
  return Object.values(found.files).flatMap((file) => file.mutants)
}

function row(name: string, mutants: readonly Mutant[]): (string | number)[] {
  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length
  const [killed, survived, uncovered] = [count('Killed', 'Timeout'), count('Survived'), count('NoCoverage')]
  const score = (100 * killed) / Math.max(killed + survived + uncovered, 1)
  return [name, `${score.toFixed(1)} %`, killed, survived, uncovered, count('Ignored')]
}
