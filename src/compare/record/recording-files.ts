import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withSchema } from '../../files/schema-line.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { reportWrite, writeOver } from '../../platform/disk/written-file.ts'
import { type JsonObject, jsonText } from '../../model/domain/json.ts'
import { plural, shellQuote } from '../../model/domain/text.ts'
import { routeOf } from '../../model/contract/route.ts'
import { isMcpPath } from '../drift/mcp.ts'
import { driftText, reportOf } from '../drift/report.ts'
import { documentsOf } from './documents.ts'
import { harOf } from './har-file.ts'
import { parsedExchange } from './observed.ts'
import { Rehearsal, type RehearsalMock } from './rehearsal.ts'
import type { Recorded } from './recorded.ts'
import { Secrets } from './secrets.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import { replayOf } from '../../journal/request-journal/replay.ts'
import { entryView } from '../../journal/request-journal/view.ts'
import { VERSION } from '../../model/version.ts'

export interface Recording {
  readonly exchanges: readonly Recorded[]
  readonly folder: string
  readonly upstream: string
  /** Names of further secrets. */
  readonly mask: readonly string[]
  readonly maskIdentifiers: boolean
}

export interface MockWanted {
  readonly seed: string
  /** Whether it has virtual MCP servers, and the calls for them. */
  readonly mcp: boolean
}

/** Serves with a seed while `use` works. */
export type WithMock = <Result>(wanted: MockWanted, use: (mock: RehearsalMock) => Promise<Result>) => Promise<Result>

interface Writing {
  readonly exchanges: readonly Recorded[]
  readonly secrets: Secrets
  readonly document: (
    kind: 'seed' | 'connector' | 'scenario',
    name: string,
    document: object,
    comment: string,
  ) => Promise<void>
}

const MARK = 'Written by toolmock record, without secrets.'

/** Writes every file, or none: into a folder of its own first, from which they are moved at the end. @returns what to tell the user */
export async function writeRecording(
  recording: Recording,
  withMock: WithMock,
  progress: (note: string) => void,
): Promise<string[]> {
  const { folder } = recording
  const isNew = !existsSync(folder)
  await reportWrite(folder, () => makeDirectory(folder))
  const staging = await mkdtemp(join(folder, '.toolmock-'))
  try {
    const lines = await writeFiles({ ...recording, staging }, withMock, progress)
    // The seed comes after the connectors that it needs.
    const parts = ['connectors', 'scenarios', '']
    for (const part of parts) await removeFormer(join(folder, part))
    for (const part of parts) {
      const entries = await readdir(join(staging, part), { withFileTypes: true }).catch(() => [])
      const files = entries.filter((entry) => entry.isFile())
      if (files.length > 0) await makeDirectory(join(folder, part))
      for (const { name } of files) await rename(join(staging, part, name), join(folder, part, name))
    }
    return lines
  } finally {
    await rm(staging, { recursive: true, force: true })
    if (isNew) await rmdir(folder).catch(() => undefined)
  }
}

async function writeFiles(
  recording: Recording & { readonly staging: string },
  withMock: WithMock,
  progress: (note: string) => void,
): Promise<string[]> {
  const { folder, staging, upstream, mask, maskIdentifiers } = recording
  const exchanges = [...recording.exchanges].sort((a, b) => a.startedAt - b.startedAt)
  const secrets = new Secrets({ names: mask, maskIdentifiers })
  for (const exchange of exchanges) secrets.learn(exchange)
  const write = (name: string, text: string) => writeOver(join(staging, name), text, join(folder, name))
  const { documentText } = await import('../../files/document-text.ts')
  const document: Writing['document'] = (kind, name, each, comment) =>
    write(name, withSchema(kind, join(folder, name), documentText(each, comment)))
  const replayed = exchanges.filter((each) => parsedExchange(each).operation !== undefined || isMcpPath(each.target))
  const mcp = replayed.some(needsMcp)
  const writing: Writing = { exchanges: replayed, secrets, document }
  progress('writing recording.har')
  const har = harOf(exchanges, { upstream, version: VERSION, secrets })
  await write('recording.har', `${jsonText(har, 2)}\n`)
  const masked = [...secrets.summary()].sort().map(([name, count]) => `${name} ${count}`)
  const lines = [
    `wrote ${plural(exchanges.length, 'request')} to ${folder}`,
    `masked: ${masked.length === 0 ? 'nothing' : masked.join(', ')}`,
  ]
  if (replayed.length === 0)
    return [...lines, 'none of them is an operation of the service: there is nothing to replay']
  const leftOut = await writeSeed(writing)
  progress('replaying it')
  const { notes, findings } = await withMock({ seed: staging, mcp }, async (mock) => {
    const rehearsal = new Rehearsal(mock)
    const notes = await rehearsal.run(replayed)
    await writeScenario(writing, mock.entries)
    return { notes, findings: rehearsal.findings }
  })
  const about = `${MARK} What the mock with this seed answers otherwise than the service did, without the scenario.`
  await write('drift.txt', `${about}\n\n${secrets.text(driftText(reportOf(findings.list(), findings.gaps())))}\n`)
  progress('')
  return [
    ...lines,
    ...leftOut.map((note) => secrets.text(note)),
    ...notes.map((note) => `it cannot be replayed: ${secrets.text(note)}`),
    `To replay it: npx toolmock run --seed ${shellQuote(folder)} --scenario recorded${mcp ? ' --mcp' : ''} -- CMD`,
  ]
}

/** Whether a mock answers a request only with `--mcp`. */
function needsMcp(exchange: Recorded): boolean {
  const { operation } = parsedExchange(exchange)
  return operation === undefined || routeOf(operation).mcp
}

async function writeSeed({ secrets, document, exchanges }: Writing): Promise<readonly string[]> {
  const { seed, connectors, notes } = documentsOf(exchanges, secrets)
  for (const [name, connector] of connectors)
    await document('connector', join('connectors', `${name}.yaml`), connector, `${MARK} What its tools answered.`)
  await document(
    'seed',
    'seed.yaml',
    seed,
    `${MARK} What was there when it was first seen. The mock invents the credentials.`,
  )
  return notes
}

/** What is left of an earlier recording would be replayed with this one. */
async function removeFormer(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name)
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.includes(MARK)) await rm(file)
  }
}

async function writeScenario({ secrets, document }: Writing, entries: readonly StoredEntry[]): Promise<void> {
  const replay = replayOf(entries.map(entryView))
  if (!replay) return
  const description = 'What the service refused, and what happened to its accounts meanwhile.'
  const scenario = { ...replay.scenario, name: 'recorded', description }
  const file = join('scenarios', 'recorded.yaml')
  await document('scenario', file, secrets.hide(scenario as unknown as JsonObject), MARK)
}
