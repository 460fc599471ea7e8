import type { ToolmockEnvironment } from '../../../src/index.ts'

export interface Answered {
  readonly status: number
  readonly requestId: string
  readonly body: Record<string, unknown>
}

/** A client under test, which knows only the address and the credentials of an environment. */
export interface Client {
  readonly get: (path: string) => Promise<Answered>
  readonly post: (path: string, body: object) => Promise<Answered>
  /** Creates an account and returns its id. */
  readonly account: (parts: object) => Promise<string>
}

export const ADA = { connector: 'mail', identifier: 'ada@example.com' }
export const MESSAGE = {
  ...ADA,
  tool_name: 'mail_send_message',
  tool_input: { to: 'grace@example.com', subject: 'Hi' },
}
export const TOKENS = { authorization_details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } } }

export async function clientOf({ env }: Pick<ToolmockEnvironment, 'env'>): Promise<Client> {
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = env
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const token = await fetch(`${url}/oauth/token`, { method: 'POST', body: form })
  const { access_token } = (await token.json()) as { access_token: string }
  const call = async (path: string, init: RequestInit): Promise<Answered> => {
    const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${url}/api/v1${path}`, { ...init, headers })
    const requestId = answer.headers.get('x-request-id') ?? ''
    return { status: answer.status, requestId, body: (await answer.json()) as Record<string, unknown> }
  }
  const post = (path: string, body: object) => call(path, { method: 'POST', body: JSON.stringify(body) })
  return {
    get: (path) => call(path, {}),
    post,
    account: async (parts) => {
      const { status, body } = await post('/connected_accounts', { ...ADA, ...parts })
      if (status !== 201) throw new Error(`no account: ${status} ${JSON.stringify(body)}`)
      return (body['connected_account'] as { id: string }).id
    },
  }
}
