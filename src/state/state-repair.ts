import { isUtf8 } from 'node:buffer'
import { dirname, resolve } from 'node:path'
import { ENVIRONMENT_NAME } from '../domain/environment-name.ts'
import { isJsonObject, type JsonObject, type JsonValue, parsedJson } from '../domain/json.ts'
import { DEFAULT_SETTINGS } from '../domain/settings.ts'
import { plural } from '../domain/text.ts'
import { type Path, pathText, type Problem, sentence } from '../schema/problems.ts'
import { EnvironmentRegistry } from './environment-registry.ts'
import { SECTION_NAMES, type SectionName, TABLE_NAMES, type TableName } from './model/model.ts'
import { RandomIds } from './model/time-and-ids.ts'
import { byName, type StateContent, type StoredImage } from './model/state-image.ts'
import { readDocument } from './state-file/read-state.ts'
import { StateFile } from './state-file/state-file.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { partProblem, rowProblem, within } from './state-file/validation.ts'
import { type FileSystem, hasCode, nodeFileSystem } from './wal/file-system.ts'
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
  let reserved: string | undefined
  try {
    const file = await fileSystem.realPath(path)
    await refuseIfHeld(file)
    const target = resolve(out)
    await reserve(fileSystem, target)
    reserved = target
    const leftOut: string[] = []
    const content = await readableContent(fileSystem, file, (what) => leftOut.push(what))
    const environments = Object.values(content.environments)
    if (environments.length === 0) {
      const why = leftOut.length === 0 ? '' : ` (${leftOut.slice(0, 3).join('; ')})`
      throw new StateError(`${path}: there is nothing in it that can be saved${why}; nothing was written`)
    }
    // No log belongs to the copy: it has another `state_id`.
    await new StateFile(fileSystem, target).write({ ...content, state_id: new RandomIds().id('state'), generation: 1 })
    const rows = environments
      .flatMap(({ tables }) => Object.values(tables))
      .reduce((sum, { length }) => sum + length, 0)
    return { saved: `${plural(environments.length, 'environment')}, ${plural(rows, 'row')}`, leftOut }
  } catch (error) {
    if (reserved !== undefined) await fileSystem.remove(reserved)
    if (error instanceof Error && 'code' in error)
      throw new StateError(`${path}: ${error.message}; nothing was written`)
    throw error
  }
}

/** Makes an empty file, so that no other program makes one there meanwhile. */
async function reserve(fileSystem: FileSystem, target: string): Promise<void> {
  await fileSystem.list(dirname(target)).catch(() => {
    throw new StateError(`${target}: there is no folder ${dirname(target)} that can be read; nothing was written`)
  })
  const taken = new StateError(
    `${target}: it is there already, or its write-ahead log is, and stays as it is; name another file`,
  )
  if ((await logGenerations(fileSystem, target)).length > 0) throw taken
  const file = await fileSystem.createNew(target).catch((error: unknown) => {
    throw hasCode(error, 'EEXIST') ? taken : error
  })
  await file.close()
}

async function readableContent(fileSystem: FileSystem, file: string, leaveOut: LeaveOut): Promise<StateContent> {
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
    if (!('environment' in commit)) continue
    const { environment: name, record } = commit
    if (!record && !made.has(name)) environments[name] = validEnvironment({}, [], new Set(), () => undefined)
    made.add(name)
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

/** A member of an object, or a part of one. */
const MEMBER = /^(?<name>"(?:[^"\\]|\\.)*"): (?<value>.+)$/

/**
 * Every line of a damaged state file that can be read: each says by its indentation and its name where it belongs. Snapshots
 * and origins have several lines, and are left out.
 */
