import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { bundledNames } from '../../../src/files/package-files.ts'
import { harProblems, problemsIn, withRecording } from './recording.ts'

/** A client of the service, and what it was answered: statuses and codes in their order. */
class Client {
  readonly seen: string[] = []
  #token = ''

  constructor(
    readonly url: string,
    /** Where its links lead. */
    readonly base: string,
  ) {}

  async signIn(): Promise<void> {
    const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
    const response = await fetch(`${this.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token: token } = (await response.json()) as { access_token: string }
    this.seen.push(`token ${response.status}`)
    this.#token = token
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' }
    try {
      const response = await fetch(`${this.url}/api/v1${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const answer = parsed(text)
      const [detail] = (answer?.['details'] ?? []) as { error_code?: string }[]
      const account = answer?.['connected_account'] as { status?: string } | undefined
      const words = [method, path.replace(/\?.*/, ''), response.status, detail?.error_code, account?.status]
      this.seen.push([...words, answer ? undefined : 'no JSON'].filter(Boolean).join(' '))
      return answer ?? {}
    } catch {
      this.seen.push(`${method} ${path} no answer`)
      return {}
    }
  }

  async account(connector = 'mail', identifier = 'ada@example.com'): Promise<string> {
    const authorization_details = {
      oauth_token: { access_token: 'at_of_this_client', refresh_token: 'rt_of_this_client' },
    }
    const created = await this.call('POST', '/connected_accounts', {
      ...{ connector, identifier },
      connected_account: { authorization_details },
    })
    return (created['connected_account'] as { id: string }).id
  }

  async send(account: string, subject = 'Hello'): Promise<void> {
    await this.call('POST', '/execute_tool', {
      connected_account_id: account,
      tool_name: 'mail_send_message',
      tool_input: { to: 'grace@example.com', subject },
    })
  }

  async details(account: string): Promise<void> {
    await this.call('GET', `/connected_accounts/details?id=${account}`)
  }

  async sends(times: number): Promise<void> {
    const account = await this.account()
    for (let nth = 0; nth < times; nth++) await this.send(account)
    await this.details(account)
  }

  /** A link that its user approves beside the recorder, as in a browser. */
  async consented(): Promise<string> {
    const { link } = await this.call('POST', '/connected_accounts/magic_link', {
      ...{ connector: 'mail', identifier: 'ada@example.com' },
      ...{ user_verify_url: 'http://app.test/verify', state: 'xyz' },
    })
    const path = new URL(String(link)).pathname
    const response = await fetch(`${this.base}${path}?decision=approve`, { redirect: 'manual' })
    const location = response.headers.get('location')
    return (location === null ? undefined : new URL(location).searchParams.get('auth_request_id')) ?? ''
  }

  async verify(auth_request_id: string): Promise<void> {
    await this.call('POST', '/connected_accounts/user/verify', { auth_request_id, identifier: 'ada@example.com' })
  }

  async listed(): Promise<void> {
    await this.call('GET', '/connected_accounts?identifier=ada@example.com')
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

const ACCOUNT = { connector: 'mail', identifier: 'ada@example.com' }
const byQuery = `/connected_accounts/details?${new URLSearchParams(ACCOUNT).toString()}`

async function verifiesTwice(client: Client): Promise<void> {
  const id = await client.consented()
  await client.verify(id)
  await client.call('GET', byQuery)
  await client.verify(id)
  await client.call('GET', byQuery)
}

/** What the acceptance test of each bundled scenario does. */
const RUNS: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  'account-already-exists': async (client) => {
    await client.call('POST', '/connected_accounts', ACCOUNT)
    await client.call('POST', '/connected_accounts', ACCOUNT)
    await client.listed()
  },
  'account-disconnected-mid-run': (client) => client.sends(3),
  'auth-request-consumed': verifiesTwice,
  'bearer-token-revoked': async (client) => {
    const account = await client.account()
    await client.send(account)
    await client.send(account)
    await client.signIn()
    await client.send(account)
    await client.details(account)
  },
  'broken-bodies': (client) => client.sends(3),
  'connection-reset': (client) => client.sends(2),
  'consent-denied': async (client) => {
    await client.consented()
    await client.listed()
  },
  'consent-with-fewer-scopes': async (client) => {
    await client.consented()
    await client.listed()
  },
  'create-race': async (client) => {
    await client.call('POST', '/connected_accounts', ACCOUNT)
    await client.call('POST', '/connected_accounts', ACCOUNT)
    await client.call('POST', '/execute_tool', { ...ACCOUNT, tool_name: 'mail_list_messages', tool_input: {} })
  },
  'magic-link-expired': async (client) => {
    await client.consented()
    await client.listed()
  },
  'rate-limited': (client) => client.sends(3),
  'refresh-race': (client) => client.sends(2),
  'refresh-race-lost-update': async (client) => {
    const account = await client.account()
    const authorization_details = { oauth_token: { access_token: 'another_at', refresh_token: 'another_rt' } }
    await client.call('PUT', '/connected_accounts', { id: account, connected_account: { authorization_details } })
    await client.send(account)
  },
  'rotated-refresh-token-replayed': (client) => client.sends(3),
  'slow-bodies': (client) => client.sends(1),
  'third-party-401-until-refreshed': (client) => client.sends(1),
  'third-party-fails': (client) => client.sends(3),
  'third-party-never-answers': (client) => client.sends(2),
  'token-dies-mid-run': (client) => client.sends(3),
  'token-expires-and-is-refreshed': (client) => client.sends(2),
  'token-expires-without-refresh': (client) => client.sends(2),
  'verify-identity-mismatch': verifiesTwice,
  'verify-race': verifiesTwice,
}

/** A connector whose tool does not wait long. */
const IMPATIENT = join(import.meta.dirname, 'impatient')
const PAGES_AND_SESSIONS = join(import.meta.dirname, 'pages-and-sessions.yaml')

async function served<T>(options: Parameters<typeof createApp>[0], work: (url: string) => Promise<T>): Promise<T> {
  const app = await createApp(options)
  try {
    return await work((await app.listen({ host: '127.0.0.1', port: 0 })).url)
  } finally {
    await app.close()
  }
}

async function ran(run: (client: Client) => Promise<void>, url: string, base = url): Promise<string[]> {
  const client = new Client(url, base)
  await client.signIn()
  await run(client)
  return client.seen
}

describe('a recording of each bundled scenario, replayed in a new mock by the same client', () => {
  it('is checked against schemas of HAR that refuse what is none', () => {
    expect(harProblems('{"log":{"version":"1.2","creator":{"name":"a"},"entries":[{}]}}')).not.toEqual([])
  })

  it('is there for each but those of MCP, whose requests are no operations of the service', async () => {
    const ofService = (await bundledNames('scenario')).filter((name) => !name.startsWith('mcp-'))
    expect(Object.keys(RUNS).sort()).toEqual(ofService)
  })

  it.each(Object.entries(RUNS))('%s: has the same statuses and codes, in order', async (name, run) => {
    const seeds = name === 'third-party-never-answers' ? [IMPATIENT] : ['bundled']
    await served({ seeds, scenarios: [name] }, async (base) => {
      let first: string[] = []
      await withRecording(
        base,
        async (url) => (first = await ran(run, url, base)),
        async ({ folder, files, lines }) => {
          expect(await problemsIn(folder)).toEqual([])
          expect(harProblems(files.get('recording.har') ?? '')).toEqual([])
          expect(lines.filter((line) => line.startsWith('it cannot'))).toEqual([])
          const again = await served({ seeds: [folder], scenarios: ['recorded'] }, (url) => ran(run, url))
          expect(again).toEqual(first)
        },
      )
    })
  })
})

/** What a client does for an account that the request names. */
async function lettersOf(client: Client, account: object): Promise<string> {
  const asked = { connector: 'mail', ...account, tool_name: 'mail_list_threads' }
  const answer = await client.call('POST', '/execute_tool', asked)
  return JSON.stringify(answer['data'] ?? answer['message'])
}

async function connected(client: Client, account: object): Promise<void> {
  const authorization_details = { oauth_token: { access_token: `at_of_${Object.values(account).join()}` } }
  await client.call('POST', '/connected_accounts', {
    ...{ connector: 'mail', ...account },
    connected_account: { authorization_details },
  })
}

it('a recording answers each account its own in any order, and one that was not recorded nothing', async () => {
  const recorded = [
    { identifier: 'ann' },
    { identifier: 'bob' },
    { identifier: 'ann', organization_id: 'org_1' },
    { identifier: 'an*' },
  ]
  const others = [{ identifier: 'carl' }, { identifier: 'anna' }, { identifier: 'bob', organization_id: 'org_1' }]
  const letters = new Map<object, string>()
  const record = async (url: string): Promise<void> => {
    const client = new Client(url, url)
    await client.signIn()
    for (const account of recorded) await connected(client, account)
    for (const account of recorded)
      await client.call('POST', '/execute_tool', {
        ...{ connector: 'mail', ...account, tool_name: 'mail_send_message' },
        tool_input: { to: 'grace@example.com', subject: JSON.stringify(account) },
      })
    for (const account of recorded) letters.set(account, await lettersOf(client, account))
  }
  await served({ seeds: ['bundled'] }, (base) =>
    withRecording(base, record, async ({ folder, lines }) => {
      expect(new Set(letters.values()).size).toBe(4)
      expect(await problemsIn(folder)).toEqual([])
      expect(lines.filter((line) => line.startsWith('it cannot'))).toEqual([])
      await served({ seeds: [folder] }, async (url) => {
        const client = new Client(url, url)
        await client.signIn()
        for (const account of [...recorded, ...others]) await connected(client, account)
        for (const account of recorded.toReversed()) expect(await lettersOf(client, account)).toBe(letters.get(account))
        for (const account of others) expect(await lettersOf(client, account)).toContain('no call of this account')
      })
    }),
  )
})

it('a recording keeps numbers that a double cannot hold, and replays each to its own input', async () => {
  const [one, two] = ['9007199254740993', '9007199254740992']
  const echo = {
    ...{ connector: 'echo', authorization_type: 'NO_AUTH' },
    tools: [{ name: 'echo_it', call: { method: 'POST', path: '/e', body: '{{input}}' } }],
    responders: [{ on: { path: '/e' }, respond: { body: { got: '{{request.body}}' } } }],
  }
  const send = async (url: string, path: string, text: string, headers = {}): Promise<string> => {
    const method = path.startsWith('/_mock') ? 'PUT' : 'POST'
    const sent = { method, headers: { 'Content-Type': 'application/json', ...headers }, body: text }
    return (await fetch(url + path, sent)).text()
  }
  const answers = async (url: string): Promise<string[]> => {
    const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
    const token = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const headers = { Authorization: `Bearer ${((await token.json()) as { access_token: string }).access_token}` }
    await send(url, '/api/v1/connected_accounts', '{"connector":"echo","identifier":"ada"}', headers)
    const asked = '{"connector":"echo","identifier":"ada","tool_name":"echo_it","tool_input":'
    return Promise.all([one, two].map((id) => send(url, '/api/v1/execute_tool', `${asked}{"id":${id}}}`, headers)))
  }
  const own = [one, two].map((id) => expect.stringContaining(`"data":{"got":{"id":${id}}}`) as string)
  await served({ seeds: ['bundled'] }, async (base) => {
    await send(base, '/_mock/connectors/echo', JSON.stringify(echo))
    const record = async (url: string): Promise<void> => expect(await answers(url)).toEqual(own)
    await withRecording(base, record, ({ folder }) =>
      served({ seeds: [folder] }, async (url) => expect(await answers(url)).toEqual(own)),
    )
  })
})

it('a recording of MCP servers is replayed in its pages and sessions, and drift.txt has what the mock answers otherwise', async () => {
  const record = async (url: string): Promise<void> => {
    const client = new Client(url, url)
    await client.signIn()
    await connected(client, { identifier: 'ann' })
    const { token } = await client.call('POST', '/mcp/connections/mail/tokens', { identifier: 'ann' })
    const headers = { Authorization: `Bearer ${String(token)}`, Accept: 'application/json, text/event-stream' }
    let session = {}
    const ask = async (method: string, params: object): Promise<string> => {
      const response = await fetch(`${url}/mcp/v3/connections/mail`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', ...session },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const id = response.headers.get('mcp-session-id')
      if (id !== null) session = { 'Mcp-Session-Id': id }
      return response.text()
    }
    const clientInfo = { name: 'client', version: '1' }
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page++)
      [, cursor] = /"nextCursor":"([^"]+)"/.exec(await ask('tools/list', cursor === undefined ? {} : { cursor })) ?? []
    expect(await ask('tools/call', { name: 'mail_list_threads', arguments: {} })).toContain('structuredContent')
  }
  await served({ seeds: ['bundled', PAGES_AND_SESSIONS], mcp: true }, async (base) => {
    await withRecording(base, record, ({ files }) => {
      const drift = files.get('drift.txt') ?? ''
      expect(drift).not.toContain('mcp_')
      expect(files.get('connectors/mail.yaml')).toContain('identifier: ann')
      expect(drift).toMatch(/gaps confirmed: .*G61/)
      return Promise.resolve()
    })
  })
})
