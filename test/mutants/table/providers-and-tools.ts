import { ServiceError } from '../../../src/model/domain/errors.ts'
import {
  answering,
  answersOtherError,
  answersInsteadOfError,
  type Mutant,
  type MutantTable,
  answersOtherStatus,
} from '../mutant.ts'

const CREATE = 'create_custom_provider'
const UPDATE = 'update_custom_provider'
const DELETE = 'delete_custom_provider'
const EXECUTE = 'execute_tool'
const PATH = '/api/v1/custom-providers'
const DONE = { status: 200, body: { data: {}, execution_id: 'exec_nothing' } }

/** Custom providers and tool execution. */
export const PROVIDER_AND_TOOL_MUTANTS: MutantTable = {
  'providers/created: create of a provider answers 200': ({ around }) =>
    around(CREATE, async (call, handler) => ({ ...(await handler(call)), status: 200 })),
  'providers/defaults: metadata is null when none was set': answering(
    CREATE,
    ({ provider }, { body }) => (provider.metadata = body.metadata ?? null),
  ),
  'providers/custom: is_custom is false': answering(CREATE, ({ provider }) => (provider.is_custom = false)),
  'providers/fields: display_priority is missing': answering(
    CREATE,
    ({ provider }) => delete provider.display_priority,
  ),
  'providers/http-proxy: proxy_url may be http': answersOtherStatus(PATH, 'proxy_url', 201, { provider: {} }),
  'providers/pattern-type: a pattern may have any type': answersOtherStatus(PATH, /^auth_patterns\[/, 201, {
    provider: {},
  }),
  'providers/update-null: null for a field of a provider clears it': ({ around }) =>
    around(UPDATE, (call, handler) => handler({ ...call, body: { description: '', ...call.body } })),
  'providers/update-proxy-empty: an empty proxy_url counts as absent in an update': ({ around }) =>
    around(UPDATE, (call, handler) => {
      const { proxy_url, ...body } = call.body
      return handler({ ...call, body: proxy_url ? call.body : body })
    }),
  'providers/long-value: metadata has no bounds': answersOtherStatus(PATH, /^metadata/, 201, { provider: {} }),
  'providers/bounds: metadata values end at 255 characters': ({ around }) =>
    around(CREATE, (call, handler) => {
      if (Object.values(call.body.metadata ?? {}).some(({ length }) => length > 255))
        throw new ServiceError('VALIDATION_FAILED', 'metadata: too long')
      return handler(call)
    }),
  'providers/update: fields that update does not name are reset': answering(
    UPDATE,
    ({ provider }, { body }) => (provider.icon_src = body.icon_src ?? ''),
  ),
  'providers/update-metadata: update merges metadata': answering(UPDATE, ({ provider }, { body }) => {
    if (body.metadata) provider.metadata = { one: '1', ...provider.metadata }
  }),
  'providers/update-unknown: update of an unknown provider is a 200': answersInsteadOfError(
    UPDATE,
    'PROVIDER_NOT_FOUND',
    () => ({ status: 200, body: { provider: {} } }),
  ),
  'providers/delete: delete of a provider is a 204': ({ around }) =>
    around(DELETE, async (call, handler) => {
      await handler(call)
      return { status: 204 }
    }),
  'providers/delete-twice: a second delete of a provider is a 200': answersInsteadOfError(
    DELETE,
    'PROVIDER_NOT_FOUND',
    () => ({ status: 200, body: {} }),
  ),
  'providers/update-type: a new type leaves the credentials of the old one': keepsAccounts(UPDATE),
  'time/failed-call-used: a call that fails at the third party leaves last_used_at': ({ around }) =>
    around(EXECUTE, async (call, handler) => {
      const { model } = call.environment
      const before = model.tables.accounts.get(call.body.connected_account_id ?? '')
      try {
        return await handler(call)
      } catch (error) {
        if (before) model.transact(() => model.tables.accounts.put(before))
        throw error
      }
    }),
  'providers/delete-accounts: the accounts of a deleted provider keep their status': keepsAccounts(DELETE),
  'delete/execute: a deleted account still executes': answersInsteadOfError(EXECUTE, 'ACCOUNT_NOT_FOUND', () => DONE),
  'execute/pending: an account that is not ACTIVE executes': answersInsteadOfError(
    EXECUTE,
    'ACCOUNT_NOT_ACTIVE',
    () => DONE,
  ),
  'execute/pending: an account that is not ACTIVE has code 3': answersOtherError(
    EXECUTE,
    'ACCOUNT_NOT_ACTIVE',
    'VALIDATION_FAILED',
  ),
  'execute/unknown-tool: an unknown tool is a 400': answersOtherError(EXECUTE, 'TOOL_NOT_FOUND', 'VALIDATION_FAILED'),
  'execute/null-input: null is refused as an input of a tool, whatever its schema says': ({ around }) =>
    around(EXECUTE, (call, handler) => {
      if (!Object.values(call.body.tool_input ?? {}).includes(null)) return handler(call)
      throw new ServiceError('INVALID_TOOL_INPUT', 'an input is null')
    }),
  'execute/invalid-input: input is not checked against the schema of the tool': ({ around }) =>
    around(EXECUTE, (call, handler) =>
      handler({ ...call, toolSchemas: { prepare: () => undefined, check: () => [] } }),
    ),
  'execute/tool-before-state: the state of the account is checked before the tool': ({ around }) =>
    around(EXECUTE, (call, handler) => {
      const account = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
      if (account && account.status !== 'ACTIVE') throw new ServiceError('ACCOUNT_NOT_ACTIVE', 'not active')
      return handler(call)
    }),
  'execute/state-before-input: the input is checked before the state of the account': ({ around }) =>
    around(EXECUTE, async (call, handler) => {
      try {
        return await handler(call)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.errorCode !== 'ACCOUNT_NOT_ACTIVE') throw error
        throw Object.keys(call.body.tool_input ?? {}).length > 0
          ? error
          : new ServiceError('INVALID_TOOL_INPUT', 'input first')
      }
    }),
  'execute/result: the result is in result': answering(EXECUTE, (body) => {
    body.result = body.data
    delete body.data
  }),
  'execute/execution-ids: executions share an id': answering(
    EXECUTE,
    (body) => (body.execution_id = 'exec_always_the_same'),
  ),
  'execute/last-used: an execution leaves last_used_at unset': answering(
    'get_connected_account_details',
    ({ connected_account: account }) => delete account.last_used_at,
  ),
  'execute/by-identifier: an identifier needs a connector beside it': ({ around }) =>
    around(EXECUTE, (call, handler) => {
      const { connected_account_id, connector } = call.body
      if (!connected_account_id && !connector) throw new ServiceError('MISSING_LOCATOR', 'connector is required')
      return handler(call)
    }),
  'execute/params: params is not read, and so two inputs do not differ': ({ around }) =>
    around(EXECUTE, (call, handler) => {
      const { params: _params, ...body } = call.body
      return handler({ ...call, body })
    }),
  'execute/rate-limited: a rate limit of the third party is a 500': thirdPartyStatus(429, 500),
  'execute/third-party-fails: a failure of the third party lacks tool_error_info': answersOtherError(
    EXECUTE,
    'TOOL_ERROR',
    'TOOL_ERROR',
  ),
  'execute/list-result: a list that a third party answers is data.value': answering(EXECUTE, (body) => {
    if (body.data.array) body.data = { value: body.data.array }
  }),
  'execute/scopes: a token without the scopes of a tool is taken': ({ reply }) =>
    reply((answer) => {
      if (answer.body?.details?.[0]?.tool_error_info?.tool_error_code !== 'insufficient_scope') return
      Object.assign(answer, { status: 200, body: DONE.body })
    }),
  'execute/connections-of-provider: an account of a second connection has the name of that as its provider': answering(
    'create_connected_account',
    ({ connected_account: account }) => {
      if (account.connector === 'conform-second') account.provider = account.connector
    },
  ),
  'execute/third-party-status: a number of the third party is its word': ({ reply }) =>
    reply((answer) => {
      const info = answer.body?.details?.[0]?.tool_error_info
      if (info?.tool_error_code === '422') info.tool_error_code = '1042'
    }),
  'execute/third-party-forbids: a 403 of the third party is a 500': thirdPartyStatus(403, 500),
  'execute/third-party-refuses: a 401 of the third party is a 500': thirdPartyStatus(401, 500),
  'execute/inactive-words: the refusal for a state does not say that authorization is needed': answersOtherError(
    EXECUTE,
    'ACCOUNT_NOT_ACTIVE',
    'ACCOUNT_NOT_ACTIVE',
  ),
  'execute/third-party-silent: a third party that does not answer in time has answered what cannot be used':
    thirdPartyStatus(504, 500),
  'execute/third-party-unusable: an answer that cannot be used counts as none in time': ({ reply }) =>
    reply((answer) => {
      if (answer.body?.details?.[0]?.tool_error_info?.tool_error_code === 'unusable_answer') answer.status = 504
    }),
  'time/refresh-refused-for-tool: a refused refresh is a failure of the tool': ({ around }) =>
    around(EXECUTE, async (call, handler) => {
      const before = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
      try {
        return await handler(call)
      } catch (error) {
        if (before?.status !== 'ACTIVE' || !(error instanceof ServiceError)) throw error
        throw error.errorCode === 'ACCOUNT_NOT_ACTIVE' ? new ServiceError('TOOL_ERROR', error.message) : error
      }
    }),
  'providers/mcp-any: only the first pattern says whether a provider is one of MCP': answering(
    'create_custom_provider',
    ({ provider }) => {
      provider.is_custom_mcp = provider.auth_patterns[0]?.is_mcp === true
    },
  ),
  'time/token-refreshed-for-tool: an expired token is not refreshed for a tool': ({ around }) =>
    around(EXECUTE, (call, handler) => {
      const account = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
      const over = account?.token_expires_at && Date.parse(account.token_expires_at) <= call.environment.clock.now()
      if (over) throw new ServiceError('ACCOUNT_NOT_ACTIVE', 'its token has expired')
      return handler(call)
    }),
}

/** A mutant that answers another status where the third party answered that one. */
function thirdPartyStatus(from: number, to: number): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer) => {
      if (answer.status === from && answer.body?.details?.[0]?.error_code === 'TOOL_ERROR') answer.status = to
    })
}

/** An operation on a custom provider that leaves the provider's accounts as they were. */
function keepsAccounts(operation: typeof UPDATE | typeof DELETE): Mutant['mutate'] {
  return ({ around }) => {
    around(operation, async (call, handler) => {
      const { model } = call.environment
      const accounts = model.accountIndex.where({ connector: call.path['identifier'] ?? '' })
      const reply = await handler(call)
      model.transact(() => {
        for (const account of accounts) model.tables.accounts.put(account)
      })
      return reply
    })
  }
}
