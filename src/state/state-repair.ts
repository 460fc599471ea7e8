import { isUtf8 } from 'node:buffer'
import { resolve } from 'node:path'
import { ENVIRONMENT_NAME } from '../domain/environment-name.ts'
import { isJsonObject, type JsonObject, type JsonValue, parsedJson } from '../domain/json.ts'
import { DEFAULT_SETTINGS } from '../domain/settings.ts'
import { systemCode } from '../domain/system-error.ts'
import { plural } from '../domain/text.ts'
import { type Path, pathText, type Problem, sentence, valueAtPath } from '../schema/problems.ts'
import { readRegistry } from './environment-registry.ts'
import { contradictions, lastSequence } from './state-file/contradictions.ts'
import { ACCOUNT_SEQUENCE, SECTION_NAMES, TABLE_NAMES } from './model/model.ts'
import { byName, STATE_VERSION, type StateContent, type StoredImage } from './model/state-image.ts'
import { writeNewState } from './state-file/new-state.ts'
import { readDocument } from './state-file/read-state.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { everyProblem } from './state-file/validation.ts'
import { type FileSystem, nodeFileSystem } from './wal/file-system.ts'
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
    const leftOut: string[] = []
    const { content } = await writeNewState(fileSystem, resolve(out), async () => {
      const readable = await readableContent(fileSystem, file, (what) => leftOut.push(what))
      if (Object.keys(readable.environments).length > 0) return readable
      const why = leftOut.length === 0 ? '' : ` (${leftOut.slice(0, 3).join('; ')})`
      throw new StateError(`${path}: there is nothing in it that can be saved${why}; nothing was written`)
    })
    const environments = Object.values(content.environments)
    const rows = environments
      .flatMap(({ tables }) => TABLE_NAMES.map((name) => tables[name].length))
      .reduce((sum, length) => sum + length, 0)
    return { saved: `${plural(environments.length, 'environment')}, ${plural(rows, 'row')}`, leftOut }
  } catch (error) {
    if (error instanceof Error && systemCode(error) !== undefined)
      throw new StateError(`${path}: ${error.message}; nothing was written`)
    throw error
  }
}

async function readableContent(fileSystem: FileSystem, file: string, leaveOut: LeaveOut): Promise<StateContent> {
  const bytes = await fileSystem.read(file)
  const logs = await logGenerations(fileSystem, file)
  if (!bytes && logs.length === 0) throw new StateError(`${file}: there is no such file`)
  if (!bytes && logs[0] !== 0) leaveOut(`${file}: all of it but what its write-ahead log holds, because it is missing`)
  const state = bytes ? await documentOf(bytes, file, leaveOut) : {}
  const { environments, ...others } = validContent(state, leaveOut)
  const from = typeof state['generation'] === 'number' ? state['generation'] : (logs[0] ?? 0)
  const commits: LoggedCommit[] = []
  for (let generation = from; generation <= (logs.at(-1) ?? -1); generation++) {
    const log = logPath(file, generation)
    const lines = rawLines((await fileSystem.read(log)) ?? Buffer.alloc(0), log)
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
    if (!record && !made.has(name))
      Object.assign(environments, validContent({ environments: { [name]: {} } }, () => undefined).environments)
    made.add(name)
  }
  const image = { ...others, environments, state_id: '', generation: 1 }
  return readRegistry({ image, commits }).image(true)
}

async function documentOf(bytes: Buffer, file: string, leaveOut: LeaveOut): Promise<JsonObject> {
  try {
    return await readDocument(bytes, file)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return documentOfLines(bytes, leaveOut)
  }
}

/** A member of an object, or where its value begins. */
const MEMBER = /^(?<name>"(?:[^"\\]|\\.)*"): (?<value>.+)$/

/** What the members are part of where the line is lost that says so, by their indentation. */
const FRAMES: Readonly<Record<number, string>> = { 2: 'environments', 4: 'tables' }

/** Every line of a damaged state file that can be read: each says by its indentation where it belongs. */
function documentOfLines(bytes: Buffer, leaveOut: LeaveOut): JsonObject {
  const state = byName<JsonValue>([])
  /** The objects and lists that are open, by the indentation of what is in them. */
  let open: (JsonValue | undefined)[] = [undefined, state]
  const mayHaveLostBytes = !isUtf8(bytes)

  const holderAt = (depth: number): JsonValue | undefined => {
    const [outer, frame] = [open[depth - 1], FRAMES[depth]]
    if (open[depth] !== undefined || frame === undefined || !isJsonObject(outer)) return open[depth]
    return (outer[frame] ??= byName<JsonValue>([]))
  }
  /** Undefined for a line that says nothing by itself. */
  const read = (text: string, depth: number): boolean | undefined => {
    if (text === '' || (text === '{' && depth === 0)) return undefined
    if (text === '}' || text === ']') {
      open = open.slice(0, depth + 1)
      return undefined
    }
    const { name, value = text } = MEMBER.exec(text)?.groups ?? {}
    const key = parsedJson(name ?? '') as string | undefined
    const begun = { '{': byName<JsonValue>([]), '[': [] }[value]
    const [holder, content] = [holderAt(depth), begun ?? parsedJson(value)]
    if (content === undefined || (mayHaveLostBytes && text.includes('\ufffd'))) return false
    if (Array.isArray(holder) && key === undefined) holder.push(content)
    else if (isJsonObject(holder) && key !== undefined && !(key in holder)) holder[key] = content
    else return false
    open = [...open.slice(0, depth), holder, begun]
    return true
  }

  const lines = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split('\n')
  let unread: { from: number; upto: number } | undefined
  const report = (): void => {
    if (unread)
      leaveOut(
        `${unread.from === unread.upto ? 'line' : `lines ${unread.from} to`} ${unread.upto}: what cannot be read`,
      )
    unread = undefined
  }
  for (const [at, line] of lines.entries()) {
    const isRead = read(line.trim().replace(/,$/, ''), line.search(/\S|$/) / 2)
    if (isRead === false) unread = { from: unread?.from ?? at + 1, upto: at + 1 }
    else if (isRead) report()
  }
  report()
  return state
}

