import type { Request } from './api.ts'

/** The failures that a button can cause in the next request of a kind: the text of the button, and the fault. */
export const FAILURES = {
  unauthorized: ['401 unauthorized', { respond: { status: 401 } }],
  rate_limited: ['429 too many requests', { respond: { status: 429, headers: { 'Retry-After': '1' } } }],
  server_error: ['500 server error', { respond: { status: 500 } }],
  gateway_timeout: ['504 gateway timeout', { respond: { status: 504 } }],
  timeout: ['no response', { timeout: {} }],
  expired_token: ['expired access token', { expire_access_token: {} }],
} as const satisfies Readonly<Record<string, readonly [text: string, fault: object]>>
export type Failure = keyof typeof FAILURES

export function failuresOf({ operation, account }: Pick<Request, 'operation' | 'account'>): Failure[] {
  if (operation === null) return []
  const all = Object.keys(FAILURES) as Failure[]
  return account !== null && operation === 'execute_tool' ? all : all.filter((each) => each !== 'expired_token')
}

/**
 * The scenario that makes the next request like this one fail. There is one for each operation, tool and account, so that a
 * failure of one does not replace that of another. A rule that never fires does not fail the verdict.
 */
export function failureScenario(
  { operation, account, tool }: Pick<Request, 'operation' | 'account' | 'tool'>,
  failure: Failure,
) {
  const on = {
    operation: operation ?? '',
    ...(tool === null ? {} : { tool }),
    ...(account === null ? {} : { account: { id: account } }),
  }
  const what = tool ?? operation ?? ''
  const [text, fault] = FAILURES[failure]
  return {
    // A name that a scenario may have.
    name: ['next', operation, tool, account]
      .filter(Boolean)
      .join('-')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .slice(0, 100),
    description: `The next ${what} fails: ${text}.`,
    rules: [{ name: `next ${what}`, at: 'service', on, when: { first: 1 }, do: [fault], must_fire: false }],
  }
}
