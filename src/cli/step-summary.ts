import { appendFile } from 'node:fs/promises'
import type { Variables } from './arguments.ts'
import { systemCode } from './failure.ts'

/** Adds Markdown to the summary of a CI step, where there is one; answers what there is to say when it cannot. */
export async function addToStepSummary(
  { GITHUB_STEP_SUMMARY: file }: Variables,
  markdown: () => string,
): Promise<string[]> {
  if (file === undefined || file === '') return []
  try {
    // Whatever stands there already, with a line break at its end or without: a heading begins after an empty line.
    await appendFile(file, `\n\n${markdown()}\n`)
    return []
  } catch (error) {
    return [`the summary ${file} of GITHUB_STEP_SUMMARY cannot be written (${systemCode(error) ?? String(error)})`]
  }
}
