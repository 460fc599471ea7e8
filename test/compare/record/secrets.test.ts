import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Recorded } from '../../../src/compare/record/recorded.ts'
import { maskSecret } from '../../../src/model/domain/masking.ts'
import { Secrets } from '../../../src/compare/record/secrets.ts'
import { harProblems, problemsIn, withRecording } from './recording.ts'
import { withServer } from '../../support/server.ts'

const random = (): string => randomBytes(18).toString('base64url').replaceAll(/[-_]/g, 'x')

/** Secrets by where they are. */
type Places = Map<string, string>

/** A service that answers the secrets of a place, and repeats those that it got in odd forms. */
function withService<T>(places: Places, work: (url: string) => Promise<T>): Promise<T> {
  return withServer((request, response) => answer(request, response, places), work)
}

function secretOf(places: Places, place: string): string {
  const made = places.get(place) ?? random()
  places.set(place, made)
  return made
}

function answer(request: IncomingMessage, response: ServerResponse, places: Places): void {
  request.resume()
  const of = (place: string): string => secretOf(places, place)
  const account = {
    ...{ id: 'ca_1', connector: 'mail', provider: 'mail', identifier: 'ada@example.com', status: 'ACTIVE' },
    authorization_type: 'OAUTH',
    connection_id: 'conn_1',
    updated_at: '2026-01-01T00:00:00.000Z',
    api_config: { api_key: of('api_config'), headers: [{ name: 'X-Api-Key', value: of('named header') }] },
    authorization_details: {
      oauth_token: {
        access_token: of('stored access token'),
        refresh_token: of('stored refresh token'),
        scopes: [],
        domain: '',
      },
      static_auth: { details: { tenant: of('static detail'), nested: { deep: of('deep static detail') } } },
      trusted_idp: { access_key_id: of('access key id'), secret_access_key: of('secret access key') },
    },
  }
  const path = request.url?.split('?', 1).join() ?? ''
  const bodies: Record<string, unknown> = {
    '/oauth/token': { access_token: of('bearer'), token_type: 'Bearer', expires_in: 60, scope: '' },
    '/api/v1/connected_accounts/auth': { connected_account: account },
    '/api/v1/connected_accounts/magic_link': {
      link: `https://service.example/magic/${of('link')}?session=${of('link parameter')}`,
      expiry: '2026-01-01T00:00:00.000Z',
    },
    '/api/v1/execute_tool': {
      data: {
        echoed: `the key ${of('stored access token')} and ${encodeURIComponent(of('client secret'))} were used`,
        json: JSON.stringify({ inner: JSON.stringify({ token: of('nested JSON'), say: of('bearer') }) }),
        encoded: Buffer.from(`user:${of('stored refresh token')}:${of('static detail')}`).toString('base64'),
        part: `it begins with ${of('stored access token').slice(3, 14)}`,
        escaped: Array.from(of('client secret'), (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join(''),
        percent: Array.from(of('bearer'), (c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
        [`key ${of('static detail')}`]: 1,
        url: `https://ada:${of('password in a URL')}@db.example/x?token=${of('token in a URL')}&next=${encodeURIComponent(`https://x.example/?api_key=${of('inner URL')}`)}`,
      },
      execution_id: 'exec_1',
    },
    '/api/v1/connected_accounts/details': {
      ...{ code: 5, message: `no account for ${of('auth request')} with token=${of('error text')}` },
      details: [{ '@type': 'x', error_code: 'ACCOUNT_NOT_FOUND', request_info: { request_id: of('bearer') } }],
    },
    '/api/v1/connected_accounts/user/verify': {
      post_user_verify_redirect_url: `https://app.example/?code=${of('code')}`,
    },
  }
  const isRefused = path.endsWith('/details')
  const body = gzipSync(JSON.stringify(bodies[path] ?? { ok: of('bearer') }))
  response.writeHead(isRefused ? 404 : 200, `Said ${of('bearer')}`, {
    'Content-Type': `application/json; profile=${of('stored access token')}`,
    'Content-Encoding': 'gzip',
    'Set-Cookie': `sid=${of('set cookie')}; Path=/`,
    'X-Auth-Token': of('header of an answer'),
    'X-Echo': of('stored access token'),
  })
  response.end(body)
}

async function client(url: string, places: Places): Promise<void> {
  const of = (place: string): string => secretOf(places, place)
  const basic = Buffer.from(`${of('basic id')}:${of('basic secret')}`).toString('base64')
  const form = { grant_type: 'client_credentials', client_id: of('client id'), client_secret: of('client secret') }
  await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}`, 'X-Note': of('basic secret') },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const headers = {
    ...{ Authorization: `Bearer ${of('bearer')}`, 'Content-Type': 'application/json' },
    ...{ Cookie: `a=${of('cookie')}; b=${of('second cookie')}`, 'X-Tenant-Pin': of('named by --mask') },
  }
  const post = (path: string, body: object) =>
    fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await fetch(`${url}/api/v1/connected_accounts/auth?id=ca_1&token=${of('query')}`, { headers })
  await fetch(`${url}/api/v1/connected_accounts/details?id=ca_9&identifier=${of('auth request')}`, { headers })
  await post('/connected_accounts/magic_link', { connector: 'mail', identifier: 'ada@example.com' })
  await post('/connected_accounts/user/verify', { auth_request_id: of('auth request'), identifier: 'ada@example.com' })
  await post('/execute_tool', {
    ...{ connected_account_id: 'ca_1', tool_name: 'mail_send' },
    tool_input: {
      note: `use ${of('client secret')}`,
      password: of('input password'),
      at: [of('bearer')],
      plain: 'hello world',
    },
  })
  await fetch(`${url}/magic/${of('link')}?session=${of('link parameter')}`, { headers })
  await fetch(`${url}/elsewhere/${of('bearer')}`, { headers: { 'X-Path': of('bearer') } })
}

/** Where eight characters of a secret are, as they are or decoded. */
function leaks(files: ReadonlyMap<string, string>, places: Places): string[] {
  const found: string[] = []
  for (const [file, text] of files) {
    const forms = [text, text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))]
    for (const [place, secret] of places) {
      const encoded = [0, 1, 2].map((at) =>
        Buffer.from('\0'.repeat(at) + secret)
          .toString('base64')
          .slice(at === 0 ? 0 : at + 1, -4),
      )
      const pieces = Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8))
      const isThere = forms.some((form) => [...pieces, ...encoded].some((piece) => form.includes(piece)))
      if (isThere) found.push(`${place} in ${file}`)
    }
  }
  return found
}

it('no secret of a recording is in a file, as it is, percent-encoded, as base64, or any eight characters of it', async () => {
  let secrets = 0
  for (let run = 0; run < 4; run++) {
    const places: Places = new Map()
    await withService(places, (service) =>
      withRecording(
        service,
        (url) => client(url, places),
        async ({ folder, files, lines }) => {
          expect([...files.keys()].sort()).toEqual([
            'connectors/mail.yaml',
            'drift.txt',
            'recording.har',
            'scenarios/recorded.yaml',
            'seed.yaml',
          ])
          expect(leaks(new Map([...files, ['stdout', lines.join('\n')]]), places)).toEqual([])
          // What is no secret is there.
          const har = files.get('recording.har') ?? ''
          expect(harProblems(har)).toEqual([])
          for (const word of ['hello world', 'ada@example.com', 'client_secret', 'api_config', 'mail_send'])
            expect(har).toContain(word)
          expect(await problemsIn(folder)).toEqual([])
        },
        { mask: ['X-Tenant-Pin'] },
      ),
    )
    secrets += places.size
  }
  expect(secrets).toBeGreaterThan(100)
})

const KEY = 'MIIEvQIBADANBgkqhkiG9w0'
const KNOWN = 'Kq7&Zr"2+Xw'

it.each([
  ['hex', Buffer.from(KNOWN).toString('hex')],
  ['upper case', KNOWN.toUpperCase()],
  ['entities of HTML', 'Kq7&amp;Zr&quot;2&#43;X&#x77;'],
  ['quoted-printable', 'Kq7=26Zr=222=2BX=\r\nw'],
  ['twice percent-encoded', encodeURIComponent(encodeURIComponent(KNOWN))],
])('a secret that is known is hidden as %s too', (_form, text) => {
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  secrets.learn(messageOf({ password: KNOWN }))
  expect(secrets.text(`the value (${text}) came back`)).toMatch(/^the value \(\*\*\*[\da-f]{4}\) came back$/)
})

it.each<[string, Recorded, unknown]>([
  ['of a second cookie', messageOf({}, [['Cookie', 'a=1; b=second-cookie']]), 'second-cookie'],
  ['that is a number', messageOf({ password: 4711471147 }), 4711471147],
])('a secret %s is hidden where it comes again', (_title, message, secret) => {
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  secrets.learn(message)
  const shown = maskSecret(String(secret))
  expect(secrets.json({ note: `it is ${String(secret)}`, again: secret as string })).toEqual({
    note: `it is ${shown}`,
    again: shown,
  })
})

it('two secrets whose masks are the same have placeholders that differ', () => {
  const byMask = new Map<string, string>()
  let secret = 'secret_0'
  for (let at = 1; !byMask.has(maskSecret(secret)); at++) {
    byMask.set(maskSecret(secret), secret)
    secret = `secret_${at}`
  }
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  const first = secrets.placeholder(byMask.get(maskSecret(secret)) ?? '')
  expect(secrets.placeholder(secret)).not.toBe(first)
  expect(secrets.placeholder(secret)).toBe(secrets.placeholder(secret))
})

it.each([
  ['a form', '<form><input value="hunter2hunter2" type=hidden name="password"></form>', 'hunter2hunter2'],
  ['a meta element', '<meta name="csrf-token" content="abcdefgh12345">', 'abcdefgh12345'],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${KEY}\n-----END RSA PRIVATE KEY-----`, KEY],
  ['curl -u', 'curl -u ada:correcthorse https://a.example', 'correcthorse'],
  ['a parameter as an object', '{"param":"password","value":"correcthorse"}', 'correcthorse'],
])('a secret in %s is masked', (_place, text, secret) => {
  expect(new Secrets({ names: [], maskIdentifiers: false }).body(text)).not.toContain(secret)
})

it('masks whole words only: what is like the name of a secret stays', () => {
  const body = {
    secretary: 'Grace Hopper',
    signature: 'Kind regards, Ada',
    auth: 'none',
    'Secret Santa': 'in December',
  }
  expect(new Secrets({ names: [], maskIdentifiers: false }).body(JSON.stringify(body))).toBe(JSON.stringify(body))
})

it('reads a long text without an object for each of its characters', () => {
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  secrets.learn(messageOf({ password: KNOWN }))
  const text = `${'lorem ipsum '.repeat(400_000)}${KNOWN}`
  const before = process.memoryUsage()
  expect(secrets.text(text)).not.toContain(KNOWN)
  const after = process.memoryUsage()
  expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(300_000_000)
})

function messageOf(body: object, headers: [string, string][] = []): Recorded {
  const bytes = Buffer.from(JSON.stringify(body))
  const request = { headers, body: { bytes, size: bytes.length } }
  return { startedAt: 0, durationMs: 1, method: 'POST', target: '/', request, response: undefined }
}
