import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeText } from '../../platform/disk/append.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { shellQuote } from '../../model/domain/text.ts'
import type { Verdict } from '../../journal/verdict/report-pair.ts'
import { reportWrite } from '../../platform/disk/written-file.ts'

/** The file with the request journal of a run, by which its requests are explained once the server is gone. */
export interface RunJournal {
  readonly file: string
  readonly discard: () => Promise<void>
  readonly isAskedFor: boolean
}

/** Creates the file before the command runs, so that a run is not in vain; a temporary one when none is named. @throws StartError */
export async function openRunJournal(file: string | undefined): Promise<RunJournal | undefined> {
  if (file === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'toolmock-run-')).catch(() => undefined)
    if (folder === undefined) return undefined
    const discard = (): Promise<void> => rm(folder, { recursive: true, force: true })
    return { file: join(folder, 'journal.jsonl'), discard, isAskedFor: false }
  }
  await reportWrite(`the journal file ${file}`, async () => {
    await makeDirectory(dirname(file))
    await writeText(file, '', 'append', 0o600)
  })
  return { file, discard: () => Promise.resolve(), isAskedFor: true }
}

/** The command that explains the first request of the verdict. The journal of a good run is not kept, unless it was asked for. */
export async function explainLine(verdict: Verdict, code: number, journal: RunJournal | undefined): Promise<string[]> {
  if (!journal) return []
  if (verdict.requests === 0 || (code === 0 && !journal.isAskedFor)) {
    await journal.discard()
    return []
  }
  const ids = [...verdict.reasons, ...verdict.warnings].flatMap(({ requests }) => requests)
  const [id] = ids
  // Without a request in the verdict there is none to explain before another.
  if (id === undefined) return [`the requests are in ${journal.file}`]
  return [`to explain a request: npx toolmock explain ${id} --journal ${shellQuote(journal.file)}`]
}
