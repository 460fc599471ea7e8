import { expect, it } from 'vitest'
import { grpcCodeOf, ERROR_CATALOGUE, isToolErrorStatus } from '../../src/model/domain/errors.ts'
import { isJsonObject, ownMember } from '../../src/model/domain/json.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import { entries, follow, judge, member, operations, pointer, text } from './document.ts'

interface Example {
  title: string
  /** JSON pointer of the schema of the example. */
  schema: string
  value: JsonValue
  status: string
}

/** The examples of one `content`; `at` is its JSON pointer. */
function examplesOf(holder: JsonObject, at: string, title: string, status: string): Example[] {
  if (!ownMember(holder, 'content')) return []
  return entries(member(holder, 'content')).flatMap(([type, media]) => {
    const examples = ownMember(media, 'examples')
    const named = examples !== undefined && isJsonObject(examples) ? entries(examples) : []
    const schema = `${at}${pointer('content', type, 'schema')}`
    return named.map(([name, example]) => {
      const value = ownMember(follow(example), 'value') ?? null
      return { title: `${title} ${name}`, schema, value, status }
    })
  })
}

const requestExamples = operations.flatMap(({ id, object, pointer: at }) =>
  ownMember(object, 'requestBody')
    ? examplesOf(member(object, 'requestBody'), `${at}/requestBody`, `${id} request`, '')
    : [],
)
const responseExamples = operations.flatMap(({ id, pointer: at, responses }) =>
  responses.flatMap(([status, response]) =>
    examplesOf(response, `${at}${pointer('responses', status)}`, `${id} ${status}`, status),
  ),
)

/** `code` and `error_code` of an example of an error (G16). */
function claim(value: JsonValue): [code: JsonValue | undefined, name: string] | null {
  const details = isJsonObject(value) && ownMember(value, 'details')
  if (!isJsonObject(value) || !Array.isArray(details)) return null
  const [info] = details
  return info !== undefined && isJsonObject(info) ? [ownMember(value, 'code'), text(info, 'error_code')] : null
}

it.each([...requestExamples, ...responseExamples])('fit their schema: $title', ({ schema, value }) => {
  expect(judge(schema, value)).toEqual([])
})

it.each(operations)('exist for each body of $id', ({ id, object, responses }) => {
  const bodies = responses
    .filter(([, response]) => ownMember(response, 'content'))
    .map(([status]) => `${id} ${status} `)
  const expected = ownMember(object, 'requestBody') ? [`${id} request `, ...bodies] : bodies
  const titles = [...requestExamples, ...responseExamples].map(({ title }) => title)
  expect(bodies).not.toEqual([])
  expect(expected.filter((start) => !titles.some((title) => title.startsWith(start)))).toEqual([])
})

const errors = responseExamples.filter(({ value }) => claim(value))
it.each(errors)('carry the code and status of the error catalogue: $title', ({ value, status }) => {
  const [code, name] = claim(value) ?? []
  const catalogued = new Map<string, { status: number; code: number }>(Object.entries(ERROR_CATALOGUE)).get(name ?? '')
  const ofTool = name === 'TOOL_ERROR' && isToolErrorStatus(Number(status))
  expect(Number(status)).toBe(ofTool ? Number(status) : catalogued?.status)
  expect(code).toBe(grpcCodeOf(String(name), Number(status)))
})

it('show each error that an operation can answer', () => {
  const scenarios = ['RATE_LIMITED', 'TIMED_OUT']
  const ofMcp = ['MCP_SESSION_NOT_FOUND']
  const general = ['PATH_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'STORAGE_UNAVAILABLE', 'INTERNAL', ...scenarios, ...ofMcp]
  const shown = new Set(errors.map(({ value }) => claim(value)?.[1] ?? ''))
  expect([...shown].sort()).toEqual(
    Object.keys(ERROR_CATALOGUE)
      .filter((name) => !general.includes(name))
      .sort(),
  )
})
