import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { placeOf } from './json-place.ts'
import { findSyntaxFault } from './json-syntax.ts'
import { STATE_VERSION } from './migrations.ts'
import { TABLE_NAMES, type TableName } from '../model/model.ts'
import { clockShape, idsShape, rowShape, settingsShape } from './row-shapes.ts'
import { array, type Fault, fields, pathText, type Shape, within } from './shape.ts'
import { decode, readInParts, type ReadState } from './snapshot-parts.ts'
import type { EnvironmentImage, StateImage } from '../model/state-image.ts'
import { StateError } from '../wal/state-errors.ts'

/** Environment names are path and query parts, and part of file names of whoever keeps one file each (1.2). */
export const ENVIRONMENT_NAME = /^[A-Za-z0-9._-]{1,64}$/

/** Lists of rows that were checked while they were read, need not be checked again. */
function environmentShape(sound: ReadonlySet<unknown>): Shape {
  const rows = (name: TableName): Shape => {
    const shape = array(rowShape(name))
    return (value) => (sound.has(value) ? undefined : shape(value))
  }
  return fields<EnvironmentImage>({
    settings: settingsShape,
    clock: clockShape,
    ids: idsShape,
    tables: fields(Object.fromEntries(TABLE_NAMES.map((name) => [name, rows(name)]))),
  })
}

/**
 * Reads the bytes of a state file.
 * @throws StateError saying what is wrong and where: line, column and the path inside the JSON
 */
export function parseState(bytes: Buffer, path: string): StateImage {
  const { state, sound } = readState(bytes, path)
  if (state['version'] !== STATE_VERSION) throw new VersionError(path, state['version'])
  const fault = stateFault(state, sound)
  if (!fault) return state as unknown as StateImage
  const at = `at ${pathText(fault.path)} there is ${fault.found}; allowed is ${fault.allowed}`
  throw refusedAt(bytes, path, fault.path, at)
}

/** A state of whatever version. @throws StateError when the bytes are none */
export function readDocument(bytes: Buffer, path: string): JsonObject {
  return readState(bytes, path).state
}

function readState(bytes: Buffer, path: string): ReadState {
  const { state, sound } = parseJson(bytes, path)
  if (isJsonObject(state) && Object.hasOwn(state, 'version') && isJsonObject(state['environments']))
    return { state, sound }
  throw refused(path, 'it is not a state file of toolmock: a JSON object with "version" and "environments" is expected')
}

function refused(path: string, what: string): StateError {
  return new StateError(
    `${path}: ${what}. Nothing was changed; use another --state file, or --fresh to replace this one; toolmock state repair saves what can be saved`,
  )
}

/** A refusal that names the line and column of what is wrong. */
export function refusedAt(bytes: Buffer, path: string, inside: readonly (string | number)[], what: string): StateError {
  const { line, column } = placeOf(decode(bytes), inside)
  return refused(`${path}:${line}:${column}`, what)
}

/** A state file of another version. */
export class VersionError extends StateError {
  constructor(
    path: string,
    readonly version: unknown,
  ) {
    super(
      refused(
        path,
        `its version is ${JSON.stringify(version).slice(0, 40)}; this toolmock reads version ${STATE_VERSION}`,
      ).message,
    )
  }
}

/** What is first wrong with a state of the present version. */
export function stateFault(state: JsonObject, sound: ReadState['sound'] = new Set()): Fault | undefined {
  const shape = environmentShape(sound)
  const environments = state['environments'] as JsonObject
  for (const [name, environment] of Object.entries(environments)) {
    const fault = environmentFault(name, environment, shape)
    if (fault) return within('environments', within(name, fault))
  }
  const unknown = Object.keys(state).find((key) => key !== 'version' && key !== 'environments')
  if (unknown === undefined) return undefined
  return { path: [unknown], found: 'an unknown field', allowed: 'version, environments' }
}

function environmentFault(name: string, environment: JsonValue, shape: Shape): Fault | undefined {
  if (ENVIRONMENT_NAME.test(name)) return shape(environment)
  return {
    path: [],
    found: `the name ${JSON.stringify(name.slice(0, 100))}`,
    allowed: 'a name of 1 to 64 letters, digits, ".", "_" and "-"',
  }
}

function lineOfOtherText(bytes: Buffer): number {
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline < 0 ? bytes.length : newline + 1
    if (!isUtf8(bytes.subarray(start, end))) break
    start = end
  }
  return line
}

function parseJson(bytes: Buffer, path: string): { state: unknown; sound: ReadState['sound'] } {
  if (bytes.length === 0) throw refused(path, 'it is empty')
  if (!isUtf8(bytes)) throw refused(`${path}:${lineOfOtherText(bytes)}`, 'it is not a text in UTF-8')
  const read = readInParts(bytes)
  if (read) return read
  const text = decode(bytes)
  try {
    return { state: JSON.parse(text) as unknown, sound: new Set() }
  } catch (error) {
    const fault = findSyntaxFault(text)
    if (!fault) throw error
    throw refused(`${path}:${fault.line}:${fault.column}`, `it is not JSON: unexpected ${fault.found}`)
  }
}
