import { ACCOUNT_STATUSES } from '../../domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../../domain/authorization-type.ts'
import { CONNECTION_STATUSES } from '../../domain/connection.ts'
import type { Credentials, OauthToken, TrustedIdp, WorkspaceDwd } from '../../domain/credentials.ts'
import type { Settings } from '../../domain/settings.ts'
import type { ClockState } from '../model/clock.ts'
import { connector } from './connector-shape.ts'
import type { IdsState } from '../model/ids.ts'
import type { Rows, TableName } from '../model/model.ts'
import {
  array,
  boolean,
  fields,
  type Fields,
  instantText,
  integer,
  jsonObject,
  nullable,
  oneOf,
  optional,
  type Shape,
  string,
  strings,
  textMap,
} from './shape.ts'

const credentials = fields<Credentials>({
  oauth_token: optional(
    fields<OauthToken>({ access_token: string, refresh_token: string, scopes: strings, domain: string }),
  ),
  static_auth: optional(fields<NonNullable<Credentials['static_auth']>>({ details: jsonObject })),
  workspace_dwd: optional(
    fields<WorkspaceDwd>({
      subject: string,
      access_token: string,
      scopes: strings,
      token_expires_at: optional(instantText),
    }),
  ),
  trusted_idp: optional(
    fields<TrustedIdp>({
      db_user: string,
      access_key_id: string,
      expiry: optional(instantText),
      secret_access_key: string,
      session_token: string,
    }),
  ),
})

const account: Fields<Rows['accounts']> = {
  id: string,
  sequence: integer,
  organization_id: string,
  user_id: string,
  connection_id: string,
  connector: string,
  provider: string,
  identifier: string,
  authorization_type: oneOf(AUTHORIZATION_TYPES),
  status: oneOf(ACCOUNT_STATUSES),
  token_expires_at: optional(instantText),
  last_used_at: optional(instantText),
  updated_at: instantText,
  api_config: jsonObject,
  credentials,
  pending: optional(
    fields<NonNullable<Rows['accounts']['pending']>>({ credentials, token_expires_at: optional(instantText) }),
  ),
}

const connection: Fields<Rows['connections']> = {
  id: string,
  key_id: string,
  organization_id: string,
  organization_name: string,
  domains: strings,
  enabled: boolean,
  provider: string,
  provider_key: string,
  status: oneOf(CONNECTION_STATUSES),
  type: oneOf(CONNECTION_TYPES),
  mcp_server_url: string,
}

const provider: Fields<Rows['providers']> = {
  id: string,
  identifier: string,
  display_name: string,
  description: string,
  icon_src: string,
  auth_patterns: array(jsonObject),
  categories: strings,
  coming_soon: boolean,
  display_priority: integer,
  is_custom: boolean,
  is_custom_mcp: boolean,
  metadata: textMap,
  proxy_enabled: boolean,
  proxy_url: string,
}

const grant: Fields<Rows['grants']> = {
  id: string,
  connector: string,
  account_id: string,
  person: string,
  scopes: strings,
  access: string,
  secret: string,
  refresh_token: string,
  expires_at: optional(instantText),
  revoked: boolean,
  refresh_revoked: boolean,
}

/** The fields of each table's rows, in the order in which the state file shows them. */
const ROW_FIELDS: { readonly [Name in TableName]: Fields<Rows[Name]> } = {
  clients: { id: string, client_secret: string },
  bearer_tokens: { id: string, client_id: string, expires_at: instantText },
  connections: connection,
  providers: provider,
  connectors: connector,
  accounts: account,
  magic_links: {
    id: string,
    account_id: string,
    oauth_state: string,
    user_verify_url: string,
    state: nullable(string),
    expires_at: instantText,
    completed_at: optional(instantText),
  },
  auth_requests: {
    id: string,
    account_id: string,
    identifier: string,
    expires_at: instantText,
    outcome: oneOf(['pending', 'consumed', 'expired', 'superseded']),
  },
  grants: grant,
  authorization_codes: {
    id: string,
    connector: string,
    person: string,
    scopes: strings,
    redirect_uri: string,
    expires_at: instantText,
  },
  counters: { id: string, value: integer },
}

export const settingsShape = fields<Settings>({
  bearer_token_lifetime: integer,
  magic_link_lifetime: integer,
  auth_request_lifetime: integer,
  require_user_verification: boolean,
  consent: oneOf(['ask', 'approve', 'deny']),
  post_user_verify_redirect_url: string,
  vocabulary: textMap,
})
export const clockShape = fields<ClockState>({ offset_ms: integer, frozen_at: nullable(instantText) })
export const idsShape = nullable(fields<IdsState>({ seed: integer, position: integer }))

export function rowShape(table: TableName): Shape {
  return fields<object>(ROW_FIELDS[table])
}

export function fieldNames(table: TableName): string[] {
  return Object.keys(ROW_FIELDS[table])
}
