import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JsonValue } from '../../src/domain/json.ts'
import { explain } from '../../src/request-journal/explain.ts'
import { requestText } from '../../src/request-journal/view.ts'
import { type ControlMock, withControl } from '../control/control-mock.ts'

/** No other text of any output contains these. */
const CANARY = 'canary7f3'
const NUMBER = 918_273_645_546_372

/** A secret in every type of value that can contain one. */
const VALUES: readonly JsonValue[] = [
  CANARY,
  `Bearer ${CANARY}`,
  NUMBER,
  [CANARY],
  [[NUMBER]],
  { inner: CANARY },
  { inner: { list: [{ deep: CANARY }, NUMBER] } },
]

/** Fields whose value is a secret, and other spellings that clients may use. */
const SECRET_FIELDS = [
  'access_token',
  'accessToken',
  'Access-Token',
  'refresh_token',
  'client_secret',
  'secret_access_key',
  'session_token',
  'access_key_id',
  'api_key',
  'password',
  'authorization',
  'Authorization',
  'Proxy-Authorization',
  'X-Api-Key',
  'cookie',
  'Set-Cookie',
]

/** Objects that contain secrets. Some clients send the secret itself in place of the object. */
const SECRET_OBJECTS = ['oauth_token', 'static_auth', 'workspace_dwd', 'trusted_idp', 'details']

function bodies(value: JsonValue): JsonValue[] {
  const details = (authorization_details: JsonValue): JsonValue => ({ connected_account: { authorization_details } })
  const config = (api_config: JsonValue): JsonValue => ({ connected_account: { api_config } })
  const named = Object.fromEntries(SECRET_FIELDS.map((name) => [name, value]))
  return [
    named,
    { connected_account: named },
    details(named),
    details({ oauth_token: named }),
    details({ workspace_dwd: named }),
    details({ trusted_idp: named }),
    config(named),
    config({ headers: named }),
    config({ headers: SECRET_FIELDS.map((name) => ({ name, value })) }),
    { tool_name: 'mail_send_message', tool_input: named },
    { tool_name: 'mail_send_message', tool_input: { headers: named } },
    { metadata: named },
    { auth_patterns: [named] },
    ...SECRET_OBJECTS.flatMap((name) => [details({ [name]: value }), { [name]: value }]),
    details({ static_auth: { details: { anything: value } } }),
    details({ static_auth: { anything: value } }),
    details(value),
  ]
}

const OPERATIONS = [
  ['put', '/connected_accounts'],
  ['post', '/connected_accounts'],
  ['post', '/custom-providers'],
  ['post', '/execute_tool'],
] as const

