import { z } from 'zod'
import { DocumentError } from '../documents/problem.ts'
import { located } from '../documents/read.ts'
import { textOf } from '../documents/seed-files.ts'
import { SourceText } from '../documents/source-text.ts'
import type { Accepted } from '../drift/report.ts'
import { nonEmpty, strict } from '../schema/parts.ts'
import { problemsOf } from '../schema/problems.ts'

const acceptedSchema = z.array(
  strict({
    finding: nonEmpty.describe('The id of a finding.'),
    reason: nonEmpty.describe('Why it is known and stays.'),
  }),
)

/** The findings that a file accepts. @throws DocumentError with line and column; UnreadableFileError */
export async function readAccepted(file: string): Promise<readonly Accepted[]> {
  const source = new SourceText(await textOf(file), file)
  const { data, error } = acceptedSchema.safeParse(source.value)
  if (!data) throw new DocumentError(located(source, problemsOf(error.issues, source.value)))
  return data
}
