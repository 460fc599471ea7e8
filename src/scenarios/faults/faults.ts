import { advanceClock } from './advance-clock.ts'
import { emptyResponse, resetConnection, timeout } from './connection-faults.ts'
import type { Fault } from './fault.ts'
import { grantScopes } from './grant-scopes.ts'
import { holdUntil } from './hold-until.ts'
import { latency } from './latency.ts'
import { malformedJson } from './malformed-json.ts'
import {
  consumeAuthRequest,
  disconnect,
  expireAccessToken,
  expireAccount,
  expireMcpSession,
  revokeBearerTokens,
  revokeRefreshToken,
} from './model-faults.ts'
import { respond } from './respond.ts'
import { slowBody } from './slow-body.ts'
import { truncateBody } from './truncate-body.ts'
import { badSignature, drop, duplicate, oldSecret, reorder, staleTimestamp } from './webhook-faults.ts'

export const FAULTS = {
  respond,
  latency,
  hold_until: holdUntil,
  timeout,
  reset_connection: resetConnection,
  empty_response: emptyResponse,
  truncate_body: truncateBody,
  malformed_json: malformedJson,
  slow_body: slowBody,
  expire_access_token: expireAccessToken,
  expire_account: expireAccount,
  revoke_refresh_token: revokeRefreshToken,
  disconnect,
  consume_auth_request: consumeAuthRequest,
  grant_scopes: grantScopes,
  revoke_bearer_tokens: revokeBearerTokens,
  expire_mcp_session: expireMcpSession,
  advance_clock: advanceClock,
  drop,
  duplicate,
  reorder,
  bad_signature: badSignature,
  old_secret: oldSecret,
  stale_timestamp: staleTimestamp,
} satisfies Readonly<Record<string, Fault>>

export type FaultKind = keyof typeof FAULTS
export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[]
