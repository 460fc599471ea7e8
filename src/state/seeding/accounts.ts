import { type Account, issued, type Issued } from '../../domain/account.ts'
import { areLive, mergeCredentials, type Credentials } from '../../domain/credentials.ts'
import { TRAITS } from '../../domain/authorization-type.ts'
import type { Connector } from '../../domain/connector.ts'
import { instant } from '../../domain/instant.ts'
import type { ThirdParty } from '../../domain/ports.ts'
import type { SeedAccount } from '../../domain/seed.ts'
import { type Environment, now } from '../environment.ts'
import { connectionNamed } from './connectors.ts'

/**
 * Puts an account in the state that the seed says, with what that state needs: credentials that its third party accepts
 * when it is `ACTIVE`, none that it would accept when it is `EXPIRED` or `DISCONNECTED`, a pending auth request when it
 * waits for verification. Only inside a transaction.
 */
export function putAccount(environment: Environment, thirdParty: ThirdParty, seed: SeedAccount): void {
  const { model } = environment
  const connector = environment.connector(seed.connector)
  if (!connector) throw new Error(`the seed has an account at ${JSON.stringify(seed.connector)}, which is no connector`)
  const account = equipped(environment, connector, seed)
  model.tables.accounts.put(account)
  if (seed.status === 'PENDING_VERIFICATION') putAuthRequest(environment, account)
  const accepted = seed.status === 'ACTIVE' ? account.credentials : account.pending?.credentials
  if (accepted && areLive(accepted)) thirdParty.accept(connector, account, accepted)
}

function equipped(environment: Environment, connector: Connector, seed: SeedAccount): Account {
  const { status, token_expires_at, last_used_at } = seed
  const live = issuedBySeed(environment, connector, seed)
  const waits = status === 'PENDING_VERIFICATION'
  return {
    ...placeOf(environment, seed),
    connection_id: connectionNamed(environment, seed.connector)?.id ?? '',
    connector: seed.connector,
    provider: seed.connector,
    identifier: seed.identifier,
    organization_id: seed.organization_id,
    user_id: seed.user_id,
    authorization_type: connector.authorization_type,
    status,
    updated_at: now(environment),
    api_config: seed.api_config,
    ...(waits ? { credentials: {}, pending: live } : live),
    ...(token_expires_at !== undefined && { token_expires_at }),
    ...(last_used_at !== undefined && { last_used_at }),
  }
}

/** The id and place of the account that is there already, or new ones. */
function placeOf({ ids, model }: Environment, seed: SeedAccount): Pick<Account, 'id' | 'sequence'> {
  const before = model.accountIndex.inScope(seed.connector, seed.identifier, seed)
  if (before) return { id: before.id, sequence: before.sequence }
  const id = seed.id ?? ids.id('ca')
  if (model.tables.accounts.get(id)) throw new SeedConflictError(id)
  return { id, sequence: model.count('account_sequence') }
}

function issuedBySeed(environment: Environment, connector: Connector, seed: SeedAccount): Issued {
  const type = connector.authorization_type
  const patch = seed.authorization_details ?? {}
  const given = mergeCredentials({}, patch, type, seed.identifier)
  const at = environment.clock.now()
  // The service obtains these itself (2.2): a token whose time is over makes it do so at the first use.
  if (TRAITS[type].source === 'service') return { credentials: given, token_expires_at: instant(at) }
  if (seed.status === 'PENDING_AUTH') return { credentials: given }
  const credentials = areLive(given)
    ? given
    : mergeCredentials(invented(environment, connector, seed.identifier), patch, type, seed.identifier)
  const lifetime = seed.status === 'EXPIRED' ? 0 : connector.oauth.access_token_lifetime
  return issued({ authorization_type: type }, credentials, lifetime, at)
}

/** Credentials as the third party would have issued them, or as somebody would have typed them in. */
function invented({ ids }: Environment, connector: Connector, identifier: string): Credentials {
  const { kind } = TRAITS[connector.authorization_type]
  if (kind === 'static_auth') {
    const fields = connector.credentials.fields.map(({ name, secret }) => [name, secret ? ids.opaque() : identifier])
    return { static_auth: { details: Object.fromEntries(fields) as Record<string, string> } }
  }
  if (kind !== 'oauth_token') return {}
  const { scopes, domain, refresh_token } = connector.oauth
  return {
    oauth_token: {
      access_token: `at_${ids.opaque()}`,
      refresh_token: refresh_token === 'none' ? '' : `rt_${ids.opaque()}`,
      scopes,
      domain,
    },
  }
}

function putAuthRequest(environment: Environment, account: Account): void {
  environment.model.tables.auth_requests.put({
    id: environment.ids.opaque(),
    account_id: account.id,
    identifier: account.identifier,
    expires_at: instant(environment.clock.now() + environment.settings.auth_request_lifetime),
    outcome: 'pending',
  })
}

/** A seed has, for one of its accounts, the id that another account of the environment has. */
export class SeedConflictError extends Error {
  override readonly name = 'SeedConflictError'

  constructor(readonly accountId: string) {
    super(`the seed's account id ${JSON.stringify(accountId)} is another account's`)
  }
}
