import { isDeepStrictEqual } from 'node:util'
import { fieldName } from '../../model/contract/violation.ts'
import type { Account } from '../../model/domain/account.ts'
import type { Connector, Tool } from '../../model/domain/connector.ts'
import { invalidField, invalidFields, ServiceError } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../model/domain/json.ts'
import { accountByLocator, locateForTool, type Locator, type LocatorNames } from '../../model/domain/locator.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { nearMiss } from '../../model/domain/suggestion.ts'
import { maskText } from '../../model/domain/masking.ts'
import { quote } from '../../model/domain/text.ts'
import { connectorOf } from './accounts.ts'
import { refuseDisabled } from './connections.ts'
import { nearMissWarning } from './near-misses.ts'
import type { Call, Reply } from './operation.ts'
import { callThirdParty, refuseInactive, toolError } from './third-party-calls.ts'

type ExecuteTool = Call<'execute_tool'>

/** POST /execute_tool (4.14): its checks in their order (G17), then the call of the third party, and its result (G43 to G46). */
export async function executeTool(call: ExecuteTool): Promise<Reply> {
  const { environment, body, trace } = call
  const input = toolInputOf(body.tool_input, body.params)
  const located = runningAccount(call, { ...body, id: body.connected_account_id }, body.tool_name)
  trace.account = located
  const connector = connectorOf(environment, located)
  const tool = namedTool(connector, body.tool_name)
  const preparing = call.toolSchemas.prepare(tool)
  // Other requests may change the account, or its connector, meanwhile.
  if (preparing) return preparing.then(() => executeTool(call))
  noteUnreadInput(tool, input, trace)
  refuseDisabled(environment, located.connector)
  refuseInactive(located)
  const violations = call.toolSchemas.check(tool, input)
  if (violations.length > 0) throw invalidFields(violations, 'INVALID_TOOL_INPUT')
  const execution_id = environment.ids.id('exec')
  trace.execution_id = execution_id
  if (body.agent_run_id) trace.agent_run_id = body.agent_run_id
  const response = await callThirdParty(call, located, (account) =>
    call.thirdParty.call(connector, tool, account, input),
  )
  if (response.kind === 'unsendable')
    throw invalidField('tool_input', `must have other values: ${response.message}`, 'path', 'INVALID_TOOL_INPUT')
  if (response.kind !== 'result') throw toolError(response, execution_id)
  return { status: 200, body: { data: response.data, execution_id } }
}

const LOCATOR_NAMES: LocatorNames = { id: 'connected_account_id', connector: 'connector' }

/** The account to run a tool with. Clients mostly name it by its identifier alone: then the tool says the connector (G21). */
export function runningAccount(
  { environment, documentedOnly }: Pick<ExecuteTool, 'environment' | 'documentedOnly'>,
  locator: Locator,
  tool: string,
): Account {
  const accounts = environment.model.accountIndex
  const { id, connector, identifier } = locator
  if (id || connector || !identifier) return accountByLocator(accounts, locator, documentedOnly, LOCATOR_NAMES)
  const able = [...environment.connectors].filter(([, { tools }]) => tools.some(({ name }) => name === tool))
  const connectors = able.map(([keyId]) => keyId)
  return locateForTool(accounts, { ...locator, identifier }, { tool, connectors }, documentedOnly)
}

/** `params` is another name for `tool_input` (G11). */
function toolInputOf(toolInput: JsonObject | undefined, params: JsonObject | undefined): JsonObject {
  if (toolInput && params && !isDeepStrictEqual(toolInput, params)) {
    throw invalidField('params', 'must be equal to tool_input, which it is another name for; send one of them', 'alias')
  }
  return toolInput ?? params ?? {}
}

/** @throws ServiceError TOOL_NOT_FOUND: unknown, or not of the account's connector (G44) */
function namedTool(connector: Connector, name: string): Tool {
  const tool = connector.tools.find((each) => each.name === name)
  if (tool) return tool
  const toolNames = connector.tools.map((each) => each.name).join(', ') || 'none'
  throw new ServiceError(
    'TOOL_NOT_FOUND',
    `tool not found: connector ${connector.connector} has no ${quote(maskText(name))}; it has ${toolNames}`,
  )
}

/** Keywords of schemas whose inputs are named by `properties` alone. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'title',
  'description',
  '$schema',
])

/** A member of the input in an expression; Handlebars ends a name at these characters. */
const INPUT_READ = /\binput\.([^\s!"#%-,./;->@[-^`{-~]+)/g

/** Warns of members of a tool's input that its schema does not name and its call does not read. */
function noteUnreadInput(tool: Tool, input: JsonObject, trace: RequestTrace): void {
  const { input_schema: schema } = tool
  const { properties } = schema
  if (!isJsonObject(properties)) return
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length === 0 || !Object.keys(schema).every((keyword) => PLAIN_KEYWORDS.has(keyword))) return
  const templates = jsonText([tool.call, tool.result])
  // The call reads the input as a whole, or a member in another notation.
  if (/\binput\b(?!\.\w)/.test(templates)) return
  const read = new Set([...templates.matchAll(INPUT_READ)].map(([, name]) => name))
  const unread = unknown.filter((each) => !read.has(each))
  for (const name of unread.slice(0, MAX_WARNINGS)) {
    const field = fieldName(['tool_input', name])
    const description = `is ignored: the tool ${tool.name} has no input of that name`
    const meant = nearMiss(name, Object.keys(properties))
    if (meant === undefined) trace.ignored(field, description)
    else trace.warn(nearMissWarning(field, description, meant))
  }
}

const MAX_WARNINGS = 20
