import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import { isJsonObject, type JsonValue } from '../domain/json.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { injectedAnswer } from './delivery.ts'
import type { Pauses } from './pauses.ts'
import type { EnvironmentScenarios } from './scenarios.ts'

/** What somebody decides at a third party's consent page, or without one. */
export interface ConsentRequest {
  readonly connector: Connector
  /** The account that is being connected. */
  readonly account: Account | undefined
  readonly trace: RequestTrace
}

/** The OAuth error that the third party's redirect carries instead of what was decided (RFC 6749 4.1.2.1). */
export interface ConsentError {
  readonly error: string
  readonly error_description: string
}

/** The rules at `consent`, asked for when the decision is made. Undefined leaves the decision as it is. */
export async function consentFault(
  scenarios: EnvironmentScenarios,
  { connector, account, trace }: ConsentRequest,
  pauses: Pauses,
): Promise<ConsentError | undefined> {
  const nothing = { body: undefined, query: {}, headers: {} }
  const verdict = scenarios.active
    ? scenarios.consider({ at: 'consent', connector: connector.connector, account, trace, ...nothing })
    : undefined
  if (!verdict) return undefined
  // At consent the only faults on the wire are respond and latency (`documents/scenario-fault-checks.ts`).
  for (const { delay } of verdict.wire) if (delay) await pauses.wait(delay(() => scenarios.chance()))
  const answer = injectedAnswer(verdict.wire, { at: 'consent', requestId: '', executionId: () => '' })
  if (!answer || !isJsonObject(answer.body)) return undefined
  const { error, error_description } = answer.body
  return { error: textOr(error, 'server_error'), error_description: textOr(error_description, '') }
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
