import type { MockJournal } from './journal.ts'

/** More than a person reads below a failed test. */
const MOST = 20

/** The journal's explanation of every answer of 400 and above, as text; undefined when there was none. */
export async function explainedFailures(journal: MockJournal): Promise<string | undefined> {
  const failed = (await journal.requests()).filter(({ status }) => status >= 400)
  if (failed.length === 0) return undefined
  const texts = await Promise.all(failed.slice(0, MOST).map(async ({ id }) => (await journal.explain(id)).text))
  const more = failed.length - texts.length
  return [...texts, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n\n')
}
