import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import type { Credentials } from '../domain/credentials.ts'
import { instant } from '../domain/instant.ts'
import { type JsonObject, type JsonValue, isJsonObject, own } from '../domain/json.ts'
import type { TokenAnswer } from '../domain/ports.ts'
import type { Environment } from '../state/environment.ts'
import { applicationOf } from './application.ts'
import type { Received } from './exchange.ts'
import { signJwt } from './jwt.ts'

const ASSERTION_LIFETIME = 5 * 60

/** What the service sends to a token endpoint to get credentials itself; undefined for types that never do. */
export function obtainForm(
  environment: Environment,
  connector: Connector,
  account: Account,
): Record<string, string> | undefined {
  const scope = connector.oauth.scopes.join(' ')
  const { workspace_dwd, trusted_idp } = account.credentials
  switch (connector.authorization_type) {
    case 'OAUTH_M2M':
      return { grant_type: 'client_credentials', scope }
    case 'WORKSPACE_DWD':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: assertion(environment, connector, workspace_dwd?.subject || account.identifier),
        scope,
      }
    case 'TRUSTED_IDP':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: assertion(environment, connector, account.identifier),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        db_user: trusted_idp?.db_user ?? '',
        scope,
      }
    default:
      return undefined
  }
}

function assertion(environment: Environment, connector: Connector, subject: string): string {
  const { client_id, client_secret } = applicationOf(environment, connector.connector)
  const issued = Math.floor(environment.clock.now() / 1000)
  const claims = {
    iss: client_id,
    sub: subject,
    aud: connector.connector,
    iat: issued,
    exp: issued + ASSERTION_LIFETIME,
  }
  return signJwt(claims, client_secret)
}

/** A token endpoint's answer as credentials; fields of the account that it does not carry stay. */
export function readTokenAnswer(
  received: Received,
  environment: Environment,
  connector: Connector,
  account: Account,
): TokenAnswer {
  if (received.kind !== 'answer') return unavailable(received.message)
  const body = parse(received.body)
  if (!body) return unavailable('the token endpoint did not answer with JSON')
  const text = (name: string): string => asString(own(body, name))
  if (received.status !== 200) {
    const description = text('error_description') || `the token endpoint answered ${String(received.status)}`
    return { granted: false, status: received.status, error: text('error') || 'server_error', description }
  }
  if (text('access_token') === '') return unavailable('the token endpoint answered without an access token')
  const expires = own(body, 'expires_in')
  const lifetime_ms = typeof expires === 'number' ? expires * 1000 : null
  const expires_at = lifetime_ms === null ? undefined : instant(environment.clock.now() + lifetime_ms)
  return { granted: true, credentials: credentialsOf(text, connector, account, expires_at), lifetime_ms }
}

function credentialsOf(
  text: (name: string) => string,
  connector: Connector,
  { credentials, identifier }: Account,
  expires_at: string | undefined,
): Credentials {
  const access_token = text('access_token')
  const scopes = text('scope')
    .split(' ')
    .filter((scope) => scope !== '')
  switch (connector.authorization_type) {
    case 'WORKSPACE_DWD': {
      const subject = credentials.workspace_dwd?.subject || identifier
      return { workspace_dwd: { subject, access_token, scopes, ...(expires_at && { token_expires_at: expires_at }) } }
    }
    case 'TRUSTED_IDP': {
      const keys = { access_key_id: text('access_key_id'), secret_access_key: text('secret_access_key') }
      const db_user = credentials.trusted_idp?.db_user ?? ''
      return {
        trusted_idp: { db_user, ...keys, session_token: access_token, ...(expires_at && { expiry: expires_at }) },
      }
    }
    default: {
      const former = credentials.oauth_token
      const domain = text('domain') || (former?.domain ?? '')
      return { oauth_token: { access_token, refresh_token: text('refresh_token'), scopes, domain } }
    }
  }
}

function unavailable(description: string): TokenAnswer {
  return { granted: false, status: 503, error: 'temporarily_unavailable', description }
}

function parse(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function asString(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
