import type { z } from 'zod'
import { environmentSchema, environmentStateSchema, stateSchema } from '../../schema/state-document.ts'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../../domain/environment-name.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { SECTION_NAMES, type SectionName, TABLE_NAMES, type TableName } from '../model/model.ts'

/** What is wrong with a value, and where in it. */
export interface Fault {
  path: (string | number)[]
  found: string
  allowed: string
}

/** What is first wrong with a state of the present version. */
export function stateFault(state: JsonObject): Fault | undefined {
  const unknown = firstFault(stateSchema, { ...state, environments: {} })
  if (unknown) return unknown
  const { environments } = state
  if (!isJsonObject(environments)) return { path: ['environments'], ...mismatch(environments, 'an object') }
  for (const [name, environment] of Object.entries(environments)) {
    const fault = ENVIRONMENT_NAME.test(name)
      ? environmentFaults(environmentSchema, environment, SECTION_NAMES).next().value
      : { path: [], found: `the name ${JSON.stringify(name.slice(0, 100))}`, allowed: ENVIRONMENT_NAME_RULE }
    if (fault) return within(['environments', name], fault)
  }
  return undefined
}

/** Everything that is wrong with what `PUT /_mock/state` is sent: the first fault of each row, and all around the rows. */
export function stateFaults(value: unknown): Iterable<Fault> {
  return environmentFaults(environmentStateSchema, value, [])
}

/** What is wrong with one row, or with another part of an environment. */
export function rowFault(table: TableName | SectionName, row: unknown): Fault | undefined {
  return firstFault(rowSchema(table), row)
}

export function partFault(part: 'settings' | 'clock' | 'ids', value: unknown): Fault | undefined {
  return firstFault(environmentSchema.shape[part], value)
}

/** Rows are checked one by one, because zod would copy all of them at once. */
function* environmentFaults(
  schema: typeof environmentSchema | typeof environmentStateSchema,
  value: unknown,
  sections: readonly SectionName[],
): Generator<Fault, undefined> {
  if (!isJsonObject(value)) {
    yield { path: [], ...mismatch(value, 'an object with "tables"') }
    return
  }
  const tables = isJsonObject(value['tables']) ? value['tables'] : {}
  const frame = {
    ...value,
    ...emptied(value, sections),
    ...(isJsonObject(value['tables']) && { tables: { ...tables, ...emptied(tables, TABLE_NAMES) } }),
  }
  yield* faultsOf(schema, frame)
  for (const name of TABLE_NAMES) yield* rowFaults(name, tables[name], ['tables', name])
  for (const name of sections) yield* rowFaults(name, value[name], [name])
}

function emptied(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (Array.isArray(object[name]) ? [[name, []]] : [])))
}

function* rowFaults(name: TableName | SectionName, rows: JsonValue | undefined, path: (string | number)[]) {
  if (!Array.isArray(rows)) return
  const schema = rowSchema(name)
  for (let at = 0; at < rows.length; at++) {
    const fault = firstFault(schema, rows[at])
    if (fault) yield within([...path, at], fault)
  }
}

function rowSchema(name: TableName | SectionName): z.ZodType {
  const { shape } = environmentSchema
  const section = SECTION_NAMES.find((known) => known === name)
  return section ? shape[section].element : shape.tables.shape[name as TableName].element
}

function firstFault(schema: z.ZodType, value: unknown): Fault | undefined {
  return faultsOf(schema, value)[0]
}

function faultsOf(schema: z.ZodType, value: unknown): Fault[] {
  const { error } = schema.safeParse(value)
  return (error?.issues ?? []).flatMap((issue): Fault[] => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: [...path, key], found: 'an unknown field', allowed: issue.message }))
    return [{ path, ...mismatch(valueAt(value, path), allowedBy(issue)) }]
  })
}

function allowedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`
  if (issue.code === 'too_small') return `at least ${issue.minimum}`
  if (issue.code === 'too_big') return `at most ${issue.maximum}`
  return issue.message
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<string | number, unknown>)[step]
  }
  return found
}

function mismatch(value: unknown, allowed: string): Omit<Fault, 'path'> {
  return { found: describe(value), allowed }
}

/** What a value is, for messages: never the value of a secret. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a string' : JSON.stringify(value)
}

export function within(steps: readonly (string | number)[], fault: Fault): Fault {
  return { ...fault, path: [...steps, ...fault.path] }
}

/** `environments.default.tables.accounts[3]: status must be one of ACTIVE, …`. */
export function faultText({ path, found, allowed }: Fault): string {
  if (found === 'nothing') return `${pathText(path)} is required: ${allowed}`
  if (found === 'an unknown field') return `${pathText(path)} is an unknown field; allowed are ${allowed}`
  return `${pathText(path)} is ${found}; it must be ${allowed}`
}

/** A path inside the JSON: `environments.default.tables.accounts[3].status`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at > 0 ? `.${step}` : step)).join('')
}
