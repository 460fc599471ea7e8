import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { Answer } from '../../compare/conform/answer.ts'
import { ControlApi } from '../../compare/conform/control-api.ts'
import { Api, Target } from '../../compare/conform/target.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { type JsonObject, jsonText } from '../../model/domain/json.ts'
import { plural, shellQuote } from '../../model/domain/text.ts'
import { Replayed } from '../../compare/drift/replay.ts'
import { driftText, reportOf } from '../../compare/drift/report.ts'
import { HttpClient, type HttpRequest } from '../../platform/http-client.ts'
import { documentsOf } from '../../compare/record/documents.ts'
import { harOf } from '../../compare/record/har-file.ts'
import { observe } from '../../compare/record/observed.ts'
import { Rehearsal, type RehearsalMock } from '../../compare/record/rehearsal.ts'
import type { Recorded } from '../../compare/record/recorded.ts'
import { Secrets } from '../../compare/record/secrets.ts'
import type { RecordedEntry } from '../../journal/request-journal/entry.ts'
import { replayOf } from '../../journal/request-journal/replay.ts'
import { viewOf } from '../../journal/request-journal/view.ts'
import { VERSION } from '../../model/version.ts'
import { withApp } from './serve-while.ts'
import { reported, withSchema, writeOver } from './written-document.ts'

export interface Recording {
  readonly exchanges: readonly Recorded[]
  readonly folder: string
  readonly upstream: string
  /** Names of further secrets. */
  readonly mask: readonly string[]
  readonly maskIdentifiers: boolean
}

interface Writing {
  readonly exchanges: readonly Recorded[]
  readonly secrets: Secrets
  /** Writes a document as YAML, under the name that it has in the folder. */
  readonly document: (
    kind: 'seed' | 'connector' | 'scenario',
    name: string,
    document: object,
    comment: string,
  ) => Promise<void>
}

const MARK = 'Written by toolmock record, without secrets.'

