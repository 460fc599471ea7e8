import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeText } from '../../platform/disk/append.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { shellQuote } from '../../model/domain/text.ts'
import type { Verdict } from '../../journal/verdict/report-pair.ts'
import { reportWrite } from '../../platform/disk/written-file.ts'
import { FOLDER } from './running-server.ts'

/** The file with the request journal of a run, by which its requests are explained once the server is gone. */
export interface RunJournal {
  readonly file: string
  /** Where it stays; undefined where that cannot be written. */
  readonly keep: () => Promise<string | undefined>
  readonly discard: () => Promise<void>
  readonly isAskedFor: boolean
}

/** Where the journal of a failed run stays, until the next one fails. */
const FAILED_RUN = join(FOLDER, 'failed-run.jsonl')

/**
 * Creates the file before the command runs, so that a run is not in vain; a temporary one when none is named.
 * @param fileOf the file of one run of several
 * @throws StartError
 */
export async function openRunJournal(
  askedFor: string | undefined,
  fileOf = (file: string): string => file,
): Promise<RunJournal | undefined> {
  const file = fileOf(askedFor ?? FAILED_RUN)
  if (askedFor === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'toolmock-run-')).catch(() => undefined)
    if (folder === undefined) return undefined
    const temporary = join(folder, 'journal.jsonl')
    const copy = async (): Promise<string> => {
      await makeDirectory(dirname(file))
      await copyFile(temporary, file)
      return file
    }
    return {
      file: temporary,
      keep: () => copy().catch(() => undefined),
      discard: () => rm(folder, { recursive: true, force: true }),
      isAskedFor: false,
    }
  }
  await reportWrite(`the journal file ${file}`, async () => {
    await makeDirectory(dirname(file))
    await writeText(file, '', 'append', 0o600)
  })
  return { file, keep: () => Promise.resolve(file), discard: () => Promise.resolve(), isAskedFor: true }
}

/** The command that explains the first request of the verdict. The journal of a good run is not kept, unless it was asked for. */
export async function explainLine(verdict: Verdict, code: number, journal: RunJournal | undefined): Promise<string[]> {
  if (!journal) return []
  const isWanted = verdict.requests > 0 && (code !== 0 || journal.isAskedFor)
  const file = isWanted ? await journal.keep() : undefined
  await journal.discard()
  if (file === undefined) return []
  const ids = [...verdict.reasons, ...verdict.warnings].flatMap(({ requests }) => requests)
  const [id] = ids
  // Without a request in the verdict there is none to explain before another.
  if (id === undefined) return [`the requests are in ${file}`]
  return [`to explain a request: npx toolmock explain ${id} --journal ${shellQuote(file)}`]
}
