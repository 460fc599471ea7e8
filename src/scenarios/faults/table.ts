import type { Fault, FaultKind } from '../../domain/scenario.ts'
import { advanceClock } from './advance-clock.ts'
import { disconnect } from './disconnect.ts'
import { emptyResponse } from './empty-response.ts'
import { expireAccessToken } from './expire-access-token.ts'
import { expireAccount } from './expire-account.ts'
import type { FaultEffect, FaultMaker } from './fault.ts'
import { latency } from './latency.ts'
import { malformedJson } from './malformed-json.ts'
import { resetConnection } from './reset-connection.ts'
import { respond } from './respond.ts'
import { revokeBearerTokens } from './revoke-bearer-tokens.ts'
import { revokeRefreshToken } from './revoke-refresh-token.ts'
import { slowBody } from './slow-body.ts'
import { timeout } from './timeout.ts'
import { truncateBody } from './truncate-body.ts'

/** Every kind of fault; what it takes in a file is in `documents/scenario-faults.ts`. */
const FAULTS: { readonly [Kind in FaultKind]: FaultMaker<Kind> } = {
  respond,
  latency,
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
  revoke_bearer_tokens: revokeBearerTokens,
  advance_clock: advanceClock,
}

/** What a fault of a rule does. */
export function effectOf(fault: Fault): FaultEffect {
  // The table pairs each kind with the maker that takes its parameters; the compiler cannot see that one kind picks both.
  return (FAULTS[fault.kind] as FaultMaker<FaultKind>)(fault.params)
}
