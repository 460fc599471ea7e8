import { isDeepStrictEqual } from 'node:util'
import { fieldName } from '../contract/violation.ts'
import type { Account } from '../domain/account.ts'
import type { Connector, Tool } from '../domain/connector.ts'
import { type ErrorCode, invalidField, ServiceError, violationText } from '../domain/errors.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { ToolAnswer } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { now } from '../state/environment.ts'
import { connectorOf, locateAccount } from './accounts.ts'
import { refuseDisabled } from './connections.ts'
import type { Call, Reply } from './operation.ts'
import { isExpired, isRenewable, renew } from './renewal.ts'

type ExecuteTool = Call<'execute_tool'>

/** POST /execute_tool (4.14): the checks in the order of G17, the call to the third party, its result (G43 to G46). */
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
    `connector ${connector.connector} has no tool ${JSON.stringify(name.slice(0, 100))}; it has ${known}`,
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

/** @throws ServiceError ACCOUNT_NOT_ACTIVE, a 400 with code 9 (G44) */
function refuseInactive(account: Account): void {
  if (account.status === 'ACTIVE') return
  throw new ServiceError(
    'ACCOUNT_NOT_ACTIVE',
    `connected account ${account.id} is ${account.status}: ${ADVICE[account.status]}`,
  )
}

/** The account with a token that has not expired (G46). */
async function usableAccount(call: ExecuteTool, account: Account): Promise<Account> {
  if (!isExpired(call.environment, account)) return account
  const renewal = await renew(call, account)
  if (renewal.outcome === 'unavailable') {
    const message = `the expired token could not be renewed: ${renewal.reason}`
    throw toolFailure(
      { kind: 'failed', status: null, code: 'TOKEN_RENEWAL_FAILED', message },
      call.trace.execution_id ?? '',
    )
  }
  refuseInactive(renewal.account)
  return renewal.account
}

interface Task {
  connector: Connector
  tool: Tool
  input: JsonObject
}

/** The call; after a 401 one renewal and one more try, and a second 401 expires the account (G45). */
async function callTool(call: ExecuteTool, account: Account, task: Task): Promise<ToolAnswer> {
  const first = await send(call, account, task)
  if (first.kind !== 'unauthorized') return first
  if (!isRenewable(account)) return refused(call, account, first)
  const renewal = await renew(call, account)
  if (renewal.outcome !== 'renewed') return first
  const second = await send(call, renewal.account, task)
  return second.kind === 'unauthorized' ? refused(call, renewal.account, second) : second
}

/** Sends once; an answer of any kind means that the third party was reached, which sets `last_used_at` (G26). */
async function send({ environment, thirdParty }: ExecuteTool, account: Account, { connector, tool, input }: Task) {
  const answer = await thirdParty.call(connector, tool, account, input)
  const sent = answer.kind !== 'timed_out' && answer.kind !== 'unsendable'
  const reached = sent && !(answer.kind === 'failed' && answer.status === null)
  if (reached) {
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
    // Given other credentials, or deleted, while the third party was asked: that stands.
    if (current?.credentials !== account.credentials) return
    environment.model.tables.accounts.put(trace.moved(current, 'credentials_refused', now(environment)))
  })
  return answer
}

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
    trace.ignored(fieldName(['tool_input', name]), `is ignored: the tool ${tool.name} has no input of that name`)
  }
}

const MOST_TOLD = 20

type Failure = Exclude<ToolAnswer, { kind: 'result' | 'unsendable' }>

type Unsendable = Extract<ToolAnswer, { kind: 'unsendable' }>

/** What the caller is told of a call that brought no result (G44); each that was sent carries `tool_error_info`. */
export function toolFailure(answer: Failure | Unsendable, execution_id: string): ServiceError {
  if (answer.kind === 'unsendable') return unsendable(answer)
  const { errorCode, tool_error_code } = described(answer)
  const retryAfter = answer.kind === 'rate_limited' ? answer.retry_after : null
  return new ServiceError(errorCode, answer.message, {
    tool: { execution_id, tool_error_code, tool_error_message: answer.message },
    ...(retryAfter === null ? {} : { headers: { 'Retry-After': retryAfter } }),
  })
}

/** Bad input, and no failure of anybody else's: a 400 like any other. */
function unsendable({ message }: Unsendable): ServiceError {
  const description = `must have other values: ${message}`
  return new ServiceError('INVALID_TOOL_INPUT', `tool_input ${description}`, {
    violations: [{ field: 'tool_input', description, constraint: 'path' }],
  })
}

function described(answer: Failure): { errorCode: ErrorCode; tool_error_code: string } {
  switch (answer.kind) {
    case 'rate_limited':
      return { errorCode: 'THIRD_PARTY_RATE_LIMITED', tool_error_code: '429' }
    case 'timed_out':
      return { errorCode: 'TOOL_EXECUTION_TIMED_OUT', tool_error_code: 'TIMEOUT' }
    case 'unauthorized':
      return { errorCode: 'TOOL_EXECUTION_FAILED', tool_error_code: '401' }
    case 'failed':
      return { errorCode: 'TOOL_EXECUTION_FAILED', tool_error_code: answer.code }
  }
}
