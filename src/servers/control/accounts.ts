import type { Account, AccountStatus } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connection } from '../../model/domain/connection.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { type JsonObject, jsonText, withoutUndefined } from '../../model/domain/json.ts'
import { maskJson } from '../../model/domain/masking.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { listAllowed } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { errorReply } from '../http/wire-response.ts'
import { ACCOUNT_EVENTS, allowedEvents, applyAccountEvent } from '../../state/account-events.ts'
import { withoutCredentials } from '../../service/operations/accounts.ts'
import {
  applyConnectionEvent,
  CONNECTION_EVENTS,
  findConnection,
  withServerUrl,
} from '../../service/operations/connections.ts'
import { removeConnection } from '../../service/operations/providers.ts'
import { changeReply, type ControlHandlers } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'
import { runOperation } from './operation.ts'
import { connectionOf, type Environment, providerNamed } from '../../state/environment.ts'
import { refusesRenewal } from '../../state/grants.ts'
import { putConnection } from '../../state/seeding.ts'

export const accountHandlers = {
  list_accounts: ({ environment, query }) => {
    const { query: text, connector, status, order, offset, limit } = query
    const statuses: Partial<Record<AccountStatus, number>> = {}
    const { accounts } = environment.model.tables
    for (const account of accounts.values()) statuses[account.status] = (statuses[account.status] ?? 0) + 1
    const matching = environment.model.accountIndex.where(withoutUndefined({ query: text, connector, status }))
    const page = inOrder(matching, order).slice(offset, offset + limit)
    return { body: { accounts: page.map(shownAccount), total_size: matching.length, statuses } }
  },

  get_account: ({ environment, path }) => {
    const account = accountWith(environment, path.id)
    const { organization_id, user_id, authorization_type, credentials } = account
    const tools = environment.connector(account.connector)?.tools ?? []
    const body = {
      account: shownAccount(account),
      organization_id,
      user_id,
      renewable: TRAITS[authorization_type].source === 'service' || Boolean(credentials.oauth_token?.refresh_token),
      renewal_refused: refusesRenewal(environment, account, environment.connector(account.connector)),
      events: allowedEvents(account),
      tools: tools.map(({ name, display_name, description, input_schema }) => ({
        name,
        display_name,
        description,
        input_schema,
      })),
    }
    return { body }
  },

  /** A refusal of the tool is an answer too: it is what the caller wants to see. */
  try_tool: async (call) => {
    const { environment, path, body, trace, entry: opened } = call
    const account = accountWith(environment, path.id)
    trace.account = account
    const { requestId: request } = opened
    const input = { connected_account_id: account.id, tool_name: path.tool, tool_input: body.input ?? {} }
    const reply = await runOperation('execute_tool', call, input).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.errorCode === 'STORAGE_UNAVAILABLE') throw error
      return errorReply(error, request)
    })
    const entry = {
      url: `the tool ${path.tool} was tried on account ${account.id}: ${reply.status}`,
      status: reply.status,
      requestBody: jsonText(input),
      responseBody: reply.body === undefined ? '' : jsonText(reply.body),
    }
    return { body: { status: reply.status, body: reply.body ?? null, request }, entry }
  },

  account_event: (call) => {
    const { environment, path, trace } = call
    const event = knownEvent(path.event, ACCOUNT_EVENTS)
    const account = accountWith(environment, path.id)
    trace.account ??= account
    const next = applyAccountEvent(environment, account, event, trace)
    const body = { account: shownAccount(next) }
    return changeReply(`${event} was applied to account ${account.id}`, { body })
  },

  create_connection: ({ services, environment, body, request }) => {
    const { key_id, provider_key } = body
    if (environment.connector(key_id) ?? connectionOf(environment, key_id))
      throw new ControlError('CONNECTION_EXISTS', `there is a connection ${quote(key_id)} already`)
    const connectorNames = [...environment.connectors.keys()]
    const row = environment.model.transact(() => {
      const created = putConnection(environment, withoutUndefined(body))
      if (environment.connector(key_id)?.connector !== key_id) return created
      const problem = {
        found: quote(provider_key),
        allowed: `a connector that there is (${listAllowed(provider_key, connectorNames)})`,
      }
      throw invalidInput('INVALID_BODY', [{ path: ['provider_key'], ...problem }])
    })
    const connection = withServerUrl(
      { ...services, environment, baseUrl: () => baseUrlOf(request, services.baseUrl) },
      row,
    )
    return {
      status: 201,
      ...changeReply(`the connection ${key_id} of ${provider_key} was created`, { body: { connection } }),
    }
  },

  delete_connection: ({ environment, path, trace }) => {
    const connection = connectionWith(environment, path.id)
    const { key_id } = connection
    const { tables } = environment.model
    if (tables.connectors.get(key_id)?.custom_provider === null || providerNamed(environment.model, key_id, true)) {
      const message = `the connection ${quote(key_id)} has the name of a connector or custom provider, which needs it`
      throw new ControlError('CONNECTION_NOT_REMOVABLE', message)
    }
    environment.model.transact(() => removeConnection(environment, connection, trace), trace)
    return changeReply(`the connection ${key_id} was deleted`)
  },

  connection_event: (call) => {
    const { environment, path } = call
    const event = knownEvent(path.event, CONNECTION_EVENTS)
    const connection = connectionWith(environment, path.id)
    const moved = applyConnectionEvent(environment, connection, event)
    return changeReply(`${event} was applied to connection ${moved.id} (${moved.key_id})`, {
      body: { connection: moved },
    })
  },
} satisfies Partial<ControlHandlers>

