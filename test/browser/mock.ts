import { createToolmock } from '../../src/index.ts'

/** A whole mock with the bundled seed, reached over HTTP as an application reaches it. */
export interface Mock {
  readonly url: string
  /** POST of a JSON body, or GET without one; throws for an answer of 400 and above. */
  call: (path: string, body?: object) => Promise<Record<string, unknown>>
  magicLink(body: { connector: string; identifier: string; user_verify_url?: string; state?: string }): Promise<string>
  status(connector: string, identifier: string): Promise<unknown>
  /** Calls verify for a redirected user; returns the URL that the user is sent to next. */
  verify(auth_request_id: string, identifier: string): Promise<string>
  close: () => Promise<void>
}

export async function startMock(): Promise<Mock> {
  const toolmock = await createToolmock()
  const { url, clientId, clientSecret } = toolmock
  const form = new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
  })
  const token = await answered(fetch(`${url}/oauth/token`, { method: 'POST', body: form }))
  const headers = { Authorization: `Bearer ${String(token.access_token)}`, 'Content-Type': 'application/json' }
  const call: Mock['call'] = (path, body) => {
    const options = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    return answered(fetch(`${url}/api/v1${path}`, options))
  }
  return {
    url,
    call,
    close: () => toolmock.close(),
    magicLink: async (body) => String((await call('/connected_accounts/magic_link', body)).link),
    status: async (connector, identifier) => {
      const query = new URLSearchParams({ connector, identifier })
      const { connected_account } = await call(`/connected_accounts/details?${query.toString()}`)
      return (connected_account as { status: unknown }).status
    },
    verify: async (auth_request_id, identifier) => {
      const body = { auth_request_id, identifier }
      return String((await call('/connected_accounts/user/verify', body)).post_user_verify_redirect_url)
    },
  }
}

async function answered(request: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await request
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}
