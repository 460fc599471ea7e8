import { driftOf } from '../compare/drift/broken-service.ts'
import { NOT_COMPARED } from '../compare/drift/not-compared.ts'
import { conformOf } from './broken-mock.ts'
import { MUTANTS } from './table.ts'

/**
 * Runs the whole suite against every mutant, or against each only its own check, and prints which checks detected it, and whether
 * drift finds it with the requests of its check.
 * @returns how many mutants survive, are not detected by their own check, or are not found by drift although they can be
 */
export async function runConformance(isShort: boolean): Promise<number> {
  const sound = await conformOf({ mutate: () => undefined })
  if (sound.summary.broken > 0)
    throw new Error(`the mock breaks ${sound.summary.broken} checks: toolmock conform says which`)
  process.stdout.write(`| what is wrong | caught by | checks that notice | drift |\n|---|---|---|---|\n`)
  let missed = 0
  for (const { name, what, caughtBy, mutate } of MUTANTS) {
    // A check of shapes sends nothing by itself.
    const only = caughtBy.startsWith('shape/') ? undefined : [caughtBy]
    const { checks } = await conformOf({ mutate }, isShort ? { only } : {})
    const broken = checks.filter(({ result }) => result === 'broken').map(({ id }) => id)
    const noticed = broken.includes(caughtBy)
    const { report } = isShort
      ? { report: undefined }
      : await driftOf({ mutate }, { only }, { mcp: caughtBy.startsWith('mcp/') })
    const isFound = !report || report.findings.length > 0 || NOT_COMPARED.has(name)
    if (!noticed || !isFound) missed += 1
    const verdict = noticed ? caughtBy : broken[0] ? `**not ${caughtBy}** but ${broken[0]}` : '**survives**'
    const findings = report ? report.findings.length : '-'
    process.stdout.write(`| ${what} | ${verdict} | ${broken.length} | ${isFound ? findings : '**missed**'} |\n`)
  }
  process.stdout.write(`\n${MUTANTS.length} mutants of the mock, ${MUTANTS.length - missed} detected\n\n`)
  return missed
}
