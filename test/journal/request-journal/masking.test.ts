import { expect, it } from 'vitest'
import { recordedBody, shownBody } from '../../../src/journal/request-journal/view.ts'
import { KEPT } from '../../../src/journal/request-journal/entry.ts'
import { isSecretName } from '../../../src/model/domain/secret.ts'
import { maskSecret, maskHeader, maskJson, maskText, maskUrl } from '../../../src/model/domain/masking.ts'

it.each([
  'access_token',
  'refresh_token',
  'client_secret',
  'secret_access_key',
  'session_token',
  'access_key_id',
  'api_key',
  'X-Api-Key',
  'password',
  'privateKey',
  'client_assertion',
  'tokens',
])('names of secrets: %s is one', (name) => {
  expect(isSecretName(name)).toBe(true)
})

it.each([
  'page_token',
  'next_page_token',
  'auth_request_id',
  'identifier',
  'connected_account_id',
  'state',
  'token_type',
  'token_expires_at',
  'scopes',
])('names of secrets: %s is readable', (name) => {
  expect(isSecretName(name)).toBe(false)
})

it('masked values are equal for equal secrets, differ for others, and do not contain the secret', () => {
  expect(maskSecret('s3cret')).toMatch(/^\*\*\*[0-9a-f]{4}$/)
  expect(maskSecret('s3cret')).toBe(maskSecret('s3cret'))
  expect(maskSecret('s3cret')).not.toBe(maskSecret('other'))
})

it('masked values: cover everything below static_auth.details, with any field names', () => {
  const body = { authorization_details: { static_auth: { details: { user: 'ada', nested: [{ pin: 1234 }] } } } }
  const shown = JSON.stringify(maskJson(body))
  expect(shown).not.toMatch(/ada|1234/)
  expect(shown).toContain('pin')
})

it('masked values: cover the strings of a secret field and not its neighbours', () => {
  const shown = maskJson({ oauth_token: { access_token: 'at', scopes: ['read'], domain: 'example.com' } })
  expect(shown).toEqual({ oauth_token: { access_token: maskSecret('at'), scopes: ['read'], domain: 'example.com' } })
})

it('masked values: keep keys of the prototype harmless', () => {
  const shown = maskJson(JSON.parse('{"__proto__": {"token": "t"}, "constructor": 1}') as never)
  expect(JSON.stringify(shown)).toBe(`{"__proto__":{"token":"${maskSecret('t')}"},"constructor":1}`)
})

it.each([
  ['authorization', 'Bearer tmk_1', `Bearer ${maskSecret('tmk_1')}`],
  ['cookie', 'a=b', maskSecret('a=b')],
  ['location', 'http://a/b?code=c1&state=s#x', `http://a/b?code=${maskSecret('c1')}&state=s#x`],
  ['accept', 'text/html', 'text/html'],
])('masked values: in the header %s: %s', (name, value, shown) => {
  expect(maskHeader(name, value)).toBe(shown)
})

it.each([
  ['https://ada:pw@app.example/a?b=c', `https://${maskSecret('ada:pw')}@app.example/a?b=c`],
  ['https://tok@app.example', `https://${maskSecret('tok')}@app.example`],
  ['postgres://ada:p/w@db:5432/app', `postgres://${maskSecret('ada:p/w')}@db:5432/app`],
  ['http://localhost:3000/cb?user=ada@example.com', 'http://localhost:3000/cb?user=ada@example.com'],
  ['http://[::1]:3000/cb?user=ada@example.com', 'http://[::1]:3000/cb?user=ada@example.com'],
  [
    'https://a/?token=t,x&key=k#access_token=s',
    `https://a/?token=${maskSecret('t,x')}&key=${maskSecret('k')}#access_token=${maskSecret('s')}`,
  ],
  ['https://a/?sig=s&name=n', `https://a/?sig=${maskSecret('s')}&name=n`],
  [
    `https://a/?next=${encodeURIComponent('https://b/?token=t')}`,
    `https://a/?next=${encodeURIComponent(`https://b/?token=${maskSecret('t')}`)}`,
  ],
])('masked values: of the address %s leave the rest as it is', (address, shown) => {
  expect(maskUrl(address)).toBe(shown)
  expect(maskText(`see "${address}", please`)).toBe(`see "${shown}", please`)
  expect(maskJson({ user_verify_url: address })).toEqual({ user_verify_url: shown })
})

