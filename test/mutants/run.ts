import { conformOf } from './broken-mock.ts'
import { MUTANTS } from './table.ts'

/**
 * `npm run test:mutants` runs the whole suite against every mutant and prints which checks detected it. Fails when a mutant
 * survives, when its own check does not detect it, or when the unchanged mock breaks a check.
 */
const sound = await conformOf({ mutate: () => undefined })
if (sound.summary.broken > 0) {
  process.stderr.write(`the mock itself breaks ${sound.summary.broken} checks: toolmock conform says which\n`)
  process.exit(1)
}
process.stdout.write(`| mutant | what is wrong | caught by | checks that notice |\n|---|---|---|---|\n`)
let missed = 0
for (const { name, what, caughtBy, mutate } of MUTANTS) {
  const { checks } = await conformOf({ mutate })
  const broken = checks.filter(({ result }) => result === 'broken').map(({ id }) => id)
  const noticed = broken.includes(caughtBy)
  if (!noticed) missed += 1
  const verdict = noticed
    ? caughtBy
    : broken.length === 0
      ? '**survives**'
      : `**not ${caughtBy}** but ${broken[0] ?? ''}`
  process.stdout.write(`| ${name} | ${what} | ${verdict} | ${broken.length} |\n`)
}
process.stdout.write(
  `\n${MUTANTS.length} mutants, ${MUTANTS.length - missed} caught by the check that is meant for them\n`,
)
process.exitCode = missed > 0 ? 1 : 0
