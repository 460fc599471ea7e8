import { isDeepStrictEqual } from 'node:util'
import { fieldName } from '../contract/violation.ts'
import type { Account } from '../domain/account.ts'
import type { Connector, Tool } from '../domain/connector.ts'
import { invalidField, ServiceError, violationText } from '../domain/errors.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { ToolAnswer } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { quote } from '../domain/text.ts'
import { now } from '../state/environment.ts'
import { connectorOf, locateAccount } from './accounts.ts'
import { refuseDisabled } from './connections.ts'
import type { Call, Reply } from './operation.ts'
import { isExpired, isRenewable, renew } from './renewal.ts'

type ExecuteTool = Call<'execute_tool'>

/** POST /execute_tool (4.14): checks in the order of G17, then calls the third party and answers its result (G43 to G46). */
export async function executeTool(call: ExecuteTool): Promise<Reply> {
  const { environment, body, trace } = call
  const input = inputOf(body.tool_input, body.params)
  const located = locateAccount(call, { ...body, id: body.connected_account_id })
  const connector = connectorOf(environment, located)
  const tool = toolOf(connector, body.tool_name)
  refuseDisabled(environment, connector.connector)
  refuseInactive(located)
  await refuseInvalid(call, tool, input)
  noteUnreadInput(tool, input, trace)
  const execution_id = environment.ids.id('exec')
  trace.execution_id = execution_id
  if (body.agent_run_id) trace.agent_run_id = body.agent_run_id
  const account = await usableAccount(call, located)
  const answer = await callTool(call, account, { connector, tool, input })
  if (answer.kind !== 'result') throw toolFailure(answer, execution_id)
  return { status: 200, body: { data: answer.data, execution_id } }
}

/** `params` is another name for `tool_input` (G11). */
function inputOf(toolInput: JsonObject | undefined, params: JsonObject | undefined): JsonObject {
  if (toolInput && params && !isDeepStrictEqual(toolInput, params)) {
    throw invalidField('params', 'must be equal to tool_input, which it is another name for; send one of them', 'alias')
  }
  return toolInput ?? params ?? {}
}

/** @throws ServiceError TOOL_NOT_FOUND: unknown, or not of the account's connector (G44) */
function toolOf(connector: Connector, name: string): Tool {
  const tool = connector.tools.find((each) => each.name === name)
  if (tool) return tool
  const known = connector.tools.map((each) => each.name).join(', ') || 'none'
  throw new ServiceError(
    'TOOL_NOT_FOUND',
    `connector ${connector.connector} has no tool ${quote(name)}; it has ${known}`,
  )
}

/** @throws ServiceError INVALID_TOOL_INPUT: not valid against the tool's own schema (G44) */
async function refuseInvalid(call: ExecuteTool, tool: Tool, input: JsonObject): Promise<void> {
  const violations = await call.checkToolInput(tool, input)
  if (violations.length === 0) return
  const message = violations.map(violationText).join('; ')
  throw new ServiceError('INVALID_TOOL_INPUT', message, { violations })
}

const ADVICE: Readonly<Record<Account['status'], string>> = {
  ACTIVE: '',
  EXPIRED: 'send its user through a new magic link, or update it with live credentials',
  PENDING_AUTH: 'its user has not given consent yet; create a magic link, or update it with live credentials',
  PENDING_VERIFICATION: 'verify its user with the auth_request_id of the redirect',
  DISCONNECTED: 'send its user through a new magic link, or update it with live credentials',
}

/** @throws ServiceError ACCOUNT_NOT_ACTIVE, a 400 with code 9 (G44); clients look for words of the message */
function refuseInactive({ id, connector, identifier, status }: Account): void {
  if (status === 'ACTIVE') return
  const account = `connected_account ${id} of connector ${connector}, identifier ${identifier},`
  const message = `${account} is ${status}: authorization is needed, ${ADVICE[status]}`
  throw new ServiceError('ACCOUNT_NOT_ACTIVE', message)
}