/** What replaces a part of an environment that a start would refuse. */
const DEFAULTS: Readonly<Record<string, JsonValue>> = {
  settings: { ...DEFAULT_SETTINGS },
  clock: { offset_ms: 0, frozen_at: null },
  ids: null,
}

/** The valid parts of a state: what a start would refuse is left out, row by row. */
function validContent({ request_ids, environments: all, ...others }: JsonObject, leaveOut: LeaveOut): StateContent {
  const environments = byName<JsonObject>([])
  for (const [name, found] of Object.entries(isJsonObject(all) ? all : {})) {
    const tables = isJsonObject(found) && isJsonObject(found['tables']) ? found['tables'] : {}
    if (ENVIRONMENT_NAME.test(name) && isJsonObject(found)) environments[name] = { ...found, tables }
    else leaveOut(`the environment ${JSON.stringify(name)}, which is none`)
  }
  const ids = isJsonObject(request_ids) && { request_ids }
  const state: JsonObject = { ...others, version: STATE_VERSION, state_id: '', generation: 1, ...ids, environments }
  const refused = new Set<string>()
  const refuse = (problem: Problem): void => {
    const place = partOf(problem.path)
    if (refused.has(pathText(place))) return
    refused.add(pathText(place))
    const isUnknown = problem.atKey === true && place.length === problem.path.length
    const what = isUnknown ? `\`${pathText(place)}\` is an unknown key` : sentence(problem)
    leaveOut(`${what}${takeOut(state, place, isUnknown)}`)
  }
  const ofState = (problem: Problem): number => Number(problem.path.length > 1)
  everyProblem(state)
    .sort((a, b) => ofState(a) - ofState(b))
    .forEach(refuse)
  const content = state as unknown as StateContent
  const rows = contradictions(content).filter(({ path }) => typeof path.at(-2) === 'number')
  rows.forEach(refuse)
  for (const [name, image] of Object.entries(content.environments)) {
    dropNulls(image)
    dropNulls(image.tables)
    raiseSequence(image, ['environments', name], leaveOut)
  }
  const { request_ids: positions } = content
  return { ...(positions && { request_ids: positions }), environments: content.environments }
}

/** The part of a state that is left out for a problem inside: a row, a part of an environment, or a key of the state. */
function partOf(path: Path): Path {
  const [top, , part] = path
  if (top !== 'environments') return path.slice(0, 1)
  return path.slice(0, part === 'tables' ? 5 : SECTION_NAMES.some((name) => name === part) ? 4 : 3)
}

/** Takes a part out of a state, and says what is in its place. Of a row null stays, so that the other rows keep their places. */
function takeOut(state: JsonObject, place: Path, isUnknown: boolean): string {
  const holder = valueAtPath(state, place.slice(0, -1)) as Record<string | number, JsonValue>
  const key = place.at(-1) ?? ''
  const isDefault = Object.hasOwn(DEFAULTS, key)
  if (isUnknown || place.length === 1) Reflect.deleteProperty(holder, key)
  else if (typeof key === 'number') holder[key] = null
  else holder[key] = isDefault ? (DEFAULTS[key] ?? null) : []
  if (isUnknown || typeof key === 'number' || place.length === 1) return ''
  return isDefault ? '; the default replaces it' : '; an empty table replaces it'
}

function dropNulls(lists: object): void {
  for (const [name, list] of Object.entries(lists) as [string, unknown][])
    if (Array.isArray(list)) Object.assign(lists, { [name]: list.filter((row) => row !== null) })
}

/** A new account must not get the place of one that was saved. */
function raiseSequence({ tables }: StoredImage, path: Path, leaveOut: LeaveOut): void {
  const last = lastSequence(tables)
  const counter = tables.counters.find(({ id }) => id === ACCOUNT_SEQUENCE)
  if ((counter?.value ?? 0) >= last) return
  leaveOut(`${pathText(path)}.tables.counters: account_sequence is raised to ${last}, the sequence of the last account`)
  const others = tables.counters.filter((other) => other !== counter)
  tables.counters = [{ id: ACCOUNT_SEQUENCE, value: last }, ...others]
}
