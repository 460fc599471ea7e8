import { driftOf } from '../drift/broken-service.ts'
import { NOT_COMPARED } from '../drift/not-compared.ts'
import { conformOf } from './broken-mock.ts'
import { MUTANTS } from './table.ts'

/**
 * `npm run test:mutants` runs the whole suite against every mutant and prints which checks detected it, and whether drift finds
 * it with the requests of its check. Fails when a mutant survives, when its own check does not detect it, when drift does not
 * find one that it can, or when the unchanged mock breaks a check.
 */
const sound = await conformOf({ mutate: () => undefined })
if (sound.summary.broken > 0) {
  process.stderr.write(`the mock itself breaks ${sound.summary.broken} checks: toolmock conform says which\n`)
  process.exit(1)
}
process.stdout.write(`| mutant | what is wrong | caught by | checks that notice | drift |\n|---|---|---|---|---|\n`)
let missed = 0
for (const { name, what, caughtBy, mutate } of MUTANTS) {
  const { checks } = await conformOf({ mutate })
  const broken = checks.filter(({ result }) => result === 'broken').map(({ id }) => id)
  const noticed = broken.includes(caughtBy)
  // A check of shapes sends nothing by itself.
  const only = caughtBy.startsWith('shape/') ? undefined : [caughtBy]
  const { report } = await driftOf({ mutate }, { only }, { mcp: caughtBy.startsWith('mcp/') })
  const isFound = report.findings.length > 0 || NOT_COMPARED.has(name)
  if (!noticed || !isFound) missed += 1
  const verdict = noticed
    ? caughtBy
    : broken.length === 0
      ? '**survives**'
      : `**not ${caughtBy}** but ${broken[0] ?? ''}`
  process.stdout.write(
    `| ${name} | ${what} | ${verdict} | ${broken.length} | ${isFound ? report.findings.length : '**missed**'} |\n`,
  )
}
process.stdout.write(
  `\n${MUTANTS.length} mutants, ${MUTANTS.length - missed} caught by the check that is meant for them, and found by drift\n`,
)
process.exitCode = missed > 0 ? 1 : 0
