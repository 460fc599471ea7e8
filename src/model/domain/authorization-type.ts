/** The twelve authorization types of `service.md` 2.1, in its order, which is also the order of the bundled seed (G42). */
export const AUTHORIZATION_TYPES = [
  'OAUTH',
  'API_KEY',
  'BASIC_AUTH',
  'BEARER_TOKEN',
  'CUSTOM',
  'BASIC',
  'OAUTH_M2M',
  'TRACKER_OAUTH1',
  'WORKSPACE_DWD',
  'TRUSTED_IDP',
  'SMART_FHIR',
  'NO_AUTH',
] as const
export type AuthorizationType = (typeof AUTHORIZATION_TYPES)[number]

/** The sub-objects of `authorization_details` (2.2). */
export const CREDENTIAL_KINDS = ['oauth_token', 'static_auth', 'workspace_dwd', 'trusted_idp'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]

export interface AuthorizationTraits {
  /** The one sub-object of `authorization_details` that fits (G23); none for `NO_AUTH`. */
  readonly kind: CredentialKind | null
  /** Where the credentials come from: a consent page, a form, the service itself, or nowhere (G24, G29). */
  readonly source: 'consent' | 'form' | 'service' | 'none'
  /** Whether its access tokens expire (G25). */
  readonly expires: boolean
  /** The `type` of its connections (G49). */
  readonly connectionType: ConnectionType
}

export const CONNECTION_TYPES = [
  'OIDC',
  'SAML',
  'PASSWORD',
  'OAUTH',
  'PASSWORDLESS',
  'BASIC',
  'BEARER',
  'API_KEY',
  'WEBAUTHN',
  'OAUTH_M2M',
  'TRACKER_OAUTH1',
  'WORKSPACE_DWD',
  'TRUSTED_IDP',
  'SMART_FHIR',
  'NO_AUTH',
] as const
export type ConnectionType = (typeof CONNECTION_TYPES)[number]

const form = (connectionType: ConnectionType): AuthorizationTraits => ({
  kind: 'static_auth',
  source: 'form',
  expires: false,
  connectionType,
})

export const TRAITS: Readonly<Record<AuthorizationType, AuthorizationTraits>> = {
  OAUTH: { kind: 'oauth_token', source: 'consent', expires: true, connectionType: 'OAUTH' },
  API_KEY: form('API_KEY'),
  BASIC_AUTH: form('BASIC'),
  BEARER_TOKEN: form('BEARER'),
  CUSTOM: form('API_KEY'),
  BASIC: form('BASIC'),
  OAUTH_M2M: { kind: 'oauth_token', source: 'service', expires: true, connectionType: 'OAUTH_M2M' },
  TRACKER_OAUTH1: { kind: 'oauth_token', source: 'consent', expires: false, connectionType: 'TRACKER_OAUTH1' },
  WORKSPACE_DWD: { kind: 'workspace_dwd', source: 'service', expires: true, connectionType: 'WORKSPACE_DWD' },
  TRUSTED_IDP: { kind: 'trusted_idp', source: 'service', expires: true, connectionType: 'TRUSTED_IDP' },
  SMART_FHIR: { kind: 'oauth_token', source: 'consent', expires: true, connectionType: 'SMART_FHIR' },
  NO_AUTH: { kind: null, source: 'none', expires: false, connectionType: 'NO_AUTH' },
}

export function isAuthorizationType(value: string): value is AuthorizationType {
  return Object.hasOwn(TRAITS, value)
}
