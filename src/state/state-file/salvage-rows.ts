import { isJsonObject, type JsonObject, type JsonValue, own } from '../../domain/json.ts'
import { DEFAULT_SETTINGS } from '../../domain/settings.ts'
import { TABLE_NAMES, type TableName } from '../model/model.ts'
import { clockShape, idsShape, rowShape, settingsShape } from './row-shapes.ts'
import type { LeaveOut } from './salvage-text.ts'
import { describe, pathText, type Shape } from './shape.ts'
import { ENVIRONMENT_NAME } from './state-check.ts'
import { byName, type EnvironmentImage, type StateImage } from '../model/state-image.ts'

/** Ids of clients, bearer tokens and links choose an environment: two of them cannot have the same. */
const SHARED_TABLES: ReadonlySet<TableName> = new Set(['clients'])

/** Everything of a state that is sound: what is not is left out, row by row. */
export function salvageRows(state: JsonObject, leaveOut: LeaveOut): StateImage {
  const taken = new Set<string>()
  leaveOutUnknown(state, ['version', 'environments'], [], leaveOut)
  const environments = Object.entries(isJsonObject(state['environments']) ? state['environments'] : {}).flatMap(
    ([name, environment]): [string, EnvironmentImage][] => {
      if (ENVIRONMENT_NAME.test(name) && isJsonObject(environment))
        return [[name, salvageEnvironment(name, environment, taken, leaveOut)]]
      leaveOut(`the environment ${JSON.stringify(name)}, which is none`)
      return []
    },
  )
  return { version: 1, environments: byName(environments) }
}

function salvageEnvironment(
  name: string,
  environment: JsonObject,
  taken: Set<string>,
  leaveOut: LeaveOut,
): EnvironmentImage {
  const place = `environments.${name}`
  const part = (key: string, shape: Shape, fallback: unknown): unknown => {
    const value = own(environment, key)
    const fault = shape(value)
    if (!fault) return value
    leaveOut(`${pathText([place, key, ...fault.path])}: there is ${fault.found}; in its place come the defaults`)
    return fallback
  }
  const tables = isJsonObject(own(environment, 'tables')) ? (environment['tables'] as JsonObject) : {}
  leaveOutUnknown(environment, ['settings', 'clock', 'ids', 'tables'], [place], leaveOut)
  leaveOutUnknown(tables, TABLE_NAMES, [place, 'tables'], leaveOut)
  const image = {
    settings: part('settings', settingsShape, DEFAULT_SETTINGS),
    clock: part('clock', clockShape, { offset_ms: 0, frozen_at: null }),
    ids: part('ids', idsShape, null),
    tables: Object.fromEntries(
      TABLE_NAMES.map((table) => [table, salvageTable(table, own(tables, table), { place, taken, leaveOut })]),
    ),
  } as unknown as EnvironmentImage
  return withSequence(image, place, leaveOut)
}

function salvageTable(
  table: TableName,
  rows: JsonValue | undefined,
  { place, taken, leaveOut }: { place: string; taken: Set<string>; leaveOut: LeaveOut },
): JsonObject[] {
  const shape = rowShape(table)
  const seen = new Set<unknown>()
  const sequences = new Set<unknown>()
  const all = Array.isArray(rows) ? rows : []
  if (!Array.isArray(rows)) leaveOut(`${place}.tables.${table}: there is ${describe(rows)}; in its place comes no row`)
  return all.flatMap((row, at): JsonObject[] => {
    const path = `${place}.tables.${table}[${at}]`
    const fault = shape(row)
    if (fault) {
      leaveOut(`${pathText([path, ...fault.path])}: there is ${fault.found}; allowed is ${fault.allowed}`)
      return []
    }
    const { id, sequence } = row as { id: string; sequence?: number }
    const isTaken = SHARED_TABLES.has(table) && taken.has(id)
    if (seen.has(id) || isTaken || (table === 'accounts' && sequences.has(sequence))) {
      leaveOut(`${path}: its ${seen.has(id) || isTaken ? 'id' : 'sequence'} is there twice`)
      return []
    }
    seen.add(id)
    sequences.add(sequence)
    if (SHARED_TABLES.has(table)) taken.add(id)
    return [row as JsonObject]
  })
}

function leaveOutUnknown(object: JsonObject, known: readonly string[], path: string[], leaveOut: LeaveOut): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key))
      leaveOut(`${pathText([...path, key])}: an unknown field; allowed is one of ${known.join(', ')}`)
  }
}

/** A new account must not get the place of one that was saved. */
function withSequence(image: EnvironmentImage, place: string, leaveOut: LeaveOut): EnvironmentImage {
  const { accounts, counters } = image.tables
  const last = accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  const counter = counters.find(({ id }) => id === 'account_sequence')
  if ((counter?.value ?? 0) >= last) return image
  leaveOut(`${place}.tables.counters: account_sequence is raised to ${last}, the sequence of the last account`)
  const others = counters.filter((other) => other !== counter)
  return { ...image, tables: { ...image.tables, counters: [{ id: 'account_sequence', value: last }, ...others] } }
}
