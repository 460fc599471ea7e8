import { errorCode, type Answer, type ScenarioMock } from '../scenario-mock.ts'

/** Steps of the acceptance tests, so that they read as given, when, then. */

export async function statusOf(mock: ScenarioMock, account: string): Promise<string> {
  return String((await details(mock, account))['status'])
}

/** The access token that tools run with. */
export async function accessTokenOf(mock: ScenarioMock, account: string): Promise<string> {
  const { body } = await mock.call('GET', `/connected_accounts/auth?id=${account}`)
  const found = body?.['connected_account'] as { authorization_details: { oauth_token: { access_token: string } } }
  return found.authorization_details.oauth_token.access_token
}

async function details(mock: ScenarioMock, account: string): Promise<Record<string, unknown>> {
  const { body } = await mock.call('GET', `/connected_accounts/details?id=${account}`)
  return body?.['connected_account'] as Record<string, unknown>
}

/** The status and the error code of an answer: `200`, or `400 ACCOUNT_NOT_ACTIVE`. */
export function statusAndCode(answer: Answer): string {
  return [answer.status, errorCode(answer)].filter(Boolean).join(' ')
}

/** Whether a call got no usable answer. */
export function failed(call: Promise<Answer>): Promise<boolean> {
  return call.then(
    ({ body }) => body === undefined,
    () => true,
  )
}

/** Creates an account and a magic link for it. */
export async function newLink(mock: ScenarioMock, connector = 'mail'): Promise<{ account: string; link: string }> {
  const asked = {
    connector,
    identifier: 'ada@example.com',
    user_verify_url: 'http://app.test/verify',
    state: 'xyz',
  }
  const { body } = await mock.call('POST', '/connected_accounts/magic_link', asked)
  const listed = await mock.call('GET', '/connected_accounts?identifier=ada@example.com')
  const [account] = listed.body?.['connected_accounts'] as { id: string }[]
  return { account: account?.id ?? '', link: body?.['link'] as string }
}

/** Approves without a browser; returns the URL of the redirect, or the status of the page. */
export async function approve(link: string): Promise<{ status: number; location: URL | undefined }> {
  const response = await fetch(`${link}?decision=approve`, { redirect: 'manual' })
  const location = response.headers.get('location')
  return { status: response.status, location: location === null ? undefined : new URL(location) }
}

export function verify(mock: ScenarioMock, location: URL | undefined): Promise<Answer> {
  const auth_request_id = location?.searchParams.get('auth_request_id') ?? ''
  return mock.call('POST', '/connected_accounts/user/verify', { auth_request_id, identifier: 'ada@example.com' })
}
