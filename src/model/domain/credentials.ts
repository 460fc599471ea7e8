import { type AuthorizationType, CREDENTIAL_KINDS, type CredentialKind, TRAITS } from './authorization-type.ts'
import type { Connector } from './connector.ts'
import type { Credentials, CredentialsPatch, OauthToken, TrustedIdp, WorkspaceDwd } from './generated/tables.ts'
import { invalidField, ServiceError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { equalValues } from './value-match.ts'

export type { Credentials, CredentialsPatch }

/** What a connector takes of the credentials that it is given: a serverless workgroup has no database users (2.2, G23). */
export function takenBy(
  connector: Pick<Connector, 'authorization_type' | 'cluster'>,
  patch: CredentialsPatch,
): CredentialsPatch {
  if (connector.authorization_type !== 'TRUSTED_IDP' || connector.cluster !== 'serverless') return patch
  const { trusted_idp: _ignored, ...storedFields } = patch
  return storedFields
}

/** The fields of each sub-object that requests may send (2.2). */
const SENT_FIELDS: { readonly [Kind in CredentialKind]: readonly (keyof Required<CredentialsPatch>[Kind])[] } = {
  oauth_token: ['access_token', 'refresh_token', 'scopes', 'domain'],
  static_auth: ['details'],
  workspace_dwd: ['subject'],
  trusted_idp: ['db_user'],
}

/** Whether a sub-object that was sent has none of its fields, so that it counts as absent (G23). */
export function isEmptyKind(patch: CredentialsPatch, kind: CredentialKind): boolean {
  const kindPatch: object | undefined = patch[kind]
  const fields: readonly string[] = SENT_FIELDS[kind]
  return kindPatch !== undefined && !fields.some((field) => Object.hasOwn(kindPatch, field))
}

/** @throws ServiceError INVALID_AUTHORIZATION_DETAILS for more than one sub-object, which no account can take (2.2, G17, G23) */
export function checkSingle(patch: CredentialsPatch): void {
  const patchKinds = CREDENTIAL_KINDS.filter((kind) => patch[kind] !== undefined)
  if (patchKinds.length > 1)
    throw credentialsMisfit(patchKinds, patchKinds, {
      rule: 'an account takes only one of them',
      constraint: 'exclusive',
    })
}

/** @throws ServiceError INVALID_AUTHORIZATION_DETAILS when the sub-object is not the type's, or more than one is there (G23) */
export function checkFit(patch: CredentialsPatch, type: AuthorizationType): void {
  const patchKinds = CREDENTIAL_KINDS.filter((kind) => patch[kind] !== undefined)
  const fitting = TRAITS[type].kind
  const wrong = patchKinds.filter((kind) => kind !== fitting)
  if (wrong.length === 0) return
  const rule = `an account of type ${type} takes ${fitting ? `${fitting} only` : 'no credentials'}`
  throw credentialsMisfit(patchKinds, wrong, { rule, constraint: 'authorization_type' })
}

function credentialsMisfit(
  patchKinds: readonly CredentialKind[],
  wrong: readonly CredentialKind[],
  { rule, constraint }: { readonly rule: string; readonly constraint: string },
): ServiceError {
  const message = `authorization_details has ${patchKinds.join(' and ')}; ${rule}`
  return new ServiceError('INVALID_AUTHORIZATION_DETAILS', message, {
    violations: wrong.map((kind) => ({
      field: `connected_account.authorization_details.${kind}`,
      description: `is not allowed: ${rule}`,
      constraint,
    })),
  })
}

/** Only included fields change (2.2); `details` merge key by key (G27); subjects default to the identifier (G23). */
export function mergeCredentials(
  current: Credentials,
  patch: CredentialsPatch,
  type: AuthorizationType,
  identifier: string,
): Credentials {
  switch (TRAITS[type].kind) {
    case 'oauth_token': {
      const [patched, stored] = [patch.oauth_token, current.oauth_token]
      // An empty token counts as absent (G24); an empty domain or list of scopes replaces what is stored.
      const access_token = patched?.access_token || (stored?.access_token ?? '')
      const refresh_token = patched?.refresh_token || (stored?.refresh_token ?? '')
      const scopes = patched?.scopes ?? stored?.scopes ?? []
      const domain = patched?.domain ?? stored?.domain ?? ''
      const isEmpty = !access_token && !refresh_token && !domain && scopes.length === 0
      return isEmpty && !stored ? current : { oauth_token: { access_token, refresh_token, scopes, domain } }
    }
    case 'static_auth': {
      const details = patch.static_auth?.details
      if (!details) return current
      const merged = mergeKeys(current.static_auth?.details ?? {}, details)
      return !current.static_auth && Object.keys(merged).length === 0 ? current : { static_auth: { details: merged } }
    }
    case 'workspace_dwd': {
      const subject = patch.workspace_dwd?.subject || current.workspace_dwd?.subject || identifier
      return { workspace_dwd: { ...(current.workspace_dwd ?? NO_DELEGATION), subject } }
    }
    case 'trusted_idp': {
      const db_user = patch.trusted_idp?.db_user ?? current.trusted_idp?.db_user ?? ''
      return { trusted_idp: { ...(current.trusted_idp ?? NO_KEYS), db_user } }
    }
    case null:
      return {}
  }
}

/** Only tokens, scopes and expiry are new: the rest may have been updated meanwhile ("States"). */
export function promotedCredentials(stored: Credentials, fresh: Credentials): Credentials {
  const { oauth_token, workspace_dwd, trusted_idp } = fresh
  if (oauth_token) return { oauth_token: { ...oauth_token, domain: stored.oauth_token?.domain ?? oauth_token.domain } }
  if (workspace_dwd)
    return { workspace_dwd: { ...workspace_dwd, subject: stored.workspace_dwd?.subject || workspace_dwd.subject } }
  if (trusted_idp)
    return { trusted_idp: { ...trusted_idp, db_user: stored.trusted_idp?.db_user || trusted_idp.db_user } }
  return fresh
}

/** Whether credentials have the same tokens, for the same subject or user; scopes and domain of an OAuth token may differ. */
export function haveSameTokens(one: Credentials, another: Credentials): boolean {
  const tokens = ({ oauth_token, ...otherFields }: Credentials): JsonValue =>
    [oauth_token?.access_token ?? null, oauth_token?.refresh_token ?? null, otherFields] as JsonValue
  return equalValues(tokens(one), tokens(another))
}

/** Credentials whose token ends at this time, for the two types that store it there (2.2). */
export function endingAt(credentials: Credentials, at: Instant): Credentials {
  const { workspace_dwd, trusted_idp } = credentials
  if (workspace_dwd) return { workspace_dwd: { ...workspace_dwd, token_expires_at: at } }
  return trusted_idp ? { trusted_idp: { ...trusted_idp, expiry: at } } : credentials
}

const NO_TOKEN: OauthToken = { access_token: '', refresh_token: '', scopes: [], domain: '' }
const NO_DELEGATION: WorkspaceDwd = { subject: '', access_token: '', scopes: [] }
const NO_KEYS: TrustedIdp = { db_user: '', access_key_id: '', secret_access_key: '', session_token: '' }

/** Whether the database user is missing that the service needs to obtain credentials of a provisioned cluster (2.2, G23). */
export function lacksDatabaseUser({ trusted_idp }: Credentials, connector: Connector): boolean {
  return connector.authorization_type === 'TRUSTED_IDP' && connector.cluster === 'provisioned' && !trusted_idp?.db_user
}

/** @throws ServiceError INVALID_AUTHORIZATION_DETAILS: provisioned clusters need `db_user` (2.2, G23) */
export function checkDatabaseUser(credentials: Credentials, connector: Connector): void {
  if (!lacksDatabaseUser(credentials, connector)) return
  const field = 'connected_account.authorization_details.trusted_idp.db_user'
  const description = `is required: connector ${connector.connector} is a provisioned cluster`
  throw invalidField(field, description, 'required', 'INVALID_AUTHORIZATION_DETAILS')
}

/** Whether a tool can run with these credentials, now or once the access token is refreshed (G24). */
export function areLive(credentials: Credentials, type: AuthorizationType): boolean {
  const { workspace_dwd, trusted_idp } = credentials
  return Boolean(bringsCredentials(credentials, type) || workspace_dwd?.access_token || trusted_idp?.access_key_id)
}

/** Whether a patch brings credentials to use, and not only what describes them: a token, or a key that is not empty (G24, G27). */
export function bringsCredentials({ oauth_token, static_auth }: StoredByCallers, type: AuthorizationType): boolean {
  const isRefreshable = TRAITS[type].expires && oauth_token?.refresh_token
  const values = Object.values(static_auth?.details ?? {})
  return Boolean(oauth_token?.access_token || isRefreshable || !values.every(isEmptyValue))
}

function isEmptyValue(value: JsonValue): boolean {
  return value === '' || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** Whether a patch changes what the third party has to know. */
export function changesSecrets({ oauth_token, static_auth }: StoredByCallers): boolean {
  return Boolean(oauth_token?.access_token || oauth_token?.refresh_token || static_auth?.details)
}

/** The credentials that requests bring, the others come from the service itself. */
export type StoredByCallers = Pick<CredentialsPatch, 'oauth_token' | 'static_auth'>

/** The one sub-object that applies, as operations 1 to 4 return it: every field but the secrets of 2.2. */
export function fullDetails(credentials: Credentials, type: AuthorizationType): JsonObject {
  const { oauth_token = NO_TOKEN, static_auth, workspace_dwd = NO_DELEGATION, trusted_idp = NO_KEYS } = credentials
  switch (TRAITS[type].kind) {
    case 'oauth_token':
      return { oauth_token: { ...oauth_token } }
    case 'static_auth':
      return { static_auth: { details: static_auth?.details ?? {} } }
    case 'workspace_dwd':
      return { workspace_dwd: { ...workspace_dwd } }
    case 'trusted_idp': {
      const { db_user, access_key_id, expiry } = trusted_idp
      return { trusted_idp: { db_user, access_key_id, ...(expiry ? { expiry } : {}) } }
    }
    case null:
      return {}
  }
}

/** What get-details shows: everything but the credentials (4.5, G22). */
export function publicDetails(credentials: Credentials, type: AuthorizationType): JsonObject {
  const details: JsonObject = {}
  for (const [kind, fields] of Object.entries(fullDetails(credentials, type))) {
    const open = Object.entries(fields as JsonObject).filter(([name]) => !HIDDEN_FIELDS.includes(name))
    details[kind] = Object.fromEntries(open)
  }
  return details
}
const HIDDEN_FIELDS = ['access_token', 'refresh_token', 'details', 'access_key_id']

/** Merges at the top level; `null` removes a key (G27). Keys come from callers: `__proto__` becomes an own key like any other. */
export function mergeKeys(current: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = { ...current, ...patch }
  if (!Object.values(patch).includes(null)) return merged
  return Object.fromEntries(Object.entries(merged).filter(([key]) => patch[key] !== null))
}
