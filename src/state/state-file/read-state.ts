import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../model/domain/json.ts'
import { preparePatterns } from '../../model/domain/text-pattern.ts'
import { isStateDocument } from '../../model/schema/generated/checks.ts'
import { problemSentence } from '../../model/schema/problems.ts'
import { contradictions } from './contradictions.ts'
import { STATE_VERSION, type StateImage } from '../model/state-image.ts'
import { StateError } from '../wal/state-errors.ts'
import { decode } from '../model/state-text.ts'

/**
 * Undefined when there is no file. The bytes of thousands of accounts leave the memory before their rows come, and are read again for the place of a mistake.
 * @throws StateError saying what is wrong and where: line, column and the path inside the JSON
 */
export async function readImage(read: () => Promise<Buffer | undefined>, path: string) {
  const state = await read().then((bytes) => bytes && readStateDocument(bytes, path))
  if (!state) return undefined
  const { version = null } = state
  if (version !== STATE_VERSION) {
    const mistake = `of version ${jsonText(version).slice(0, 40)}`
    throw new StateError(
      `${path}: it is ${mistake}, and this toolmock reads state files of version ${STATE_VERSION} only; nothing was changed, and --fresh replaces it`,
    )
  }
  const image = state as unknown as StateImage
  // What says what is wrong takes as long to load as a small server to start.
  const schema = isStateDocument(state) ? undefined : await import('../../model/schema/state-document.ts')
  const [problem] = schema ? schema.stateProblems(state, schema.stateSchema) : contradictions(image)
  if (!problem) return image
  const { textPosition: positionOf } = await import('./json-position.ts')
  const { line, column } = positionOf(decode((await read()) ?? Buffer.alloc(0)), problem.path)
  throw stateError(`${path}:${line}:${column}`, problemSentence(problem))
}

/** A state of any version. @throws StateError when the bytes are none */
async function readStateDocument(bytes: Buffer, path: string): Promise<JsonObject> {
  await preparePatterns(bytes)
  const state = await parseBytes(bytes, path)
  if (isJsonObject(state) && Object.hasOwn(state, 'version') && isJsonObject(state['environments'])) return state
  if (isJsonObject(state) && isJsonObject(state['tables'])) {
    const what = 'it is the state of one environment, as GET /_mock/state answers it, and no state file'
    throw new StateError(`${path}: ${what}; start with another --state file and send this one to PUT /_mock/state`)
  }
  throw stateError(
    path,
    'it is not a state file of toolmock: a JSON object with "version" and "environments" is expected',
  )
}

async function parseBytes(bytes: Buffer, path: string): Promise<unknown> {
  if (bytes.length === 0) throw stateError(path, 'it is empty')
  if (!isUtf8(bytes)) {
    const [before = ''] = bytes.toString('utf8').split('\ufffd', 1)
    throw stateError(`${path}:${before.split('\n').length}`, 'it is not a text in UTF-8')
  }
  const text = decode(bytes)
  try {
    return parseJson(text)
  } catch {
    const { findSyntaxError } = await import('./json-position.ts')
    const problem = findSyntaxError(text)
    if (!problem) throw stateError(path, 'it is not JSON')
    throw stateError(`${path}:${problem.line}:${problem.column}`, `it is not JSON: unexpected ${problem.found}`)
  }
}

function stateError(path: string, what: string): StateError {
  return new StateError(
    `${path}: ${what}. Nothing was changed; correct it by hand, use another --state file, such as a copy of this one, or --fresh to replace it`,
  )
}
