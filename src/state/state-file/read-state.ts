import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject } from '../../domain/json.ts'
import { isStateDocument } from '../../schema/generated/checks.ts'
import { sentence } from '../../schema/problems.ts'
import { inSlices } from '../model/slices.ts'
import { STATE_VERSION, type StateImage } from '../model/state-image.ts'
import { StateError } from '../wal/state-errors.ts'
import { findSyntaxError, positionOf } from './json-position.ts'
import { decode, linesOf, parseByLine } from './state-text.ts'

/**
 * Reads the bytes of a state file.
 * @throws StateError saying what is wrong and where: line, column and the path inside the JSON
 */
export async function parseState(bytes: Buffer, path: string): Promise<StateImage> {
  const state = await readDocument(bytes, path)
  const { version = null } = state
  if (version !== STATE_VERSION) {
    const found = `of version ${JSON.stringify(version).slice(0, 40)}`
    throw new StateError(
      `${path}: it is ${found}, and this toolmock reads state files of version ${STATE_VERSION} only; nothing was changed, and --fresh replaces it`,
    )
  }
  for (const environment of Object.values(state['environments'] as JsonObject)) {
    addTables(environment)
    if (isJsonObject(environment)) for (const name of NEW_SECTIONS) environment[name] ??= []
    const snapshots = isJsonObject(environment) ? environment['snapshots'] : undefined
    if (Array.isArray(snapshots)) snapshots.forEach(addTables)
  }
  if (isStateDocument(state)) return state as unknown as StateImage
  // What says what is wrong takes as long to load as a small server to start.
  const { stateProblem } = await import('./validation.ts')
  const problem = stateProblem(state)
  if (problem) throw refusedAt(bytes, path, problem.path, sentence(problem))
  return state as unknown as StateImage
}

const NEW_SECTIONS = ['webhooks', 'webhook_deliveries']

/** Adds to an environment of an earlier toolmock the tables that have come since; they are empty. */
export function addTables(environment: unknown): void {
  if (!isJsonObject(environment) || !isJsonObject(environment['tables'])) return
  for (const name of ['collection_items', 'mcp_configs', 'mcp_keys'])
    if (!Object.hasOwn(environment['tables'], name)) environment['tables'][name] = []
}

/** A state of any version. @throws StateError when the bytes are none */
export async function readDocument(bytes: Buffer, path: string): Promise<JsonObject> {
  const state = await parseJson(bytes, path)
  if (isJsonObject(state) && Object.hasOwn(state, 'version') && isJsonObject(state['environments'])) return state
  throw refused(path, 'it is not a state file of toolmock: a JSON object with "version" and "environments" is expected')
}

async function parseJson(bytes: Buffer, path: string): Promise<unknown> {
  if (bytes.length === 0) throw refused(path, 'it is empty')
  if (!isUtf8(bytes)) throw refused(`${path}:${lineOfOtherText(bytes)}`, 'it is not a text in UTF-8')
  const state = await inSlices(parseByLine(bytes))
  if (state) return state
  const text = decode(bytes)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const problem = findSyntaxError(text)
    if (!problem) throw error
    throw refused(`${path}:${problem.line}:${problem.column}`, `it is not JSON: unexpected ${problem.found}`)
  }
}

function lineOfOtherText(bytes: Buffer): number {
  let line = 1
  for (const text of linesOf(bytes)) {
    if (text.includes('\ufffd')) break
    line++
  }
  return line
}

function refused(path: string, what: string): StateError {
  return new StateError(
    `${path}: ${what}. Nothing was changed; use another --state file, or --fresh to replace this one; npx toolmock state repair saves what can be saved`,
  )
}

/** A refusal that names the line and column of what is wrong. */
export function refusedAt(bytes: Buffer, path: string, inside: readonly (string | number)[], what: string): StateError {
  const { line, column } = positionOf(decode(bytes), inside)
  return refused(`${path}:${line}:${column}`, what)
}
