import { describe, expect } from 'vitest'
import { it } from '../../support/toolmock.ts'

const TEXTS = [
  '{{id}}',
  "{{faker 'person.fullName'}}",
  '{{{account.identifier}}}',
  '${1+1}',
  '$&',
  "$'$`$1",
  '.*',
  '(a+)+$',
  '[a-z',
  '\\',
  '%00%zz',
  '<script>alert(1)</script>',
  '"\'&<>',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'a\u0000b',
  'line\r\nbreak',
  '\ud800 alone',
  '💾💾💾',
  ' spaces ',
  'x'.repeat(900),
]

interface Account {
  id: string
  identifier: string
  api_config: unknown
}

describe('a text with a meaning in another syntax is taken literally', () => {
  it.for(TEXTS)('%j is answered unchanged by every field that stores it', async (text, { mock: { api } }) => {
    const own = JSON.parse(`{${JSON.stringify(text)}:{"deep":[${JSON.stringify(text)}]}}`) as object
    const sent = { connector: 'mail', identifier: text, organization_id: text, user_id: text }
    const token = { access_token: text, refresh_token: text, scopes: [text], domain: text }
    const connected_account = { api_config: own, authorization_details: { oauth_token: token } }
    const created = await api.post('/connected_accounts', { ...sent, connected_account })
    const { id } = (created.body as { connected_account: Account }).connected_account
    const answers = [created, await api.get('/connected_accounts/auth', { id })]

    expect(created.status).toBe(201)
    for (const { text: json, body } of answers) {
      expect(body).toMatchObject({
        connected_account: { identifier: text, authorization_details: { oauth_token: token } },
      })
      expect(json).toContain(`"api_config":${JSON.stringify(own)}`)
    }
  })

  it.for(TEXTS.filter((text) => text.isWellFormed()))(
    '%j finds the account of that identifier and no other',
    async (text, { startMock }) => {
      const { api } = await startMock({ seed: { accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] } })
      const other = await api.get('/connected_accounts', { query: text })
      await api.post('/connected_accounts', { connector: 'mail', identifier: text })
      const exact = await api.get('/connected_accounts', { identifier: text })
      const within = await api.get('/connected_accounts', { query: text.toUpperCase() })
      const located = await api.get('/connected_accounts/details', { connector: 'mail', identifier: text })

      expect(other.body).toMatchObject({ total_size: 0 })
      expect(exact.body).toMatchObject({ total_size: 1, connected_accounts: [{ identifier: text }] })
      expect(within.body).toMatchObject({ total_size: 1 })
      expect(located.body).toMatchObject({ connected_account: { identifier: text } })
    },
  )

  it.for(TEXTS.filter((text) => text.isWellFormed() && text.trim().length >= 3))(
    '%j is searched for literally',
    async (text, { startMock }) => {
      const { api } = await startMock({ seed: { accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] } })
      await api.post('/connected_accounts', { connector: 'mail', identifier: `before ${text} after` })
      const answer = await api.get('/connected_accounts:search', { query: text })

      expect(answer.body).toMatchObject({ total_size: 1 })
    },
  )

  it.for(TEXTS)('%j as the identity behind a tool is never evaluated in templates', async (text, { mock: { api } }) => {
    const connected_account = { authorization_details: { oauth_token: { access_token: 'at', refresh_token: 'rt' } } }
    await api.post('/connected_accounts', { connector: 'mail', identifier: text, connected_account })
    const call = {
      connector: 'mail',
      identifier: text,
      tool_name: 'mail_get_message',
      tool_input: { message_id: 'msg_1' },
    }
    const answer = await api.post('/execute_tool', call)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ data: { id: 'msg_1', to: text } })
  })
})

describe('a request id of a verification that was tampered with', () => {
  it.for([
    ['empty', '', 400],
    ['outside the alphabet', 'abc+/=', 400],
    ['a template', '{{id}}', 400],
    ['a path', '../x', 400],
    ['lone surrogates', '\ud800', 400],
    ['unknown', 'A'.repeat(43), 404],
    ['of a prototype', '__proto__', 404],
    ['too long', 'A'.repeat(100_000), 404],
  ])('that is %s is refused', async ([_name, auth_request_id, status], { mock: { api } }) => {
    const answer = await api.post('/connected_accounts/user/verify', { auth_request_id, identifier: 'ada' })
    expect(answer.status).toBe(status)
  })

  it('by one character does not verify', async ({ mock: { api, follow } }) => {
    const asked = { connector: 'mail', identifier: 'ada', user_verify_url: 'http://localhost:3000/verify' }
    const { link } = (await api.post('/connected_accounts/magic_link', asked)).body as { link: string }
    const back = new URL(String((await follow(link, { decision: 'approve' })).headers['location']))
    const id = back.searchParams.get('auth_request_id') ?? ''
    const changed = `${id.startsWith('A') ? 'B' : 'A'}${id.slice(1)}`
    for (const auth_request_id of [changed, `${id}A`, id.slice(0, -1)]) {
      const answer = await api.post('/connected_accounts/user/verify', { auth_request_id, identifier: 'ada' })
      expect(answer.status).toBe(404)
    }
    const whole = await api.post('/connected_accounts/user/verify', { auth_request_id: id, identifier: 'ada' })

    expect(whole.status).toBe(200)
  })
})

describe('user_verify_url (G35)', () => {
  it.for([
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '//host/x',
      '/verify',
      'x',
    ],
    ...[
      'http://',
      'http:///x',
      'https://a\nb',
      'https://a/\r\nLocation: x',
      ' https://a',
      'https://a b/',
      'https://a/\u0000',
    ],
    ...['http:a.example', 'http://[::1', 'https://a:99999/'],
  ])('%j is a 400, and no account is created', async (user_verify_url, { mock: { api, environment } }) => {
    const answer = await api.post('/connected_accounts/magic_link', {
      connector: 'mail',
      identifier: 'ada',
      user_verify_url,
    })

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      details: [{ validation_error_info: { field_violations: [{ field: 'user_verify_url' }] } }],
    })
    expect(environment.model.tables.accounts.size).toBe(0)
  })
})
