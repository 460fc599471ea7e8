import { DOCUMENT_CHECKS } from '../document-checks.ts'
import { validateFiles } from '../../files/validate.ts'
import { leftOutNote } from '../../files/seed-files.ts'
import { DocumentError, type FileProblem } from '../../files/problem.ts'
import { loadExtensions, withExtensions } from '../../files/load.ts'
import { plural } from '../../model/domain/text.ts'
import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import { configurationOf, configurationsAt } from './find-configuration.ts'

/** Prints each problem of the files; 0 without one, 1 with problems, 2 when a file could not be read. */
export const validate: Run<'validate'> = async ({ operands, values }, { out, err }) => {
  if (operands.length === 0) throw new UsageError('validate needs at least one FILE or folder.')
  const extensions = await loadExtensions({ extensions: values.extension }, DOCUMENT_CHECKS)
  const names = extensions.map(({ extension }) => extension)
  const checks = withExtensions(DOCUMENT_CHECKS, { names })
  const configurations = operands.flatMap(configurationsAt)
  const others = operands.filter((operand) => !configurations.includes(operand))
  const { files, problems, warnings, unreadable, leftOut, cases } = await validateFiles(others, checks)
  const defaults = { seed: ['bundled'], extension: values.extension }
  // Their schema and what they name are loaded where there are some.
  for (const source of cases)
    problems.push(...(await (await import('./cases.ts')).readCases(source, defaults)).problems)
  for (const file of configurations) problems.push(...(await configurationProblems(file)))
  for (const { message } of problems) out(message)
  for (const { message } of warnings) out(`warning: ${message}`)
  const leftOutLine = leftOut.length > 0 ? leftOutNote(leftOut) : undefined
  for (const { file, reason } of unreadable) err(`toolmock: ${file}: ${reason}`)
  if (unreadable.length > 0) return 2
  if (problems.length > 0) {
    out(`${plural(problems.length, 'problem')} in ${plural(files.length + configurations.length, 'file')}`)
    if (leftOutLine !== undefined) out(leftOutLine)
    return 1
  }
  for (const { file, kind } of files) out(`${file}: a valid ${kind} file`)
  for (const file of configurations) out(`${file}: a valid configuration file`)
  if (leftOutLine !== undefined) out(leftOutLine)
  return 0
}

async function configurationProblems(file: string): Promise<readonly FileProblem[]> {
  try {
    await configurationOf(file)
    return []
  } catch (error) {
    if (error instanceof DocumentError) return error.problems
    throw error
  }
}