async function everywhere({ http, api, token }: ControlMock): Promise<void> {
  const bearer = await token('test_client', 'test_secret')
  const who = { connector: 'mail', identifier: 'ada@example.com' }
  for (const value of VALUES)
    for (const body of bodies(value))
      for (const [method, path] of OPERATIONS) await api(bearer, method, path, { ...who, ...(body as object) })
  const send = (path: string, type: string, text: string) =>
    http('post', path)
      .set('Authorization', `Bearer ${String(bearer)}`)
      .set('Content-Type', type)
      .send(text)
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  for (const name of SECRET_FIELDS) {
    const pair = `${encodeURIComponent(name)}=${CANARY}`
    for (const path of ['/oauth/token', '/api/v1/connected_accounts']) {
      for (const type of [json, form]) {
        await send(path, type, `grant_type=client_credentials&${pair}&client_id=a`)
        await send(
          path,
          type,
          `grant_type=client_credentials&${name.replaceAll('_', '%5F')}=${CANARY}&${name}=${CANARY}`,
        )
        await send(path, type, JSON.stringify({ grant_type: 'client_credentials', [name]: CANARY }))
        await send(path, type, JSON.stringify({ nested: { [name]: { inner: CANARY } } }))
        await send(path, type, JSON.stringify({ [name]: [CANARY, NUMBER] }))
        await send(path, type, `{"${name}": "${CANARY}"`)
        await send(path, type, `{"${name}": ["${CANARY}", {"a": "${CANARY}"`)
        await send(path, type, `${name}: ${CANARY}\n`)
        await send(path, type, `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${CANARY}\r\n--x--`)
        await send(path, type, `<r><${name}>${CANARY}</${name}></r>`)
      }
    }
    for (const path of ['', '/auth', '/details', ':search', '/unknown'])
      for (const query of [pair, `${pair}&${pair}`, `query=abc&${name.replaceAll('_', '%5F')}=${CANARY}`])
        await api(bearer, 'get', `/connected_accounts${path}?${query}`)
    await http('get', '/api/v1/connections').set(name, CANARY)
    await http('get', '/api/v1/connections').set(name, `Basic ${CANARY}`)
    await http('get', '/api/v1/connections')
      .set('Authorization', `Bearer ${String(bearer)}`)
      .set(name.replace(/^Authorization$/i, 'X-Authorization'), CANARY)
    await http('get', `/magic/unknown?${pair}`)
    await send('/magic/unknown', form, pair)
  }
  for (const header of [
    CANARY,
    `Bearer ${CANARY} more`,
    `Token ${CANARY}`,
    `Basic ${Buffer.from(`a:${CANARY}`).toString('base64')}`,
    `Bearer  ${CANARY}`,
  ])
    for (const path of ['/api/v1/connections', '/oauth/token', '/unknown'])
      await http('post', path).set('Authorization', header)
  await http('post', '/oauth/token').type('form').send({ grant_type: 'other', client_id: 'a', client_secret: CANARY })
  await http('post', '/oauth/token')
    .type('form')
    .send(`grant_type=client_credentials&client_id=a&client_secret=${CANARY}&client_secret=${CANARY}`)
}

/** Every occurrence of a canary in a text, with the characters around it. */
function found(text: string): string[] {
  const encoded = Buffer.from(`a:${CANARY}`).toString('base64')
  return [CANARY, String(NUMBER), encoded].flatMap((secret) =>
    text
      .split(secret)
      .slice(0, -1)
      .map((before) => `${before.slice(-120)}${secret}`),
  )
}

it('no output contains a secret that a client sent in any place or form', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-canaries-'))
  const journalFile = join(folder, 'journal.jsonl')
  const lines: string[] = []
  const line = (...fields: unknown[]): void => {
    lines.push(JSON.stringify(fields))
  }
  const log = { error: line, warn: line, info: line, debug: line }
  const leaks: string[] = []
  const look = (name: string, text: string): void => {
    leaks.push(...found(text).map((at) => `${name}: ${at}`))
  }
  try {
    await withControl({ log, journalFile, journalCapacity: 100_000 }, async (mock) => {
      const { services } = mock.app
      const environment = services.defaultEnvironment()
      if (!environment) throw new Error('there is no environment')
      services.journals.of(environment).subscribe((event) => {
        look('events', JSON.stringify(event))
      })
      await everywhere(mock)
      const journal = await mock.http('get', '/_mock/requests?limit=10000')
      look('requests', journal.text)
      const entries = services.journals.of(environment)
      // The stored entries do contain the secrets.
      expect(entries.recorded().filter((entry) => found(requestText(entry)).length > 0).length).toBeGreaterThan(500)
      for (const { id } of entries.query().filter(({ status }) => status >= 400)) {
        look('explain', JSON.stringify(explain(entries, id, environment)))
      }
      for (const format of ['json', 'junit', 'sarif', 'html', 'text', 'markdown'])
        for (const report of ['contract', 'coverage'])
          look(`${report} ${format}`, (await mock.http('get', `/_mock/${report}?format=${format}`)).text)
      look('verify', (await mock.http('post', '/_mock/requests/verify').send({ match: { operation: 'none' } })).text)
    })
    look('journal file', readFileSync(journalFile, 'utf8'))
    look('log', lines.join('\n'))
  } finally {
    await rm(folder, { recursive: true })
  }
  expect([...new Set(leaks)].slice(0, 40)).toEqual([])
})
