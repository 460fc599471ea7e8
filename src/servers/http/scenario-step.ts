import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import type { Account } from '../../model/domain/account.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { fieldValues, isJsonObject, type JsonObject, ownMember } from '../../model/domain/json.ts'
import { accountByLocator, type Locator } from '../../model/domain/locator.ts'
import { connectionNamed } from '../../service/operations/connections.ts'
import { headerLocator } from '../../service/operations/proxy.ts'
import { runningAccount } from '../../service/operations/tools.ts'
import { actBefore, deliveryOf, injectedResponse } from '../../scenarios/delivery.ts'
import type { ScenarioRequest } from '../../scenarios/rule-matching.ts'
import type { MatchedFault } from '../../scenarios/faults/fault.ts'
import { bodyByType } from '../../scenarios/third-party.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import type { Environment } from '../../state/environment.ts'
import { errorBody } from './wire-response.ts'
import type { RequestContext } from './request-context.ts'
import type { ServiceParts } from './services.ts'

/** Applies the faults of rules that fired: they wait, end the connection, answer, or change how the answer is sent. */
export async function applyFaults(
  context: RequestContext,
  { pauses, scenarios }: ServiceParts,
  environment: Environment,
  faults: readonly MatchedFault[],
): Promise<void> {
  const { request, route, requestId } = context
  const { operation } = route
  const connection = {
    response: request.response,
    pauses,
    random: () => scenarios.of(environment).random(),
    trace: context.trace,
  }
  if (faults.some(({ fault }) => fault.phase === 'connection')) request.call?.silence?.()
  const end = await actBefore(faults, connection)
  if (end) {
    context.fault = { cut: end.kind, injected: false, text: undefined, deliver: undefined }
    return
  }
  context.readGuard?.assertUsable()
  // A fault may have kept the request waiting.
  applyDueEvents(environment, context.trace)
  const executionId = (): string => environment.ids.id('exec')
  const accountId = (): string => scenarioRequest(context, environment).account?.id ?? environment.ids.id('ca')
  const injected = injectedResponse(faults, { at: 'service', operation, executionId, accountId })
  const deliver = deliveryOf(faults)
  if (!injected && !deliver) return
  if (injected) {
    const { status, headers, error } = injected
    const body = error ? errorBody(error, requestId) : injected.body
    context.reply = { status, headers, ...(typeof body === 'string' ? {} : { body }) }
  }
  context.fault = {
    cut: undefined,
    injected: injected !== undefined,
    ofMcp: faults.some(({ fault, ofMcp }) => fault.phase === 'answer' && ofMcp),
    text: typeof injected?.body === 'string' ? injected.body : undefined,
    deliver: deliver && ((response, wireResponse) => deliver({ ...connection, response }, wireResponse)),
  }
}

/** A request of an operation as the rules of scenarios see it. Its account is looked up when a rule asks for it. */
export function scenarioRequest(context: RequestContext, environment: Environment): ScenarioRequest {
  const { route, request, client, trace } = context
  const { body: requestBody, query } = bodyAndQuery(context)
  const body = isJsonObject(requestBody) ? requestBody : {}
  const locator = locatorIn(context, environment, body, query)
  let account: Account | null | undefined
  return {
    at: 'service',
    operation: route.operation,
    ...(request.call?.protocol === 'mcp' && { mcp: 'tools/call' as const }),
    tool: textOrUndefined(body, 'tool_name'),
    clientId: client?.id,
    body: requestBody,
    query,
    headers: request.headers as JsonObject,
    locator,
    trace,
    get account() {
      account ??= accountOfRequest(context, environment, locator, body) ?? null
      return account ?? undefined
    },
    get connector() {
      return locator['connector'] ?? this.account?.connector
    },
  }
}

function bodyAndQuery({ request, rawBody, checked }: RequestContext): Pick<ScenarioRequest, 'body' | 'query'> {
  // Only the requests of operations have a contract.
  if (!checked) {
    const type = request.headers['content-type'] ?? ''
    return { body: bodyByType(rawBody.toString(), type), query: fieldValues(new URLSearchParams(request.query)) }
  }
  return {
    body: isJsonObject(checked.body) ? checked.body : undefined,
    query: isJsonObject(checked.query) ? checked.query : {},
  }
}

const LOCATOR_FIELDS = ['id', 'connector', 'identifier', 'organization_id', 'user_id'] as const

/** The fields by which the request names an account, or the custom provider or connection as a connector. */
function locatorIn(
  { route, request, checked }: RequestContext,
  environment: Environment,
  body: JsonObject,
  query: JsonObject,
): Record<string, string> {
  if (route.operation === PROXY_REQUEST) return filledFields(Object.entries(headerLocator(request.headers)))
  const fields = LOCATOR_FIELDS.map(
    (field) => [field, textOrUndefined(body, field) ?? textOrUndefined(query, field)] as const,
  )
  const id = textOrUndefined(body, 'connected_account_id')
  const provider = route.operation.endsWith('_custom_provider') ? checked?.path['identifier'] : undefined
  const key = checked?.path['key_id']
  const connection = key === undefined ? undefined : (connectionNamed(environment, key)?.key_id ?? key)
  return filledFields([...fields, ['id', id] as const, ['connector', provider ?? connection] as const])
}

function filledFields(fields: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  return Object.fromEntries(fields.filter((field): field is readonly [string, string] => Boolean(field[1])))
}

/** The account that the request is about; undefined when it names none, or more than one. */
function accountOfRequest(
  { route }: RequestContext,
  environment: Environment,
  locator: Locator,
  body: JsonObject,
): Account | undefined {
  const { model } = environment
  if (route.operation === 'verify_user') {
    const request = model.tables.auth_requests.get(textOrUndefined(body, 'auth_request_id') ?? '')
    return request && model.tables.accounts.get(request.account_id)
  }
  const tool = route.operation === 'execute_tool' ? textOrUndefined(body, 'tool_name') : undefined
  try {
    if (tool !== undefined) return runningAccount({ environment, documentedOnly: false }, locator, tool)
    if (!locator.id && !(locator.connector && locator.identifier)) return undefined
    return accountByLocator(model.accountIndex, locator, false)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function textOrUndefined(object: JsonObject, key: string): string | undefined {
  const value = ownMember(object, key)
  return typeof value === 'string' && value !== '' ? value : undefined
}
