import type { Account } from '../../model/domain/account.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { instant } from '../../model/domain/instant.ts'
import { type SessionClaims, signedToken } from '../../model/domain/session-token.ts'
import { quote } from '../../model/domain/text.ts'
import type { Environment } from '../../state/environment.ts'
import { newMcpKey } from '../../state/model/time-and-ids.ts'
import { createConnectedAccount } from './accounts.ts'
import { connectionNamed, isOfAccounts, withServerUrl } from './connections.ts'
import { accountAt, configUrl, knownConfig, notOfAccounts } from './mcp-configs.ts'
import type { Call, Reply } from './operation.ts'

type MintCall = Call<'create_mcp_config_token' | 'create_mcp_connection_token'>

interface Target {
  readonly url: string
  readonly server: Pick<SessionClaims, 'mcp_cfg' | 'conn_id'>
  readonly accounts: readonly Account[]
}

/** POST /mcp/configs/{mcp_config_id}/tokens (G67): each connection needs an account that is `ACTIVE`. */
export function createMcpConfigToken(call: Call<'create_mcp_config_token'>): Promise<Reply> {
  const { environment, path, body } = call
  return mintToken(call, () => {
    const config = knownConfig(environment, path['mcp_config_id'])
    const names = config.connection_tool_mappings.map(({ connection_name }) => connection_name)
    if (names.length === 0) throw notReady(`the config ${quote(config.name)} has no connections`)
    const accountsByName = names.map((name) => [name, accountAt(environment, name, body.identifier)] as const)
    const lacking = accountsByName.filter(([, account]) => account?.status !== 'ACTIVE')
    if (lacking.length > 0) {
      const states = lacking.map(([name, account]) => `${name} (${account?.status ?? 'no account'})`)
      throw notReady(`identifier ${quote(body.identifier)} has no ACTIVE account at ${states.join(', ')}`)
    }
    const accounts = accountsByName.flatMap(([, account]) => account ?? [])
    return { url: configUrl(call, config), server: { mcp_cfg: config.id }, accounts }
  })
}

/** POST /mcp/connections/{key_id}/tokens (G67): makes a pending account where there is none. */
export async function createMcpConnectionToken(call: Call<'create_mcp_connection_token'>): Promise<Reply> {
  const { environment, body } = call
  const { identifier } = body
  refuseOtherTarget(call)
  lifetimeOf(call)
  const { key_id: connector } = enabledConnection(call)
  if (!accountAt(environment, connector, identifier)) {
    await createdAccount({ ...call, query: {}, body: { connector, identifier, connected_account: {} } })
  }
  return mintToken(call, () => {
    const connection = enabledConnection(call)
    const account = accountAt(environment, connection.key_id, identifier)
    if (!account) throw new ServiceError('ACCOUNT_NOT_FOUND', 'the account was deleted in the meantime')
    const { mcp_server_url: url } = withServerUrl(call, connection)
    return { url, server: { conn_id: connection.id }, accounts: [account] }
  })
}

/** Another request may create the same account while the service obtains its token. */
async function createdAccount(call: Call<'create_connected_account'>): Promise<void> {
  try {
    await createConnectedAccount(call)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorCode !== 'ACCOUNT_ALREADY_EXISTS') throw error
  }
}

/** @throws ServiceError CONNECTION_NOT_FOUND, INVALID_CONNECTOR */
function enabledConnection({ environment, path }: MintCall) {
  const { key_id: name = '' } = path
  const connection = connectionNamed(environment, name)
  if (!connection?.enabled || connection.status !== 'COMPLETED')
    throw new ServiceError(
      'CONNECTION_NOT_FOUND',
      `there is no connection ${quote(name)} that is enabled and completed`,
    )
  if (!isOfAccounts(connection)) throw notOfAccounts('key_id', name)
  return connection
}

/** The first of an environment makes its key, which takes part of a second: the target is looked up again after it. */
async function mintToken(call: MintCall, targetOf: () => Target): Promise<Reply> {
  const { environment, body, baseUrl } = call
  refuseOtherTarget(call)
  const lifetime = lifetimeOf(call)
  const { url, server, accounts } = targetOf()
  const [key] = environment.model.tables.mcp_keys.values()
  if (!key) {
    await makeKey(environment)
    return mintToken(call, targetOf)
  }
  const iat = Math.floor(environment.clock.now() / 1000)
  const exp = iat + lifetime
  const claims: SessionClaims = {
    iss: baseUrl(),
    sub: body.identifier,
    aud: [url],
    iat,
    exp,
    token_type: 'mcp_session',
    access_level: body.access_level || 'FULL',
    ca_ids: accounts.map(({ id }) => id),
    ...server,
  }
  return { status: 200, body: { token: signedToken(claims, key), expires_at: instant(exp * 1000) } }
}

/** Another request may make the key of the environment at the same time: the first one is kept. */
async function makeKey(environment: Environment): Promise<void> {
  const key = await newMcpKey()
  const { model } = environment
  if (model.tables.mcp_keys.size === 0) model.transact(() => model.tables.mcp_keys.put(key))
}

/** A call of gRPC names a config or a connection: the path has the one, and nothing else may have the other. */
function refuseOtherTarget({ body }: MintCall): void {
  for (const field of ['mcp_config_id', 'key_id'] as const) {
    if (body[field]) throw invalidField(field, 'must not be sent: exactly one of mcp_config_id and key_id is', 'one_of')
  }
}

const LIFETIMES = { least: 60, usual: 3600, most: 86_400 }

/** In seconds. @throws ServiceError VALIDATION_FAILED */
function lifetimeOf({ body: { expiry } }: MintCall): number {
  if (expiry === undefined) return LIFETIMES.usual
  const seconds = Number(expiry.slice(0, -1))
  if (seconds >= LIFETIMES.least && seconds <= LIFETIMES.most) return Math.floor(seconds)
  const rule = `must be from ${LIFETIMES.least}s to ${LIFETIMES.most}s`
  throw invalidField('expiry', ruleAndFound(rule, quote(expiry)), 'range')
}

function notReady(message: string): ServiceError {
  return new ServiceError(
    'ACCOUNT_NOT_ACTIVE',
    `${message}; a session token needs an ACTIVE account at each connection`,
  )
}
