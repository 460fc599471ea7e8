import { ServiceError } from '../../../src/model/domain/errors.ts'
import { answering, answersOtherError, answersInsteadOfError, type Mutant, answersOtherStatus } from '../mutant.ts'

const CREATE = 'create_custom_provider'
const UPDATE = 'update_custom_provider'
const DELETE = 'delete_custom_provider'
const EXECUTE = 'execute_tool'
const PATH = '/api/v1/custom-providers'
const DONE = { status: 200, body: { data: {}, execution_id: 'exec_nothing' } }

/** Custom providers and tool execution. */
export const PROVIDER_AND_TOOL_MUTANTS: readonly Mutant[] = [
  {
    name: 'provider-200',
    what: 'create of a provider answers 200',
    caughtBy: 'providers/created',
    mutate: ({ around }) => around(CREATE, async (call, handler) => ({ ...(await handler(call)), status: 200 })),
  },
  {
    name: 'provider-metadata-null',
    what: 'metadata is null when none was set',
    caughtBy: 'providers/defaults',
    mutate: answering(CREATE, ({ provider }, { body }) => (provider.metadata = body.metadata ?? null)),
  },
  {
    name: 'provider-not-custom',
    what: 'is_custom is false',
    caughtBy: 'providers/custom',
    mutate: answering(CREATE, ({ provider }) => (provider.is_custom = false)),
  },
  {
    name: 'provider-without-priority',
    what: 'display_priority is missing',
    caughtBy: 'providers/fields',
    mutate: answering(CREATE, ({ provider }) => delete provider.display_priority),
  },
  {
    name: 'provider-http-proxy',
    what: 'proxy_url may be http',
    caughtBy: 'providers/http-proxy',
    mutate: answersOtherStatus(PATH, 'proxy_url', 201, { provider: {} }),
  },
  {
    name: 'provider-any-pattern-type',
    what: 'a pattern may have any type',
    caughtBy: 'providers/pattern-type',
    mutate: answersOtherStatus(PATH, /^auth_patterns\[/, 201, { provider: {} }),
  },
  {
    name: 'provider-null-clears',
    what: 'null for a field of a provider clears it',
    caughtBy: 'providers/update-null',
    mutate: ({ around }) =>
      around(UPDATE, (call, handler) => handler({ ...call, body: { description: '', ...call.body } })),
  },
  {
    name: 'provider-proxy-stays',
    what: 'an empty proxy_url counts as absent in an update',
    caughtBy: 'providers/update-proxy-empty',
    mutate: ({ around }) =>
      around(UPDATE, (call, handler) => {
        const { proxy_url, ...body } = call.body
        return handler({ ...call, body: proxy_url ? call.body : body })
      }),
  },
  {
    name: 'provider-metadata-unbounded',
    what: 'metadata has no bounds',
    caughtBy: 'providers/long-value',
    mutate: answersOtherStatus(PATH, /^metadata/, 201, { provider: {} }),
  },
  {
    name: 'provider-metadata-tight',
    what: 'metadata values end at 255 characters',
    caughtBy: 'providers/bounds',
    mutate: ({ around }) =>
      around(CREATE, (call, handler) => {
        if (Object.values(call.body.metadata ?? {}).some(({ length }) => length > 255))
          throw new ServiceError('VALIDATION_FAILED', 'metadata: too long')
        return handler(call)
      }),
  },
  {
    name: 'provider-update-resets',
    what: 'fields that update does not name are reset',
    caughtBy: 'providers/update',
    mutate: answering(UPDATE, ({ provider }, { body }) => (provider.icon_src = body.icon_src ?? '')),
  },
  {
    name: 'provider-update-merges-metadata',
    what: 'update merges metadata',
    caughtBy: 'providers/update-metadata',
    mutate: answering(UPDATE, ({ provider }, { body }) => {
      if (body.metadata) provider.metadata = { one: '1', ...provider.metadata }
    }),
  },
  {
    name: 'provider-update-creates',
    what: 'update of an unknown provider is a 200',
    caughtBy: 'providers/update-unknown',
    mutate: answersInsteadOfError(UPDATE, 'PROVIDER_NOT_FOUND', () => ({ status: 200, body: { provider: {} } })),
  },
  {
    name: 'provider-delete-204',
    what: 'delete of a provider is a 204',
    caughtBy: 'providers/delete',
    mutate: ({ around }) =>
      around(DELETE, async (call, handler) => {
        await handler(call)
        return { status: 204 }
      }),
  },
  {
    name: 'provider-delete-twice',
    what: 'a second delete of a provider is a 200',
    caughtBy: 'providers/delete-twice',
    mutate: answersInsteadOfError(DELETE, 'PROVIDER_NOT_FOUND', () => ({ status: 200, body: {} })),
  },
  {
    name: 'provider-type-keeps-credentials',
    what: 'a new type leaves the credentials of the old one',
    caughtBy: 'providers/update-type',
    mutate: keepsAccounts(UPDATE),
  },
  {
    name: 'execute-failure-unused',
    what: 'a call that fails at the third party leaves last_used_at',
    caughtBy: 'time/failed-call-used',
    mutate: ({ around }) =>
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
  },
  {
    name: 'provider-delete-leaves-accounts',
    what: 'the accounts of a deleted provider keep their status',
    caughtBy: 'providers/delete-accounts',
    mutate: keepsAccounts(DELETE),
  },
  {
    name: 'execute-deleted',
    what: 'a deleted account still executes',
    caughtBy: 'delete/execute',
    mutate: answersInsteadOfError(EXECUTE, 'ACCOUNT_NOT_FOUND', () => DONE),
  },
  {
    name: 'execute-pending',
    what: 'an account that is not ACTIVE executes',
    caughtBy: 'execute/pending',
    mutate: answersInsteadOfError(EXECUTE, 'ACCOUNT_NOT_ACTIVE', () => DONE),
  },
  {
    name: 'execute-inactive-code',
    what: 'an account that is not ACTIVE has code 3',
    caughtBy: 'execute/pending',
    mutate: answersOtherError(EXECUTE, 'ACCOUNT_NOT_ACTIVE', 'VALIDATION_FAILED'),
  },
  {
    name: 'execute-unknown-tool-400',
    what: 'an unknown tool is a 400',
    caughtBy: 'execute/unknown-tool',
    mutate: answersOtherError(EXECUTE, 'TOOL_NOT_FOUND', 'VALIDATION_FAILED'),
  },
  {
    name: 'execute-no-null-input',
    what: 'null is refused as an input of a tool, whatever its schema says',
    caughtBy: 'execute/null-input',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) => {
        if (!Object.values(call.body.tool_input ?? {}).includes(null)) return handler(call)
        throw new ServiceError('INVALID_TOOL_INPUT', 'an input is null')
      }),
  },
  {
    name: 'execute-any-input',
    what: 'input is not checked against the schema of the tool',
    caughtBy: 'execute/invalid-input',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) =>
        handler({ ...call, toolSchemas: { prepare: () => undefined, check: () => [] } }),
      ),
  },
  {
    name: 'execute-state-first',
    what: 'the state of the account is checked before the tool',
    caughtBy: 'execute/tool-before-state',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) => {
        const account = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
        if (account && account.status !== 'ACTIVE') throw new ServiceError('ACCOUNT_NOT_ACTIVE', 'not active')
        return handler(call)
      }),
  },
  {
    name: 'execute-input-first',
    what: 'the input is checked before the state of the account',
    caughtBy: 'execute/state-before-input',
    mutate: ({ around }) =>
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
  },
  {
    name: 'execute-result-wrapped',
    what: 'the result is in result',
    caughtBy: 'execute/result',
    mutate: answering(EXECUTE, (body) => {
      body.result = body.data
      delete body.data
    }),
  },
  {
    name: 'execute-same-id',
    what: 'executions share an id',
    caughtBy: 'execute/execution-ids',
    mutate: answering(EXECUTE, (body) => (body.execution_id = 'exec_always_the_same')),
  },
  {
    name: 'execute-unnoticed',
    what: 'an execution leaves last_used_at unset',
    caughtBy: 'execute/last-used',
    mutate: answering('get_connected_account_details', ({ connected_account: account }) => delete account.last_used_at),
  },
  {
    name: 'execute-needs-connector',
    what: 'an identifier needs a connector beside it',
    caughtBy: 'execute/by-identifier',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) => {
        const { connected_account_id, connector } = call.body
        if (!connected_account_id && !connector) throw new ServiceError('MISSING_LOCATOR', 'connector is required')
        return handler(call)
      }),
  },
  {
    name: 'execute-no-alias',
    what: 'params is not read, and so two inputs do not differ',
    caughtBy: 'execute/params',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) => {
        const { params: _params, ...body } = call.body
        return handler({ ...call, body })
      }),
  },
  {
    name: 'execute-rate-limit-500',
    what: 'a rate limit of the third party is a 500',
    caughtBy: 'execute/rate-limited',
    mutate: thirdPartyStatus(429, 500),
  },
  {
    name: 'execute-failure-502',
    what: 'a failure of the third party lacks tool_error_info',
    caughtBy: 'execute/third-party-fails',
    mutate: answersOtherError(EXECUTE, 'TOOL_ERROR', 'TOOL_ERROR'),
  },
  {
    name: 'execute-list-value',
    what: 'a list that a third party answers is data.value',
    caughtBy: 'execute/list-result',
    mutate: answering(EXECUTE, (body) => {
      if (body.data.array) body.data = { value: body.data.array }
    }),
  },
  {
    name: 'execute-numeric-word',
    what: 'a number of the third party is its word',
    caughtBy: 'execute/third-party-status',
    mutate: ({ reply }) =>
      reply((answer) => {
        const info = answer.body?.details?.[0]?.tool_error_info
        if (info?.tool_error_code === '422') info.tool_error_code = '1042'
      }),
  },
  {
    name: 'execute-forbidden-500',
    what: 'a 403 of the third party is a 500',
    caughtBy: 'execute/third-party-forbids',
    mutate: thirdPartyStatus(403, 500),
  },
  {
    name: 'execute-unauthorized-500',
    what: 'a 401 of the third party is a 500',
    caughtBy: 'execute/third-party-refuses',
    mutate: thirdPartyStatus(401, 500),
  },
  {
    name: 'execute-inactive-without-words',
    what: 'the refusal for a state does not say that authorization is needed',
    caughtBy: 'execute/inactive-words',
    mutate: answersOtherError(EXECUTE, 'ACCOUNT_NOT_ACTIVE', 'ACCOUNT_NOT_ACTIVE'),
  },
  {
    name: 'execute-silent-500',
    what: 'a third party that does not answer in time has answered what cannot be used',
    caughtBy: 'execute/third-party-silent',
    mutate: thirdPartyStatus(504, 500),
  },
  {
    name: 'execute-unusable-504',
    what: 'an answer that cannot be used counts as none in time',
    caughtBy: 'execute/third-party-unusable',
    mutate: ({ reply }) =>
      reply((answer) => {
        if (answer.body?.details?.[0]?.tool_error_info?.tool_error_code === 'unusable_answer') answer.status = 504
      }),
  },
  {
    name: 'execute-refused-refresh-500',
    what: 'a refused refresh is a failure of the tool',
    caughtBy: 'time/refresh-refused-for-tool',
    mutate: ({ around }) =>
      around(EXECUTE, async (call, handler) => {
        const before = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
        try {
          return await handler(call)
        } catch (error) {
          if (before?.status !== 'ACTIVE' || !(error instanceof ServiceError)) throw error
          throw error.errorCode === 'ACCOUNT_NOT_ACTIVE' ? new ServiceError('TOOL_ERROR', error.message) : error
        }
      }),
  },
  {
    name: 'provider-mcp-by-first',
    what: 'only the first pattern says whether a provider is one of MCP',
    caughtBy: 'providers/mcp-any',
    mutate: answering('create_custom_provider', ({ provider }) => {
      provider.is_custom_mcp = provider.auth_patterns[0]?.is_mcp === true
    }),
  },
  {
    name: 'execute-without-refresh',
    what: 'an expired token is not refreshed for a tool',
    caughtBy: 'time/token-refreshed-for-tool',
    mutate: ({ around }) =>
      around(EXECUTE, (call, handler) => {
        const account = call.environment.model.tables.accounts.get(call.body.connected_account_id ?? '')
        const over = account?.token_expires_at && Date.parse(account.token_expires_at) <= call.environment.clock.now()
        if (over) throw new ServiceError('ACCOUNT_NOT_ACTIVE', 'its token has expired')
        return handler(call)
      }),
  },
]

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
      const accounts = model.accountIndex.ofConnector(call.path['identifier'] ?? '')
      const reply = await handler(call)
      model.transact(() => {
        for (const account of accounts) model.tables.accounts.put(account)
      })
      return reply
    })
  }
}
