import { isUtf8 } from 'node:buffer'
import { dirname, resolve } from 'node:path'
import { ENVIRONMENT_NAME } from '../domain/environment-name.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import { DEFAULT_SETTINGS } from '../domain/settings.ts'
import { plural } from '../domain/text.ts'
import { pathText, sentence } from '../schema/problems.ts'
import { EnvironmentRegistry } from './environment-registry.ts'
import { SECTION_NAMES, type SectionName, TABLE_NAMES, type TableName } from './model/model.ts'
import { RandomIds } from './model/time-and-ids.ts'
import { byName, type StateContent, type StoredImage } from './model/state-image.ts'
import { readDocument } from './state-file/read-state.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { stateText } from './state-file/state-text.ts'
import { storedProblems, within } from './state-file/validation.ts'
import { type FileSystem, hasCode, nodeFileSystem, writeFully } from './wal/file-system.ts'
import { type LoggedCommit, logGenerations, logPath } from './wal/log-lines.ts'
import { headerOf, rawLines } from './wal/recovery.ts'
import { StateError } from './wal/state-errors.ts'

/** What a repair wrote and what it could not save. */
export interface Repaired {
  readonly saved: string
  /** One line each. */
  readonly leftOut: readonly string[]
}

type LeaveOut = (what: string) => void

/**
 * Saves every line of a state file and its write-ahead log that can be read into another file. The former are only read.
 * @throws StateError when there is nothing to read, nothing in it to save, or something at the other path already
 */
export async function repairState(
  path: string,
  out: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<Repaired> {
  try {
    const file = await fileSystem.realPath(path)
    await refuseIfHeld(file)
    await refuseTaken(fileSystem, out, file)
    const leftOut: string[] = []
    const content = await readLines(fileSystem, file, (what) => leftOut.push(what))
    const environments = Object.values(content.environments)
    if (environments.length === 0) {
      const why = leftOut.length === 0 ? '' : ` (${leftOut.slice(0, 3).join('; ')})`
      throw new StateError(`${path}: there is nothing in it that can be saved${why}; nothing was written`)
    }
    await write(fileSystem, resolve(out), content)
    const rows = environments
      .flatMap(({ tables }) => Object.values(tables))
      .reduce((sum, { length }) => sum + length, 0)
    return { saved: `${plural(environments.length, 'environment')}, ${plural(rows, 'row')}`, leftOut }
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw new StateError(`${path}: ${error.message}; nothing was written`)
    throw error
  }
}

async function refuseTaken(fileSystem: FileSystem, out: string, file: string): Promise<void> {
  const target = resolve(out)
  const logs = await logGenerations(fileSystem, target).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT'))
      throw new StateError(`${out}: there is no folder ${dirname(target)}; nothing was written`)
    throw error
  })
  if (logs.length === 0 && target !== file && (await fileSystem.read(target)) === undefined) return
  throw new StateError(`${out}: it is there already, or its write-ahead log is, and stays as it is; name another file`)
}

