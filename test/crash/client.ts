/** The answer that a caller of the API got. */
export interface Answered {
  status: number
  body: unknown
}

/** A caller with a bearer token; `send` rejects when the connection breaks. */
export interface Caller {
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answered>
}

/** Signs in with the client of the bundled seed. */
export async function signIn(url: string): Promise<Caller> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'test_client',
    client_secret: 'test_secret',
  })
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: form })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    async send(method, path, body) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
  }
}

/** The account in the body of an answer. */
export function accountOf({ body }: Answered): { id: string; identifier: string; api_config: Record<string, unknown> } {
  return (body as { connected_account: { id: string; identifier: string; api_config: Record<string, unknown> } })
    .connected_account
}

/** A seed with one small connector. */
export const SMALL_SEED = {
  clients: [{ client_id: 'test_client', client_secret: 'test_secret' }],
  connections: [{ key_id: 'plain', type: 'NO_AUTH' }],
}