/** The account, renewed first when its token has expired (G46). */
async function usableAccount(call: ExecuteTool, account: Account): Promise<Account> {
  if (!isExpired(call.environment, account)) return account
  const renewal = await renew(call, account)
  if (renewal.outcome === 'unavailable') {
    const message = `the expired token could not be renewed: ${renewal.reason}`
    throw toolFailure({ kind: 'failed', status: null, message, arrived: false }, call.trace.execution_id ?? '')
  }
  refuseInactive(renewal.account)
  return renewal.account
}

interface Task {
  connector: Connector
  tool: Tool
  input: JsonObject
}

/** Calls the tool. After a 401 it renews the token and tries once more; a second 401 makes the account `EXPIRED` (G45). */
async function callTool(call: ExecuteTool, account: Account, task: Task): Promise<ToolAnswer> {
  const first = await send(call, account, task)
  if (first.kind !== 'unauthorized') return first
  if (!isRenewable(account)) return refused(call, account, first)
  const renewal = await renew(call, account)
  if (renewal.outcome !== 'renewed') return first
  const second = await send(call, renewal.account, task)
  return second.kind === 'unauthorized' ? refused(call, renewal.account, second) : second
}

/** Sends once; a call that arrived at the third party sets `last_used_at`, whatever came back (G26). */
async function send({ environment, thirdParty }: ExecuteTool, account: Account, { connector, tool, input }: Task) {
  const answer = await thirdParty.call(connector, tool, account, input)
  const arrived = 'arrived' in answer ? answer.arrived : answer.kind !== 'unsendable'
  if (arrived) {
    environment.model.transact(() => {
      const current = environment.model.tables.accounts.get(account.id)
      if (current) environment.model.tables.accounts.put({ ...current, last_used_at: now(environment) })
    })
  }
  return answer
}

function refused({ environment, trace }: ExecuteTool, account: Account, answer: ToolAnswer): ToolAnswer {
  environment.model.transact(() => {
    const current = environment.model.tables.accounts.get(account.id)
    // The account was deleted or given other credentials before the answer came: that stands.
    if (current?.credentials !== account.credentials) return
    environment.model.tables.accounts.put(trace.moved(current, 'credentials_refused', now(environment)))
  })
  return answer
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

/** Warns of members of a tool's input that its schema does not name and its call does not read. */
function noteUnreadInput({ input_schema: schema, ...tool }: Tool, input: JsonObject, trace: RequestTrace): void {
  const { properties } = schema
  if (!isJsonObject(properties)) return
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length === 0 || !Object.keys(schema).every((keyword) => PLAIN_KEYWORDS.has(keyword))) return
  const templates = JSON.stringify([tool.call, tool.result])
  // The call reads the input as a whole, or a member in another notation.
  if (/\binput\b(?!\.\w)/.test(templates)) return
  for (const name of unknown.filter((each) => !templates.includes(`input.${each}`)).slice(0, MAX_WARNINGS)) {
    trace.ignored(fieldName(['tool_input', name]), `is ignored: the tool ${tool.name} has no input of that name`)
  }
}

const MAX_WARNINGS = 20

/** The error for a call without a result (G44). Where the call was sent, it has `tool_error_info`. */
function toolFailure(answer: Exclude<ToolAnswer, { kind: 'result' }>, execution_id: string): ServiceError {
  const { kind, message: tool_error_message } = answer
  if (kind === 'unsendable') {
    const description = `must have other values: ${tool_error_message}`
    return new ServiceError('INVALID_TOOL_INPUT', `tool_input ${description}`, {
      violations: [{ field: 'tool_input', description, constraint: 'path' }],
    })
  }
  const answered = kind === 'timed_out' ? null : answer.status
  const status = kind === 'timed_out' ? 504 : answered === 401 || answered === 403 || answered === 429 ? answered : 500
  const without = kind === 'timed_out' ? 'timeout' : 'unusable_answer'
  const tool_error_code = answered !== null && answered >= 400 ? String(answered) : without
  return new ServiceError('TOOL_ERROR', tool_error_message, {
    tool: { status, execution_id, tool_error_code, tool_error_message },
    ...(kind === 'rate_limited' && answer.retry_after !== null && { headers: { 'Retry-After': answer.retry_after } }),
  })
}