it('masked values: end at the next & in a text that is a form', () => {
  expect(maskText('access_token=a,b;c&scope=x')).toBe(`access_token=${maskSecret('a,b;c')}&scope=x`)
})

it.each([
  'The request has no bearer token.',
  'the bearer token has expired',
  'must not be sent beside an Authorization: Basic header',
  'Every bearer token of the environment is revoked.',
  'with the OAuth error that the redirect carries',
  'an account of type OAUTH takes oauth_token only',
  'error code: 42, key: value, session: 3',
  `a mask ***12ab, Bearer ***12ab, token: ***12ab, https://***12ab@app.example/?token=***12ab`,
])('masked values: leave words of ours: %s', (text) => {
  expect(maskText(text)).toBe(text)
})

it.each([
  'Bearer token-s3cret',
  'Bearer auth/s3cret',
  'see Basic client.s3cret',
  'authorization: Bearer access-s3cret',
])('masked values: cover a credential that begins with a word of ours: %s', (text) => {
  expect(maskText(text)).not.toContain('s3cret')
})

it('masked values are whole in binary metadata, and in fields of other common names', () => {
  expect(maskHeader('x-creds-bin', 'c2VjcmV0')).toBe(maskSecret('c2VjcmV0'))
  const secrets = { bearer: 'a', sessionid: 'b', signing_key: 'c', dsn: 'd', pwd: 'e', auth: 'f' }
  expect(maskJson(secrets)).toEqual(
    Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, maskSecret(value)])),
  )
  expect(maskJson({ auth: { type: 'basic' } })).toEqual({ auth: { type: 'basic' } })
})

it('masked values do not change a byte of a URL without secrets', () => {
  expect(maskUrl('/a?b=%zz&&c')).toBe('/a?b=%zz&&c')
})

it.each([`client_secret=s3cret&a=b`, `"client_secret": "s3cret"`, 'password: s3cret', 'Bearer s3cret'])(
  'masked values are shown the same when the text is masked again: %s',
  (text) => {
    const once = maskText(text)
    expect(once).toContain('***')
    expect(maskText(once)).toBe(once)
  },
)

it.each([
  `{"client_secret": "s3cret", `,
  `{'client_secret': 's3cret'}`,
  `client_secret=s3cret&a=b`,
  'Bearer s3cret',
  'oauth s3cret',
])('masked values are found in text other than JSON: %s', (text) => {
  expect(maskText(text)).not.toContain('s3cret')
})

it('bodies that were cut are parsed up to the cut, and masked', () => {
  const whole = JSON.stringify({ access_token: 'hidden', list: Array.from({ length: 5000 }, (_, n) => `item ${n}`) })
  const cut = whole.slice(0, KEPT)
  expect(recordedBody(cut)).toMatchObject({ access_token: 'hidden' })
  const shown = JSON.stringify(shownBody(cut, 'application/json', false))
  expect(shown).toContain('item 1000')
  expect(shown).not.toContain('hidden')
})

it.each([10_000, KEPT / 2 - 30])('bodies that nest too deeply are shown as masked text: %i levels', (depth) => {
  const body = `{"access_token":"hidden","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`.slice(0, KEPT)
  const shown = shownBody(body, 'application/json', false)
  expect(shown).toMatch(/^\{"access_token":[^,]*,"deep":\[{1000}/)
  expect(shown).not.toContain('hidden')
  expect(recordedBody(body)).toBeUndefined()
})
