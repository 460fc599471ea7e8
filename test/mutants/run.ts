import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { runConformance } from './conformance.ts'
import { PLANTED, plantedMutants, withPlanted } from './planted.ts'

const HELP = `npm run test:mutants [-- GROUP ...] [-- --changed [--since COMMIT]]

Runs mutants: deliberately wrong variants, each of which its check or test must detect.

  GROUP       conformance: the mutants of test/mutants/table, for the conformance suite and drift;
              or a folder of src: its mutants in ${PLANTED}, each for one test. All without any.
  --changed   only those of files that differ from --since: a mutant whose source or test has
              changed, or which is new; those of conformance, each for its own check alone, where
              src/compare/conform, src/service/operations or test/mutants/table has changed.
  --since     a commit; the merge base with origin/main when absent, or HEAD~1 where that is HEAD
`
/** What the mutants of the conformance suite are about. */
const OF_CONFORMANCE = /^(?:src\/(?:compare\/conform|service\/operations)|test\/mutants\/table)\//

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean' }, since: { type: 'string' }, help: { type: 'boolean' } },
})
const all = plantedMutants()
/** The areas and folders of `src` that a mutant is in. */
const foldersOf = ({ file }: { file: string }): string[] => file.split('/').slice(1, -1)
const groups = ['conformance', ...new Set(all.flatMap(foldersOf))]
const unknown = positionals.filter((name) => !groups.includes(name))
if (values.help) process.stdout.write(HELP)
else if (unknown.length > 0)
  throw new Error(`there is no group ${unknown.join(', ')}: the groups are ${groups.join(', ')}`)
else process.exitCode = (await run()) > 0 ? 1 : 0

/** @returns how many were not detected */
async function run(): Promise<number> {
  const since = values.changed ? (values.since ?? defaultBase()) : undefined
  const changed = since === undefined ? undefined : changedSince(since)
  const isWanted = (...names: string[]) => positionals.length === 0 || positionals.some((name) => names.includes(name))
  let missed = 0
  if (isWanted('conformance') && (!changed || [...changed].some((file) => OF_CONFORMANCE.test(file))))
    missed += await runConformance(changed !== undefined)
  const former = new Set(
    changed?.has(PLANTED) ? plantedMutants(git('show', `${since}:${PLANTED}`)).map(textOf) : all.map(textOf),
  )
  const isTouched = (mutant: (typeof all)[number]) =>
    !changed || changed.has(mutant.file) || changed.has(mutant.test) || !former.has(textOf(mutant))
  const mutants = all.filter((mutant) => isWanted(...foldersOf(mutant)) && isTouched(mutant))
  if (mutants.length > 0) process.stdout.write('| area | what is wrong | file | noticed by |\n|---|---|---|---|\n')
  let survivors = 0
  for await (const [{ area, what, file, test }, failed] of withPlanted(mutants)) {
    if (failed.length === 0) survivors += 1
    const noticedBy = failed[0] === undefined ? `**survives** ${test}` : `${test}: ${failed[0]}`
    process.stdout.write(`| ${area} | ${what} | ${file} | ${noticedBy} |\n`)
  }
  process.stdout.write(`\n${mutants.length} mutants planted in the sources, ${mutants.length - survivors} noticed\n`)
  return missed + survivors
}

function textOf(mutant: object): string {
  return JSON.stringify(mutant)
}

function defaultBase(): string {
  const base = git('merge-base', 'origin/main', 'HEAD').trim()
  return base === '' || base === git('rev-parse', 'HEAD').trim() ? 'HEAD~1' : base
}

/** What differs from a commit in the working tree, new files too. */
function changedSince(commit: string): ReadonlySet<string> {
  const files = [git('diff', '--name-only', commit), git('ls-files', '--others', '--exclude-standard')]
  return new Set(files.flatMap((text) => text.split('\n').filter(Boolean)))
}

/** Empty where git refuses. */
function git(...args: string[]): string {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout
}
