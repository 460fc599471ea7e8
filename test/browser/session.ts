import type { Toolmock } from '../../src/index.ts'

interface Answer {
  readonly status: number
  readonly id: string
  readonly body: Record<string, unknown>
}

const ADA = { connector: 'mail', identifier: 'ada@example.com' }

/** What a client does in a few minutes: an account, tool calls that succeed and fail, a renewal, mistakes, open links. */
export class Session {
  readonly #mock: Toolmock
  readonly token: string
  /** The id of ada's account. */
  account = ''
  /** The id of a request that renewed its credentials. */
  renewed = ''
  /** The id of a tool call without a required input. */
  refused = ''
  /** The tool in the newest line of the timeline. */
  readonly newest = 'weather_get_forecast'

  private constructor(mock: Toolmock, token: string) {
    this.#mock = mock
    this.token = token
  }

  static async start(mock: Toolmock): Promise<Session> {
    const form = { client_id: mock.clientId, client_secret: mock.clientSecret, grant_type: 'client_credentials' }
    const answer = await fetch(`${mock.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token } = (await answer.json()) as { access_token: string }
    const session = new Session(mock, access_token)
    await session.#play()
    return session
  }

  /** A request of the client. */
  async api(method: string, path: string, body?: object | string): Promise<Answer> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' }
    const sent = { method, headers, ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }) }
    const answer = await fetch(`${this.#mock.url}/api/v1${path}`, sent)
    const text = await answer.text()
    return {
      status: answer.status,
      id: answer.headers.get('x-request-id') ?? '',
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    }
  }

  /** A call of the control API. */
  async control<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { 'Content-Type': 'application/json' }
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await (await fetch(`${this.#mock.url}/_mock${path}`, sent)).json()) as T
  }

  /** The accounts that a text is found in. */
  async accounts(query: string): Promise<readonly { readonly id: string; readonly status: string }[]> {
    return (await this.control<{ accounts: { id: string; status: string }[] }>('GET', `/accounts?query=${query}`))
      .accounts
  }

  /** Sends a mail as ada. */
  send(tool_input: object): Promise<Answer> {
    return this.api('POST', '/execute_tool', { ...ADA, tool_name: 'mail_send_message', tool_input })
  }

  async #play(): Promise<void> {
    await this.api('POST', '/connected_accounts/magic_link', ADA)
    const { links } = await this.control<{ links: { id: string }[] }>('GET', '/links')
    await this.control('POST', `/links/${links[0]?.id ?? ''}/complete`, { decision: 'approve' })
    this.account = (await this.accounts('ada'))[0]?.id ?? ''
    await this.send({ to: 'grace@example.com', subject: 'Minutes of the meeting', body: 'They are attached.' })
    await this.send({ to: 'nobody@blocked.example', subject: 'Hello' })
    this.refused = (await this.send({ subject: 'Without a recipient' })).id
    await this.#mock.accounts.expireAccessToken(this.account)
    this.renewed = (await this.send({ to: 'grace@example.com', subject: 'Again' })).id
    await this.api('POST', '/connected_accounts', { connector: 'mail' })
    await this.api('GET', '/conected_accounts')
    await this.#mock.scenarios.start('rate-limited')
    for (const subject of ['One', 'Two', 'Three']) await this.send({ to: 'grace@example.com', subject })
    const verified = { user_verify_url: 'http://localhost:3000/verified', state: 'xyz' }
    await this.api('POST', '/connected_accounts/magic_link', { ...ADA, identifier: 'linus@example.com', ...verified })
    await this.api('POST', '/connected_accounts/magic_link', { connector: 'tracker', identifier: 'grace@example.com' })
    await this.api('GET', '/connected_accounts?page_size=20')
    const weather = { connector: 'weather', identifier: 'grace@example.com' }
    await this.api('POST', '/connected_accounts', {
      ...weather,
      connected_account: { authorization_details: { static_auth: { details: { api_key: 'key-of-the-weather' } } } },
    })
    const tool_input = { city: 'Delft' }
    await this.api('POST', '/execute_tool', { ...weather, tool_name: 'weather_get_forecast', tool_input })
  }
}
