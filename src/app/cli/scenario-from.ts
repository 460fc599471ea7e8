import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { listAllowed } from '../../model/domain/suggestion.ts'
import { plural } from '../../model/domain/text.ts'
import type { EntryDocument } from '../../journal/request-journal/entry.ts'
import type { Replay } from '../../journal/request-journal/replay.ts'
import { type ControlSession, oneOperand } from './control-session.ts'
import { RefusedError } from './failure.ts'
import { writeDocument } from './written-document.ts'

type Session = ControlSession<'scenario'>

/** `scenario from JOURNAL_OR_REQUEST_ID`: writes a scenario and a seed that reproduce it. */
export async function scenarioFrom(session: Session, operands: readonly string[]): Promise<void> {
  const source = oneOperand('scenario from', 'JOURNAL_OR_REQUEST_ID', operands)
  const entries = await journalEntries(source)
  const replay = entries ? await replayOfFile(session, source, entries) : await replayOfServer(session, source)
  if (session.values.json) {
    session.print(replay, () => '')
    return
  }
  session.out(await writeReplay(replay, session.values.out))
}

/** The entries of a journal file; undefined when the operand names no file, and so a request. @throws StartError */
async function journalEntries(source: string): Promise<EntryDocument[] | undefined> {
  if (!existsSync(source) && !/[/\\]|\.jsonl?$/.test(source)) return undefined
  const { readJournalFile } = await import('../../journal/request-journal/journal-file.ts')
  const entries: EntryDocument[] = []
  for await (const entry of readJournalFile(source)) entries.push(entry)
  return entries
}

async function replayOfServer({ call }: Session, id: string): Promise<Replay> {
  // The description says `object` where the documents have schemas of their own.
  const replay: unknown = await call('POST /requests/{id}/scenario', { path: { id } })
  return replay as Replay
}

async function replayOfFile({ values }: Session, file: string, entries: readonly EntryDocument[]): Promise<Replay> {
  const { request } = values
  const environment = chosenEnvironment(entries, values)
  const { replayOf } = await import('../../journal/request-journal/replay.ts')
  const replay = replayOf(
    entries.filter((entry) => entry.environment === environment),
    request,
  )
  if (replay) return replay
  throw new RefusedError(`${file} has no request${request === undefined ? '' : ` ${request}`}`)
}

/** The environment of the request, the one that is named, or the only one. @throws RefusedError */
function chosenEnvironment(entries: readonly EntryDocument[], { request, environment }: Session['values']): string {
  const requested = request === undefined ? undefined : entries.findLast(({ id }) => id === request)
  if (requested) return requested.environment
  const names = [...new Set(entries.map((entry) => entry.environment))]
  const [only = environment, ...others] = names
  if (names.includes(environment) || others.length === 0) return names.includes(environment) ? environment : only
  const several = `the journal has ${plural(names.length, 'environment')}: ${listAllowed(environment, names)}`
  throw new RefusedError(`${several}; name one by --environment, or a request by --request`)
}

/** Writes the documents, and answers how to use them. @throws StartError */
async function writeReplay({ scenario, seed, clock, mcp, notes }: Replay, folder: string): Promise<string> {
  const { name, rules } = scenario
  const [scenarioFile, seedFile] = [join(folder, `${name}.yaml`), join(folder, `${name}.seed.yaml`)]
  const hasSeed = Object.keys(seed).length > 0
  const replaying = [
    mcp ? 'npx toolmock run --mcp' : 'npx toolmock run',
    `--scenario ${scenarioFile}`,
    ...(hasSeed ? [`--seed bundled --seed ${seedFile}`] : []),
    `--clock ${clock}`,
    '-- CMD',
  ].join(' ')
  const how = `To reproduce it with the same client:\n${replaying}`
  const limits = notes.map((note) => `It cannot reproduce: ${note}.`)
  await writeDocument('scenario', scenarioFile, scenario, [how, ...limits].join('\n'))
  const about = 'What was there at the start, without credentials. Give it after the seeds of the run.'
  if (hasSeed) await writeDocument('seed', seedFile, seed, about)
  const wrote = `wrote ${hasSeed ? `${scenarioFile} and ${seedFile}` : scenarioFile}`
  return [`${wrote} (${plural(rules.length, 'rule')})`, ...limits, how].join('\n')
}