/** @param idOrKey its id, or its `key_id` (2.5). @throws ControlError CONNECTION_NOT_FOUND */
function connectionWith(environment: Environment, idOrKey: string): Connection {
  const connection = findConnection(environment, idOrKey)
  if (connection) return connection
  throw new ControlError('CONNECTION_NOT_FOUND', `there is no connection ${quote(idOrKey)}`)
}

/** Without credentials, and with the secrets in its `api_config` masked: these answers are shown on screens. */
/** Accounts in the order of creation or its reverse, or by the text of a field, whose equals stay in the order of creation. */
function inOrder(accounts: readonly Account[], order: string): readonly Account[] {
  if (order === 'oldest') return accounts
  if (order === 'newest') return accounts.toReversed()
  const field = order.replace(/^-/, '') as 'identifier' | 'connector' | 'status' | 'token_expires_at'
  const sign = order.startsWith('-') ? -1 : 1
  const valueOf = (account: Account): string =>
    (field === 'token_expires_at' ? withoutCredentials(account)[field] : account[field]) ?? ''
  const keyed = accounts.map((account) => [valueOf(account), account] as const)
  return keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, account]) => account)
}

function shownAccount(account: Account): JsonObject {
  const { api_config } = account
  return { ...withoutCredentials(account), api_config: maskJson(api_config) }
}

/** The account with an id, or the only one with an identifier. @throws ControlError ACCOUNT_NOT_FOUND, AMBIGUOUS_ACCOUNT */
export function accountWith({ model }: Environment, name: string): Account {
  const { accounts } = model.tables
  const byId = accounts.get(name)
  const matches = byId ? [byId] : [...accounts.values()].filter(({ identifier }) => identifier === name)
  const [account] = matches
  if (!account) {
    const message = `there is no connected account with the id or the identifier ${quote(name)}`
    throw new ControlError('ACCOUNT_NOT_FOUND', message)
  }
  if (matches.length === 1) return account
  const listed = matches.slice(0, MAX_SHOWN).map(({ id, connector }) => `${id} (${connector})`)
  const more = matches.length > MAX_SHOWN ? ` and ${matches.length - MAX_SHOWN} more` : ''
  const message = `${quote(name)} is the identifier of ${matches.length} accounts; name one by its id: ${listed.join(', ')}${more}`
  throw new ControlError('AMBIGUOUS_ACCOUNT', message, [{ accounts: matches.slice(0, MAX_SHOWN).map(({ id }) => id) }])
}

const MAX_SHOWN = 20

function knownEvent<Event extends string>(name: string, allowed: readonly Event[]): Event {
  const event = allowed.find((each) => each === name)
  if (event !== undefined) return event
  const message = `there is no event ${quote(name, 60)}; there are ${allowed.join(', ')}`
  throw new ControlError('EVENT_NOT_FOUND', message, [{ event: name.slice(0, 60), allowed }])
}
