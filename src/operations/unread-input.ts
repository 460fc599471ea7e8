import { fieldName } from '../contract/field-path.ts'
import type { Tool } from '../domain/connector.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { RequestTrace } from '../domain/request-trace.ts'

/** Keywords that leave what a schema knows to its `properties`; with any other, nobody can say by these alone. */
const PLAIN: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'title', 'description', '$schema'])

/** Members of a tool's input that its schema does not name and its call does not read. */
export function noteUnreadInput({ input_schema: schema, ...tool }: Tool, input: JsonObject, trace: RequestTrace): void {
  const { properties } = schema
  if (!isJsonObject(properties)) return
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length === 0 || !Object.keys(schema).every((keyword) => PLAIN.has(keyword))) return
  const templates = JSON.stringify([tool.call, tool.result])
  // The input as a whole, or a member by some other notation.
  if (/\binput\b(?!\.\w)/.test(templates)) return
  for (const name of unknown.filter((each) => !templates.includes(`input.${each}`)).slice(0, MOST_TOLD)) {
    trace.ignored(fieldName(['tool_input', name]), `the tool ${tool.name} has no input of that name: ignored`)
  }
}

const MOST_TOLD = 20