function documentOfLines(bytes: Buffer, leaveOut: LeaveOut): JsonObject {
  const environments = byName<JsonValue>([])
  const state: JsonObject = { environments }
  let environment: { tables: JsonObject; [part: string]: JsonValue } | undefined
  let rows: { readonly list: JsonValue[]; readonly depth: number } | undefined
  const mayHaveLostBytes = !isUtf8(bytes)

  const readMember = (name: string, value: string, depth: number): boolean => {
    if (depth === 2 && value === '{') {
      environments[name] = environment = { tables: {} }
      return true
    }
    const frame = { 1: 'environments', 3: 'tables' }[depth]
    if (name === frame && value === '{') return true
    const holder = depth === 1 ? state : depth === 3 ? environment : depth === 4 ? environment?.tables : undefined
    if (value === '[') rows = { list: [], depth: depth + 1 }
    const read = value === '[' ? rows?.list : parsedJson(value)
    if (!holder || read === undefined) return false
    holder[name] = read
    return true
  }
  /** Undefined for a line that says nothing by itself. */
  const read = (text: string, depth: number): boolean | undefined => {
    if (rows && depth < rows.depth) rows = undefined
    if (/^[{[\]}]?$/.test(text)) return undefined
    const { name, value } = MEMBER.exec(text)?.groups ?? {}
    if (name !== undefined && value !== undefined) return readMember(parsedJson(name) as string, value, depth)
    const row = parsedJson(text)
    if (!isJsonObject(row) || rows?.depth !== depth || (mayHaveLostBytes && text.includes('\ufffd'))) return false
    rows.list.push(row)
    return true
  }

  const lines = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split('\n')
  // An editor may have indented it in another way.
  const step = /^[ \t]+(?=")/.exec(lines[1] ?? '')?.[0].length ?? 2
  let unread: { from: number; upto: number } | undefined
  const report = (): void => {
    if (unread)
      leaveOut(
        `${unread.from === unread.upto ? 'line' : `lines ${unread.from} to`} ${unread.upto}: what cannot be read`,
      )
    unread = undefined
  }
  for (const [at, line] of lines.entries()) {
    const isRead = read(line.trim().replace(/,$/, ''), Math.round(line.search(/\S|$/) / step))
    if (isRead === false) unread = { from: unread?.from ?? at + 1, upto: at + 1 }
    else if (isRead) report()
  }
  report()
  return state
}

const DEFAULTS: JsonObject = { settings: { ...DEFAULT_SETTINGS }, clock: { offset_ms: 0, frozen_at: null }, ids: null }

/** The valid parts of a state: what a start would refuse is left out, row by row. */
function validContent(state: JsonObject, leaveOut: LeaveOut): StateContent {
  const { version: _v, state_id: _s, generation: _g, request_ids, environments: all = {}, ...unknown } = state
  for (const key of Object.keys(unknown)) leaveOut(`\`${key}\` is an unknown key`)
  const clientIds = new Set<unknown>()
  const environments = byName<StoredImage>([])
  for (const [name, found] of Object.entries(isJsonObject(all) ? all : {})) {
    if (ENVIRONMENT_NAME.test(name) && isJsonObject(found))
      environments[name] = validEnvironment(found, ['environments', name], clientIds, leaveOut)
    else leaveOut(`the environment ${JSON.stringify(name)}, which is none`)
  }
  const positions = isJsonObject(request_ids) ? (request_ids as Record<string, number>) : undefined
  return { ...(positions && { request_ids: positions }), environments }
}

/** Without anything that has a problem; defaults and empty tables replace what has to be there. */
function validEnvironment(found: JsonObject, path: Path, clientIds: Set<unknown>, leaveOut: LeaveOut): StoredImage {
  const report = (problem: Problem, more = ''): void => leaveOut(`${sentence(within(path, problem))}${more}`)
  const part = (name: 'settings' | 'clock' | 'ids'): JsonValue | undefined => {
    const problem = partProblem(name, found[name])
    if (problem) report(within([name], problem), '; the default replaces it')
    return problem ? DEFAULTS[name] : found[name]
  }
  const rowsOf = (name: TableName | SectionName, all: JsonValue | undefined, place: Path): JsonValue[] => {
    if (!Array.isArray(all)) {
      const found = all === undefined ? 'nothing' : 'no list'
      report({ path: place, found, allowed: 'a list' }, '; an empty table replaces it')
      return []
    }
    // The client id chooses the environment, so that no two environments can have the same.
    const ids = name === 'clients' ? clientIds : new Set<unknown>()
    const sequences = new Set<unknown>()
    return all.filter((row, at) => {
      const problem = rowProblem(name, row)
      if (problem) report(within([...place, at], problem))
      if (problem || !isJsonObject(row)) return false
      const { id, sequence } = row
      const isSecond = name === 'accounts' && sequences.has(sequence)
      const twice = ids.has(id) ? 'id' : isSecond ? 'sequence' : undefined
      if (twice) leaveOut(`${pathText([...path, ...place, at])}: its ${twice} is there twice`)
      ids.add(id)
      sequences.add(sequence)
      return twice === undefined
    })
  }
  const stored = isJsonObject(found['tables']) ? found['tables'] : {}
  const rows = (names: readonly (TableName | SectionName)[], holder: JsonObject, place: Path) =>
    Object.fromEntries(names.map((name) => [name, rowsOf(name, holder[name], [...place, name])]))
  const [settings, clock, ids] = [part('settings'), part('clock'), part('ids')]
  const tables = rows(TABLE_NAMES, stored, ['tables'])
  const valid = { settings, clock, ids, tables, ...rows(SECTION_NAMES, found, []) }
  for (const [holder, known, place] of [
    [stored, tables, ['tables']],
    [found, valid, []],
  ] as const) {
    for (const key of Object.keys(holder).filter((name) => !Object.hasOwn(known, name)))
      leaveOut(`\`${pathText([...path, ...place, key])}\` is an unknown key`)
  }
  return withSequence(valid as unknown as StoredImage, path, leaveOut)
}

/** A new account must not get the place of one that was saved. */
function withSequence(image: StoredImage, path: Path, leaveOut: LeaveOut): StoredImage {
  const { accounts, counters } = image.tables
  const last = accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  const counter = counters.find(({ id }) => id === 'account_sequence')
  if ((counter?.value ?? 0) >= last) return image
  leaveOut(`${pathText(path)}.tables.counters: account_sequence is raised to ${last}, the sequence of the last account`)
  const others = counters.filter((other) => other !== counter)
  return { ...image, tables: { ...image.tables, counters: [{ id: 'account_sequence', value: last }, ...others] } }
}
