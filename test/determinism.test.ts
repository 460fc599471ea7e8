import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import supertest, { type Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { createApp, type AppOptions } from '../src/app/app.ts'
import { withDirectory } from './support/registry.ts'

const BASE_URL = 'http://mock.test'
const OPTIONS = { clock: '2026-01-01T00:00:00.000Z', freeze: true, idSeed: 7, baseUrl: BASE_URL } as const

interface Run {
  /** Every answer: status, headers and body, except the `Date` header that Node.js writes. */
  readonly answers: readonly string[]
  /** The state file, except the random id by which logs know their state file. */
  readonly state: string
}

type Json = Record<string, unknown>
type Call = (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: Json) => Promise<Response>

/** Runs the script once against a new state file. */
function run(options: Partial<AppOptions> = {}): Promise<Run> {
  return withDirectory(async (folder) => {
    const file = join(folder, 'state.json')
    const app = await createApp({ ...OPTIONS, state: file, ...options })
    const answers: string[] = []
    let token = ''
    const http: Call = async (method, path, body) => {
      const request = supertest(app.listener)[method](path).redirects(0).set('Connection', 'close')
      if (path.startsWith('/api/')) void request.set('Authorization', `Bearer ${token}`)
      if (body) void request.type(path === '/oauth/token' ? 'form' : 'json')
      const answer = await (body ? request.send(body) : request)
      const { date: _date, ...headers } = answer.headers as Record<string, string>
      answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(headers)} ${answer.text}`)
      return answer
    }
    try {
      const { id: client_id, secret: client_secret } = app.client
      const granted = await http('post', '/oauth/token', { client_id, client_secret, grant_type: 'client_credentials' })
      token = String((granted.body as Json).access_token)
      for (const part of [accounts, consent, execution, providers, errors]) await part(http)
    } finally {
      await app.close()
    }
    const state = await readFile(file, 'utf8')
    return { answers, state: state.replace(/"state_id": ".+"/, '') }
  })
}

const API = '/api/v1'
const ACCOUNTS = `${API}/connected_accounts`

async function accounts(call: Call): Promise<void> {
  for (const connector of ['mail', 'weather', 'helpdesk', 'ledger', 'workspace', 'encyclopedia']) {
    await call('post', ACCOUNTS, { connector, identifier: 'ada@example.com' })
  }
  const details = { username: 'ada', password: 'secret' }
  const connected_account = { authorization_details: { static_auth: { details } }, api_config: { retries: 2 } }
  await call('put', ACCOUNTS, { connector: 'helpdesk', identifier: 'ada@example.com', connected_account })
  await call('post', ACCOUNTS, { connector: 'mail', identifier: 'ada@example.com' })
  const first = await call('get', `${ACCOUNTS}?page_size=2`)
  const { next_page_token: next } = first.body as { next_page_token: string }
  await call('get', `${ACCOUNTS}?page_size=2&page_token=${next}`)
  await call('get', `${ACCOUNTS}:search?query=ada`)
  await call('get', `${ACCOUNTS}/auth?connector=ledger&identifier=ada@example.com`)
  await call('get', `${ACCOUNTS}/details?connector=mail&identifier=ada@example.com`)
  await call('get', `${API}/connections`)
}

/** Creates a magic link, follows it, and returns the redirect. */
async function follow(call: Call, link: Json, decision: 'approve' | 'deny'): Promise<URL> {
  const made = await call('post', `${ACCOUNTS}/magic_link`, link)
  const path = String((made.body as Json).link).slice(BASE_URL.length)
  await call('get', path)
  const answer = await call('get', `${path}?decision=${decision}`)
  return new URL(String(answer.headers.location), BASE_URL)
}

async function consent(call: Call): Promise<void> {
  const user_verify_url = 'http://localhost:3000/verify'
  const grace = { connector: 'mail', identifier: 'grace@example.com', user_verify_url, state: 's' }
  await follow(call, grace, 'deny')
  const back = await follow(call, grace, 'approve')
  const auth_request_id = back.searchParams.get('auth_request_id')
  await call('post', `${ACCOUNTS}/user/verify`, { auth_request_id, identifier: 'somebody.else@example.com' })
  await call('post', `${ACCOUNTS}/user/verify`, { auth_request_id, identifier: 'grace@example.com' })
  await call('post', `${ACCOUNTS}/user/verify`, { auth_request_id, identifier: 'grace@example.com' })
  for (const connector of ['weather', 'tracker', 'clinic', 'payments']) {
    await follow(call, { connector, identifier: 'ada@example.com' }, 'approve')
  }
}

async function execution(call: Call): Promise<void> {
  const execute = (connector: string, identifier: string, tool_name: string, tool_input: Json) =>
    call('post', `${API}/execute_tool`, { connector, identifier, tool_name, tool_input })
  const message = { to: 'grace@example.com', subject: 'Hello', body: 'From a mock.' }
  for (let round = 0; round < 3; round++) await execute('mail', 'grace@example.com', 'mail_send_message', message)
  await execute('mail', 'grace@example.com', 'mail_send_message', { ...message, to: 'a@blocked.example' })
  await execute('mail', 'grace@example.com', 'mail_get_message', { message_id: 'msg_1' })
  await execute('mail', 'ada@example.com', 'mail_send_message', message)
  const ticket = { subject: 'It is broken', requester: 'ada@example.com' }
  await execute('helpdesk', 'ada@example.com', 'helpdesk_create_ticket', ticket)
  await execute('encyclopedia', 'ada@example.com', 'encyclopedia_search', { words: 'mock' })
  await execute('tracker', 'ada@example.com', 'tracker_search_issues', { text: 'broken' })
  await execute('ledger', 'ada@example.com', 'ledger_get_balance', { ledger_account: 'cash' })
  await execute('mail', 'grace@example.com', 'mail_fly', {})
}

async function providers(call: Call): Promise<void> {
  const made = await call('post', `${API}/custom-providers`, { display_name: 'My App', metadata: { team: 'blue' } })
  const { provider } = made.body as { provider: { identifier: string } }
  await call('put', `${API}/custom-providers/${provider.identifier}`, { description: 'Mine.' })
  await call('post', ACCOUNTS, { connector: provider.identifier, identifier: 'ada@example.com' })
  await call('delete', `${API}/custom-providers/${provider.identifier}`)
  for (const path of ['tools?page_size=3', 'tools/scoped?identifier=ada@example.com', 'providers?page_size=3']) {
    await call('get', `${API}/${path}`)
  }
  await call('get', `${API}/tools/available?identifier=ada@example.com`)
}

async function errors(call: Call): Promise<void> {
  await call('post', ACCOUNTS, { connector: 'nothing', identifier: 'x' })
  await call('get', `${ACCOUNTS}?page_size=x`)
  await call('get', `${ACCOUNTS}:search?query=a`)
  await call('get', `${ACCOUNTS}/details?id=ca_unknown`)
  await call('get', '/nowhere')
  await call('get', '/magic/unknown')
  await call('put', '/oauth/token')
  await call('post', '/oauth/token', { grant_type: 'password' })
  await call('post', `${ACCOUNTS}:delete`, { connector: 'mail', identifier: 'grace@example.com' })
}

describe('two runs with the same id seed, clock and requests', () => {
  it('give the same answers and the same state file, byte for byte but for its state_id', async () => {
    const [first, second] = [await run(), await run()]
    expect(second.answers).toEqual(first.answers)
    expect(second.state).toBe(first.state)
    expect(first.answers.length).toBeGreaterThan(60)
    const succeeded = first.answers.filter((answer) => /^\w+ \S+ (?:200|201|302|303) /.test(answer))
    expect(succeeded.length).toBeGreaterThan(45)
  })

  it('differ with another id seed', async () => {
    const [first, other] = [await run(), await run({ idSeed: 8 })]
    expect(other.state).not.toBe(first.state)
    expect(other.answers[0]).not.toBe(first.answers[0])
  })
})
