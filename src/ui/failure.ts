import type { Request } from './api.ts'

/** The failures that a button can cause in the next request of a kind, with the texts of the buttons. */
export const FAILURES = {
  unauthorized: '401 unauthorized',
  rate_limited: '429 too many requests',
  server_error: '500 server error',
  gateway_timeout: '504 gateway timeout',
  timeout: 'no response',
  expired_token: 'expired access token',
} as const
export type Failure = keyof typeof FAILURES

const FAULTS: { readonly [Name in Failure]: object } = {
  unauthorized: { respond: { status: 401 } },
  rate_limited: { respond: { status: 429, headers: { 'Retry-After': '1' } } },
  server_error: { respond: { status: 500 } },
  gateway_timeout: { respond: { status: 504 } },
  timeout: { timeout: {} },
  expired_token: { expire_access_token: {} },
}

export function failuresOf({ operation, account }: Pick<Request, 'operation' | 'account'>): Failure[] {
  if (operation === null) return []
  const all = Object.keys(FAILURES) as Failure[]
  return account !== null && operation === 'execute_tool' ? all : all.filter((each) => each !== 'expired_token')
}

interface FailureScenario {
  readonly name: string
  readonly description: string
  readonly rules: readonly object[]
}

/** The scenario that makes the next request like this one fail. A rule that never fires does not fail the verdict. */
export function failureScenario(
  { operation, account, tool }: Pick<Request, 'operation' | 'account' | 'tool'>,
  failure: Failure,
): FailureScenario {
  const on = {
    operation: operation ?? '',
    ...(tool === null ? {} : { tool }),
    ...(account === null ? {} : { account: { id: account } }),
  }
  const what = tool ?? operation ?? ''
  return {
    name: `next-${(operation ?? '').replaceAll('_', '-')}-${failure.replaceAll('_', '-')}`,
    description: `The next ${what} fails: ${FAILURES[failure]}.`,
    rules: [{ name: `next ${what}`, at: 'service', on, when: { first: 1 }, do: [FAULTS[failure]], must_fire: false }],
  }
}