/** Writes every file, or none: into a folder of its own first, from which they are moved at the end. @returns what to tell the user */
export async function writeRecording(recording: Recording, progress: (note: string) => void): Promise<string[]> {
  const { folder } = recording
  const isNew = !existsSync(folder)
  await reported(folder, () => makeDirectory(folder))
  const staging = await mkdtemp(join(folder, '.toolmock-'))
  try {
    const lines = await writeFiles(recording, staging, progress)
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

async function writeFiles(recording: Recording, staging: string, progress: (note: string) => void): Promise<string[]> {
  const { folder, upstream, mask, maskIdentifiers } = recording
  const exchanges = [...recording.exchanges].sort((a, b) => a.startedAt - b.startedAt)
  const secrets = new Secrets({ names: mask, maskIdentifiers })
  for (const exchange of exchanges) secrets.learn(exchange)
  const write = (name: string, text: string) => writeOver(join(staging, name), text, join(folder, name))
  const { documentText } = await import('../../files/document-text.ts')
  const document: Writing['document'] = (kind, name, each, comment) =>
    write(name, withSchema(kind, join(folder, name), documentText(each, comment)))
  const ofService = exchanges.filter((exchange) => observe(exchange).operation !== undefined)
  const writing: Writing = { exchanges: ofService, secrets, document }
  progress('writing recording.har')
  const har = harOf(exchanges, { upstream, version: VERSION, secrets })
  await write('recording.har', `${jsonText(har, 2)}\n`)
  const masked = [...secrets.summary()].sort().map(([name, count]) => `${name} ${count}`)
  const lines = [
    `wrote ${plural(exchanges.length, 'request')} to ${folder}`,
    `masked: ${masked.length === 0 ? 'nothing' : masked.join(', ')}`,
  ]
  if (ofService.length === 0)
    return [...lines, 'none of them is an operation of the service: there is nothing to replay']
  const leftOut = await writeSeed(writing)
  progress('replaying it')
  const { notes, findings } = await withApp({ seeds: [staging] }, async (app, url) => {
    const mock = new AppMock(app, url)
    try {
      const rehearsal = new Rehearsal(mock, new Replayed(mock.target, app.client))
      const notes = await rehearsal.run(ofService)
      await writeScenario(writing, mock.entries)
      return { notes, findings: rehearsal.findings }
    } finally {
      mock.target.close()
    }
  })
  const about = `${MARK} What the mock with this seed answers otherwise than the service did, without the scenario.`
  await write('drift.txt', `${about}\n\n${secrets.text(driftText(reportOf(findings.list(), findings.gaps())))}\n`)
  progress('')
  return [
    ...lines,
    ...leftOut.map((note) => secrets.text(note)),
    ...notes.map((note) => `it cannot be replayed: ${secrets.text(note)}`),
    `To replay it: npx toolmock run --seed ${shellQuote(folder)} --scenario recorded -- CMD`,
  ]
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

async function writeScenario({ secrets, document }: Writing, entries: readonly RecordedEntry[]): Promise<void> {
  const replay = replayOf(entries.map(viewOf))
  if (!replay) return
  const description = 'What the service refused, and what happened to its accounts meanwhile.'
  const scenario = { ...replay.scenario, name: 'recorded', description }
  const file = join('scenarios', 'recorded.yaml')
  await document('scenario', file, secrets.hide(scenario as unknown as JsonObject), MARK)
}

/** A mock of this process, by its control API. */
class AppMock implements RehearsalMock {
  readonly target: Target
  readonly #api: ControlApi
  readonly #service: Api
  readonly #services: App['services']
  /** A connection for each request: one that a rule resets is not tried again. */
  readonly #client: HttpClient
  readonly #journal: ReturnType<App['services']['journals']['of']>
  /** Those that count. */
  readonly entries: RecordedEntry[] = []
  /** How many entries of the journal count, or were left out. */
  #read = 0

  constructor({ services, client }: App, url: string) {
    this.target = new Target(url)
    this.#service = new Api(this.target, client)
    this.#services = services
    this.#api = new ControlApi(this.target, undefined)
    this.#client = new HttpClient(url)
    this.#journal = services.journals.of(services.defaultEnvironment() ?? services)
  }

  async send(request: HttpRequest): Promise<Answer> {
    const { status, headers, text } = await this.#client.send(request)
    return new Answer(request.path, status, headers, text)
  }

  async save(): Promise<void> {
    this.entries.push(...this.#journal.since(this.#read).filter(({ kind }) => kind === 'request'))
    await this.#control('PUT', '/snapshots/before')
    this.#read = this.#journal.appended
  }

  async restore(): Promise<void> {
    await this.#control('POST', '/snapshots/before/restore')
    this.#read = this.#journal.appended
  }

  async sendUnder(rule: JsonObject, request: HttpRequest): Promise<Answer> {
    await this.#control('PUT', '/scenarios/recorded', { name: 'recorded', rules: [rule] })
    await this.#control('POST', '/scenarios/recorded/start')
    this.#read = this.#journal.appended
    try {
      return await this.send(request)
    } finally {
      await this.#control('POST', '/scenarios/recorded/stop')
    }
  }

  caller(): string | undefined {
    return this.#journal.since(this.#read).at(-1)?.trace.account?.id
  }

  async addAccounts(identifier: string): Promise<void> {
    const accounts = this.#services.defaultEnvironment()?.model.tables.accounts.values() ?? []
    const connectors = new Set([...accounts].map(({ connector }) => connector))
    await this.#control('POST', '/seed', { accounts: [...connectors].map((connector) => ({ connector, identifier })) })
  }

  executeTool(body: JsonObject): Promise<Answer> {
    return this.#service.post('/execute_tool', body)
  }

  async #control(method: string, path: string, body?: JsonObject): Promise<void> {
    ;(await this.#api.call(method, path, body)).is(200, 201, 204)
  }
}