/** A copy of the saved lines has another `state_id`: no log belongs to it. */
async function write(fileSystem: FileSystem, path: string, content: StateContent): Promise<void> {
  const state = { ...content, state_id: new RandomIds().id('state'), generation: 1 }
  const file = await fileSystem.createNew(path)
  try {
    let end = 0
    for (const part of stateText(state)) {
      const bytes = Buffer.from(part)
      await writeFully(file, bytes, end)
      end += bytes.length
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await fileSystem.syncDirectory(dirname(path))
}

async function readLines(fileSystem: FileSystem, file: string, leaveOut: LeaveOut): Promise<StateContent> {
  const bytes = await readText(fileSystem, file)
  const logs = await logGenerations(fileSystem, file)
  if (!bytes && logs.length === 0) throw new StateError(`${file}: there is no such file`)
  if (!bytes && logs[0] !== 0) leaveOut(`${file}: all of it but what its write-ahead log holds, because it is missing`)
  const state = bytes ? documentOf(bytes, file, leaveOut) : {}
  const { environments, ...others } = validContent(state, leaveOut)
  const from = typeof state['generation'] === 'number' ? state['generation'] : (logs[0] ?? 0)
  const commits: LoggedCommit[] = []
  for (let generation = from; generation <= (logs.at(-1) ?? -1); generation++) {
    const log = logPath(file, generation)
    const lines = rawLines((await readText(fileSystem, log)) ?? Buffer.alloc(0), log)
    const header = lines[0] && headerOf(lines[0])
    if (!logs.includes(generation)) leaveOut(`${log}: all of it, because it is missing`)
    if (header && state['state_id'] !== undefined && state['state_id'] !== header.state_id) {
      leaveOut(`${log}: all of it, because it follows another state file`)
      continue
    }
    for (const { content, place } of header ? lines.slice(1) : lines) {
      if (Array.isArray(content)) commits.push(...(content as unknown as LoggedCommit[]))
      else leaveOut(`${place}: a line that cannot be read`)
    }
  }
  // What made an environment may be in a line that is lost.
  const made = new Set(Object.keys(environments))
  for (const commit of commits) {
    if (!('environment' in commit) || made.has(commit.environment)) continue
    made.add(commit.environment)
    if (!commit.record) environments[commit.environment] = emptyEnvironment()
  }
  const image = { ...others, environments, state_id: '', generation: 1 }
  return new EnvironmentRegistry({}, { stored: { image, commits, notices: [] } }).image(true)
}

/** With the line breaks that toolmock writes, in place of those of a copy: no text of JSON has one inside. */
async function readText(fileSystem: FileSystem, path: string): Promise<Buffer | undefined> {
  const bytes = await fileSystem.read(path)
  if (!bytes?.includes('\r\n')) return bytes
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

function documentOf(bytes: Buffer, file: string, leaveOut: LeaveOut): JsonObject {
  try {
    return readDocument(bytes, file)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return documentOfLines(bytes, leaveOut)
  }
}

/** The lines of `state-text.ts`, by their indentation. What else a line may be says nothing by itself. */
const ENVIRONMENT = /^ {4}(?<name>"(?:[^"\\]|\\.)*"): \{$/
const PART =
  /^(?: {2}"(?<top>version|state_id|generation|request_ids)"| {6}"(?<part>settings|clock|ids)"): (?<value>.*?),?$/
const ROWS = /^(?: {8}"(?<table>\w+)"| {6}"(?<section>\w+)"): \[(?:\],?)?$/
const ROW = /^ {8,10}(?<row>\{.+?),?$/
const FRAME = /^(?:\{| {2}"environments": \{(?:\},?)?| {6}"tables": \{| {6,8}\],?|(?: {2}){0,3}\},?)?$/

/** Every line of a damaged state file that can be read. Snapshots and origins have several lines, and are left out. */
function documentOfLines(bytes: Buffer, leaveOut: LeaveOut): JsonObject {
  const environments = byName<JsonValue>([])
  const state: JsonObject = { environments }
  let environment: JsonObject | undefined
  let rows: JsonValue[] | undefined
  let unreadFrom: number | undefined
  const wellEncoded = isUtf8(bytes)
  for (const [at, line] of normalizedLines(bytes.toString('utf8')).entries()) {
    const name = ENVIRONMENT.exec(line)?.groups?.['name']
    const part = PART.exec(line)?.groups
    const list = ROWS.exec(line)?.groups
    const row = ROW.exec(line)?.groups?.['row']
    if (name === undefined && !part && !list && row === undefined && !FRAME.test(line)) {
      unreadFrom ??= at
      continue
    }
    if (unreadFrom !== undefined) leaveOut(`${linesText(unreadFrom, at)}: what cannot be read`)
    unreadFrom = undefined
    if (name !== undefined) {
      environments[JSON.parse(name) as string] = environment = { tables: {} }
      rows = undefined
    } else if (part) {
      const value = parsed(part['value'] ?? '')
      const { top, part: own } = part
      if (value === undefined) leaveOut(`line ${at + 1}: the ${top ?? own}, which cannot be read`)
      else if (top !== undefined) state[top] = value
      else if (environment) environment[own ?? ''] = value
    } else if (list && environment) {
      const { table, section = '' } = list
      rows = []
      if (table !== undefined) (environment['tables'] as JsonObject)[table] = rows
      else environment[section] = rows
    } else if (row !== undefined) {
      const value = parsed(row)
      if (!isJsonObject(value) || (!wellEncoded && row.includes('\ufffd')))
        leaveOut(`line ${at + 1}: a row that cannot be read`)
      else if (rows) rows.push(value)
      else leaveOut(`line ${at + 1}: a row of a table that is not known`)
    }
  }
  if (unreadFrom !== undefined) leaveOut(`from line ${unreadFrom + 1} on: what cannot be read`)
  return state
}

function linesText(from: number, upto: number): string {
  return upto - from > 1 ? `lines ${from + 1} to ${upto}` : `line ${upto}`
}

/** In the indentation and with the line breaks in which toolmock writes, in place of those of an editor. */
function normalizedLines(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const step = /^[ \t]+(?=")/.exec(lines[1] ?? '')?.[0].length ?? 2
  if (step === 2) return lines
  return lines.map((line) => {
    const { length } = /^[ \t]*/.exec(line)?.[0] ?? ''
    return '  '.repeat(Math.round(length / step)) + line.slice(length)
  })
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const DEFAULTS = { settings: DEFAULT_SETTINGS, clock: { offset_ms: 0, frozen_at: null }, ids: null }

function emptyEnvironment(): StoredImage {
  const tables = Object.fromEntries(TABLE_NAMES.map((name) => [name, []]))
  return {
    ...DEFAULTS,
    tables,
    ...Object.fromEntries(SECTION_NAMES.map((name) => [name, []])),
  } as unknown as StoredImage
}

/** The valid parts of a state: what a start would refuse is left out, row by row. */
function validContent(state: JsonObject, leaveOut: LeaveOut): StateContent {
  const { version: _v, state_id: _s, generation: _g, request_ids, environments: all = {}, ...unknown } = state
  for (const key of Object.keys(unknown)) leaveOut(`\`${key}\` is an unknown key`)
  const clientIds = new Set<unknown>()
  const environments = Object.entries(isJsonObject(all) ? all : {}).flatMap(
    ([name, found]): [string, StoredImage][] => {
      if (ENVIRONMENT_NAME.test(name) && isJsonObject(found))
        return [[name, validEnvironment(found, ['environments', name], clientIds, leaveOut)]]
      leaveOut(`the environment ${JSON.stringify(name)}, which is none`)
      return []
    },
  )
  const positions = isJsonObject(request_ids) ? (request_ids as Record<string, number>) : undefined
  return { ...(positions && { request_ids: positions }), environments: byName(environments) }
}

/** Without anything that has a problem; defaults and empty tables replace what has to be there. */
function validEnvironment(found: JsonObject, path: string[], clientIds: Set<unknown>, leaveOut: LeaveOut): StoredImage {
  const defaults: JsonObject = DEFAULTS as unknown as JsonObject
  const invalid = new Set<JsonValue | undefined>()
  for (const problem of storedProblems(found)) {
    const { path: inside } = problem
    const tables = found['tables']
    const isTable = inside[0] === 'tables' && inside.length > 1 && isJsonObject(tables)
    const [holder, [key = '', at]] = isTable ? [tables, inside.slice(1)] : [found, inside]
    const list = holder[key]
    let more = ''
    if (Array.isArray(list) && typeof at === 'number') invalid.add(list[at])
    else if (problem.atKey && at === undefined) Reflect.deleteProperty(holder, key)
    else {
      holder[key] = key in defaults ? (defaults[key] ?? null) : []
      more = `; ${key in defaults ? 'the default' : 'an empty table'} replaces it`
    }
    leaveOut(`${sentence(within(path, problem))}${more}`)
  }
  const environment = emptyEnvironment()
  const kept = (
    name: TableName | SectionName,
    rows: JsonValue | undefined,
    place: (string | number)[],
  ): JsonValue[] => {
    // The client id chooses the environment, so that no two environments can have the same.
    const ids = name === 'clients' ? clientIds : new Set<unknown>()
    const sequences = new Set<unknown>()
    return (Array.isArray(rows) ? rows : []).filter((row, at) => {
      if (invalid.has(row) || !isJsonObject(row)) return false
      const { id, sequence } = row
      const isSecond = name === 'accounts' && sequences.has(sequence)
      if (ids.has(id) || isSecond)
        leaveOut(`${pathText([...place, at])}: its ${ids.has(id) ? 'id' : 'sequence'} is there twice`)
      const isFirst = !ids.has(id) && !isSecond
      ids.add(id)
      sequences.add(sequence)
      return isFirst
    })
  }
  const { settings, clock, ids, tables } = found
  const rowsOf = isJsonObject(tables) ? tables : {}
  Object.assign(environment, { settings, clock, ids })
  for (const name of SECTION_NAMES) Object.assign(environment, { [name]: kept(name, found[name], [...path, name]) })
  for (const name of TABLE_NAMES)
    Object.assign(environment.tables, { [name]: kept(name, rowsOf[name], [...path, 'tables', name]) })
  return withSequence(environment, pathText(path), leaveOut)
}

/** A new account must not get the place of one that was saved. */
function withSequence(image: StoredImage, path: string, leaveOut: LeaveOut): StoredImage {
  const { accounts, counters } = image.tables
  const last = accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  const counter = counters.find(({ id }) => id === 'account_sequence')
  if ((counter?.value ?? 0) >= last) return image
  leaveOut(`${path}.tables.counters: account_sequence is raised to ${last}, the sequence of the last account`)
  const others = counters.filter((other) => other !== counter)
  return { ...image, tables: { ...image.tables, counters: [{ id: 'account_sequence', value: last }, ...others] } }
}
