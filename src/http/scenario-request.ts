import { type JsonObject, isJsonObject, own } from '../domain/json.ts'
import { locate, type Locator } from '../domain/locator.ts'
import type { Account } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { ScenarioRequest } from '../scenarios/scenario-request.ts'
import { environmentOf, type RequestContext } from './request-context.ts'

/** A request of the API as the rules of scenarios see it; its account is looked for when a rule asks. */
export function scenarioRequest(context: RequestContext): ScenarioRequest {
  const { route, request, checked, client, trace } = context
  const body = isJsonObject(checked?.body) ? checked.body : {}
  const query = isJsonObject(checked?.query) ? checked.query : {}
  const locator = locatorIn(context, body, query)
  let account: Account | null | undefined
  return {
    at: 'service',
    operation: route.operation,
    tool: textAt(body, 'tool_name'),
    clientId: client?.id,
    body: isJsonObject(checked?.body) ? checked.body : undefined,
    query,
    headers: request.headers as JsonObject,
    locator,
    trace,
    get account() {
      account ??= accountOf(context, locator, body) ?? null
      return account ?? undefined
    },
    get connector() {
      return locator['connector'] ?? this.account?.connector
    },
  }
}

const LOCATOR_FIELDS = ['id', 'connector', 'identifier', 'organization_id', 'user_id'] as const

/** What the request says of the account it is about; of a custom provider, the connector that it is. */
function locatorIn({ route, checked }: RequestContext, body: JsonObject, query: JsonObject): Record<string, string> {
  const fields = LOCATOR_FIELDS.map((field) => [field, textAt(body, field) ?? textAt(query, field)] as const)
  const id = textAt(body, 'connected_account_id')
  const provider = route.operation.endsWith('_custom_provider') ? checked?.path['identifier'] : undefined
  const all = [...fields, ['id', id] as const, ['connector', provider] as const]
  return Object.fromEntries(all.filter((field): field is readonly [(typeof field)[0], string] => Boolean(field[1])))
}

/** The account of the request without side effects; undefined when there is none, or it is not clear which. */
function accountOf(context: RequestContext, locator: Locator, body: JsonObject): Account | undefined {
  const { model } = environmentOf(context)
  if (context.route.operation === 'verify_user') {
    const request = model.tables.auth_requests.get(textAt(body, 'auth_request_id') ?? '')
    return request && model.tables.accounts.get(request.account_id)
  }
  if (!locator.id && !(locator.connector && locator.identifier)) return undefined
  try {
    return locate(model.accountIndex, locator, false)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = own(object, key)
  return typeof value === 'string' && value !== '' ? value : undefined
}
