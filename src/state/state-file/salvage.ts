import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../domain/json.ts'
import { ENVIRONMENT_NAME } from '../../domain/environment-name.ts'
import { DEFAULT_SETTINGS } from '../../domain/settings.ts'
import { SECTION_NAMES, type SectionName, TABLE_NAMES, type TableName } from '../model/model.ts'
import { pathText } from '../../schema/problems.ts'
import { byName, STATE_VERSION, type StateImage, type StoredImage } from '../model/state-image.ts'
import { addTables } from './read-state.ts'
import { describe, problemText, partProblem, rowProblem, within } from './validation.ts'

/** Called for everything that is left out, with what and where it was. */
export type LeaveOut = (what: string) => void

/** The lines of `state-text.ts`, by their indentation. What else a line may be says nothing by itself. */
const ENVIRONMENT = /^ {4}(?<name>"(?:[^"\\]|\\.)*"): \{$/
const PART = /^ {6}"(?<name>settings|clock|ids)": (?<value>.*?),?$/
const ROWS = /^(?: {8}"(?<table>\w+)"| {6}"(?<section>\w+)"): \[(?:\],?)?$/
const ROW = /^ {8,10}(?<row>\{.+?),?$/
const FRAME =
  /^(?:\{| {2}"version": .*,| {2}"environments": \{(?:\},?)?| {6}"tables": \{| {6,8}\],?|(?: {2}){0,3}\},?)?$/

/**
 * Reads a damaged state file line by line: every row and every other part that is whole is kept, however much around it
 * is broken. Snapshots and origins are left out: their rows are deeper in the file.
 */
export function salvageText(bytes: Buffer, leaveOut: LeaveOut): JsonObject {
  const environments = byName<JsonValue>([])
  let environment: JsonObject | undefined
  let rows: JsonValue[] | undefined
  let unreadFrom: number | undefined
  const wellEncoded = isUtf8(bytes)
  const lines = normalizedLines(bytes.toString('utf8'))
  for (const [at, line] of lines.entries()) {
    const name = ENVIRONMENT.exec(line)?.groups?.['name']
    const part = PART.exec(line)?.groups
    const list = ROWS.exec(line)?.groups
    const row = ROW.exec(line)?.groups?.['row']
    const isRead = name !== undefined || part || list || row !== undefined || FRAME.test(line)
    if (!isRead) unreadFrom ??= at
    else if (unreadFrom !== undefined) {
      leaveOut(`${at - unreadFrom > 1 ? `lines ${unreadFrom + 1} to ${at}` : `line ${at}`}: what cannot be read`)
      unreadFrom = undefined
    }
    if (name !== undefined) {
      environments[JSON.parse(name) as string] = environment = { tables: {}, ...emptySections() }
      rows = undefined
    } else if (part && environment) {
      const value = parsed(part['value'] ?? '')
      if (value !== undefined) environment[part['name'] ?? ''] = value
      else leaveOut(`line ${at + 1}: the ${part['name']} of an environment, which cannot be read`)
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
  for (const found of Object.values(environments)) addTables(found)
  return { version: STATE_VERSION, environments }
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

function emptySections(): JsonObject {
  return Object.fromEntries(SECTION_NAMES.map((name) => [name, []]))
}

/** The valid parts of a state: what is not valid is left out, row by row. */
export function salvageRows(state: JsonObject, leaveOut: LeaveOut): StateImage {
  const clientIds = new Set<string>()
  leaveOutUnknown(state, ['version', 'environments'], [], leaveOut)
  const environments = Object.entries(isJsonObject(state['environments']) ? state['environments'] : {}).flatMap(
    ([name, environment]): [string, StoredImage][] => {
      if (ENVIRONMENT_NAME.test(name) && isJsonObject(environment))
        return [[name, salvageEnvironment(name, environment, clientIds, leaveOut)]]
      leaveOut(`the environment ${JSON.stringify(name)}, which is none`)
      return []
    },
  )
  return { version: STATE_VERSION, environments: byName(environments) }
}

function salvageEnvironment(
  name: string,
  environment: JsonObject,
  clientIds: Set<string>,
  leaveOut: LeaveOut,
): StoredImage {
  const path = ['environments', name]
  const part = (key: 'settings' | 'clock' | 'ids', fallback: unknown): unknown => {
    const value = own(environment, key)
    const problem = partProblem(key, value)
    if (!problem) return value
    leaveOut(`${problemText(within([...path, key], problem))}; the default replaces it`)
    return fallback
  }
  const tables = isJsonObject(own(environment, 'tables')) ? (environment['tables'] as JsonObject) : {}
  leaveOutUnknown(environment, ['settings', 'clock', 'ids', 'tables', ...SECTION_NAMES], path, leaveOut)
  leaveOutUnknown(tables, TABLE_NAMES, [...path, 'tables'], leaveOut)
  const image = {
    settings: part('settings', DEFAULT_SETTINGS),
    clock: part('clock', { offset_ms: 0, frozen_at: null }),
    ids: part('ids', null),
    tables: Object.fromEntries(
      TABLE_NAMES.map((table) => [
        table,
        salvageTable(table, own(tables, table), [...path, 'tables', table], clientIds, leaveOut),
      ]),
    ),
    ...Object.fromEntries(
      SECTION_NAMES.map((section) => [
        section,
        salvageTable(section, own(environment, section), [...path, section], clientIds, leaveOut),
      ]),
    ),
  } as unknown as StoredImage
  return withSequence(image, pathText(path), leaveOut)
}

function salvageTable(
  table: TableName | SectionName,
  rows: JsonValue | undefined,
  path: readonly (string | number)[],
  clientIds: Set<string>,
  leaveOut: LeaveOut,
): JsonObject[] {
  if (!Array.isArray(rows)) {
    leaveOut(`${pathText(path)} is ${describe(rows)}; an empty table replaces it`)
    return []
  }
  // The client id chooses the environment, so that no two environments can have the same.
  const ids = table === 'clients' ? clientIds : new Set<string>()
  const sequences = new Set<unknown>()
  return rows.flatMap((row, at): JsonObject[] => {
    const problem = rowProblem(table, row)
    if (problem) {
      leaveOut(problemText(within([...path, at], problem)))
      return []
    }
    const { id, sequence } = row as { id: string; sequence?: number }
    // Items of collections are counted in each collection.
    const isSecond = table === 'accounts' && sequences.has(sequence)
    if (ids.has(id) || isSecond) {
      leaveOut(`${pathText([...path, at])}: its ${ids.has(id) ? 'id' : 'sequence'} is there twice`)
      return []
    }
    ids.add(id)
    sequences.add(sequence)
    return [row as JsonObject]
  })
}

function leaveOutUnknown(object: JsonObject, known: readonly string[], path: string[], leaveOut: LeaveOut): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key))
      leaveOut(`${pathText([...path, key])} is an unknown field; allowed are ${known.join(', ')}`)
  }
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
