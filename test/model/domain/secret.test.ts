import { expect, it } from 'vitest'
import { isSameSecret, isSecretName, isTextAsName, secrecyOf } from '../../../src/model/domain/secret.ts'

it('a secret is compared at any length', () => {
  expect([isSameSecret('a', 'a'), isSameSecret('a', 'b'), isSameSecret('a', 'aa')]).toEqual([true, false, false])
})

it.each([
  'client_secret',
  'Password',
  'passphrase',
  'private-key',
  'x-api-key',
  'secret_access_key',
  'client_assertion',
  'credentials',
  'access_token',
  'Tokens',
  'X-Signature',
  'Proxy-Authorization',
  'Set-Cookie',
  'cookies',
])('a secret is the value of the field %s', (name) => {
  expect(isSecretName(name)).toBe(true)
})

it.each(['page_token', 'next_page_token', 'prevPageToken', 'token_expires_at', 'cookie_banner', 'identifier'])(
  'a secret is not the value of the field %s',
  (name) => {
    expect(isSecretName(name)).toBe(false)
  },
)

it.each([
  ['identifier', false, 'open', 'open'],
  ['access_token', false, 'open', 'secret'],
  ['identifier', false, 'secret', 'secret'],
  ['nested', true, 'secret', 'secret'],
  // Clients send a secret in place of the object.
  ['oauth_token', false, 'open', 'secret'],
  ['connected_account', false, 'open', 'secret'],
  ['api_config', false, 'open', 'secret'],
  ['connected_account', true, 'open', 'open'],
  ['api_config', true, 'open', 'open'],
  ['authorization_details', true, 'open', 'credentials'],
  ['oauth_token', true, 'credentials', 'credentials'],
  ['workspace_dwd', true, 'open', 'credentials'],
  ['trusted_idp', true, 'open', 'credentials'],
  ['static_auth', true, 'credentials', 'secret'],
  ['details', true, 'credentials', 'secret'],
  ['credentials', true, 'open', 'secret'],
  ['scopes', true, 'credentials', 'open'],
  ['domain', false, 'credentials', 'open'],
  ['subject', false, 'credentials', 'open'],
  ['token_expires_at', false, 'credentials', 'open'],
  ['db_user', false, 'credentials', 'open'],
  ['expiry', false, 'credentials', 'open'],
  ['authorization_type', false, 'credentials', 'open'],
  ['access_key_id', false, 'credentials', 'secret'],
  ['note', false, 'credentials', 'secret'],
] as const)('a member of an object: %s (an object: %s) in one that is %s is %s', (name, isObject, around, expected) => {
  expect(secrecyOf(name, isObject, around)).toBe(expected)
})

it.each([
  ['{"a": 1}', true],
  ['a\nb', true],
  ['a\rb', true],
  ['say "a"', true],
  ['<a>', true],
  ['a: b', true],
  ['a:b', false],
  ['filter.connector', false],
])('a member of an object: named %j is text of another format, such as JSON: %s', (name, expected) => {
  expect(isTextAsName(name)).toBe(expected)
})
