import { type Account, issued, withLive } from '../domain/account.ts'
import {
  areLive,
  bringsCredentials,
  bringsSecrets,
  checkDatabaseUser,
  checkFit,
  checkSingle,
  type CredentialsPatch,
  mergeCredentials,
  mergeKeys,
  type Credentials,
} from '../domain/credentials.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import type { ThirdParty } from '../domain/ports.ts'
import { now } from '../state/environment.ts'
import { connectorOf, locateAccount, presentAccount } from './account-access.ts'
import { withCredentials } from './account-view.ts'
import { checkAuthorizationType, noteIdleDatabaseUser } from './create-account.ts'
import type { Call, Reply } from './operation.ts'

/** PUT /connected_accounts (4.2): merges `api_config` and credentials; live ones make the account `ACTIVE` (G27). */
export async function updateConnectedAccount(call: Call<'update_connected_account'>): Promise<Reply> {
  const { environment, thirdParty, body, trace } = call
  const patch: CredentialsPatch = body.connected_account.authorization_details ?? {}
  checkSingle(patch)
  const located = locateAccount(call, body)
  const connector = connectorOf(environment, located)
  checkAuthorizationType(body.connected_account.authorization_type, connector, trace)
  checkFit(patch, connector.authorization_type)
  checkDatabaseUser(merged(located, patch), connector)
  noteIdleDatabaseUser(patch, connector, trace)
  const obtained = await obtainAnew(thirdParty, connector, located, patch)
  const updated = environment.model.transact(() => {
    const current = presentAccount(environment, located.id)
    const config = mergeKeys(current.api_config, body.connected_account.api_config ?? {})
    const account = { ...current, api_config: config, updated_at: now(environment) }
    const next = withPatch(call, connector, account, { patch, obtained })
    environment.model.tables.accounts.put(next)
    if (bringsSecrets(patch)) thirdParty.accept(connector, next, next.credentials)
    return next
  })
  return { status: 200, body: { connected_account: withCredentials(updated) } }
}

interface Obtained {
  credentials: Credentials
  lifetime_ms: number | null
}

/** A changed subject or database user needs new credentials, which the service obtains itself (2.2). */
async function obtainAnew(
  thirdParty: ThirdParty,
  connector: Connector,
  account: Account,
  patch: CredentialsPatch,
): Promise<Obtained | undefined> {
  const changes = patch.workspace_dwd?.subject ?? patch.trusted_idp?.db_user
  if (TRAITS[connector.authorization_type].source !== 'service' || changes === undefined) return undefined
  const answer = await thirdParty.obtain(connector, { ...account, credentials: merged(account, patch) })
  return answer.granted ? answer : undefined
}

function withPatch(
  { environment, trace }: Call<'update_connected_account'>,
  connector: Connector,
  account: Account,
  { patch, obtained }: { patch: CredentialsPatch; obtained: Obtained | undefined },
): Account {
  const at = environment.clock.now()
  const live = obtained ?? { credentials: merged(account, patch), lifetime_ms: connector.oauth.access_token_lifetime }
  if (!obtained && !bringsCredentials(patch)) return { ...account, credentials: live.credentials }
  const next = withLive(account, issued(account, live.credentials, live.lifetime_ms, at))
  return areLive(live.credentials) ? trace.moved(next, 'credentials_updated', now(environment)) : next
}

function merged(account: Account, patch: CredentialsPatch): Credentials {
  return mergeCredentials(account.credentials, patch, account.authorization_type, account.identifier)
}
