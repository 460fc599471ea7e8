import { describe, expect, it } from 'vitest'
import type { AuthorizationType } from '../../../src/model/domain/authorization-type.ts'
import { bareConnector } from '../../../src/model/domain/connector-defaults.ts'
import {
  areLive,
  bringsCredentials,
  changesSecrets,
  checkDatabaseUser,
  checkFit,
  checkSingle,
  type Credentials,
  type CredentialsPatch,
  fullDetails,
  haveSameTokens,
  isEmptyKind,
  mergeCredentials,
  mergeKeys,
  publicDetails,
} from '../../../src/model/domain/credentials.ts'

const TOKEN = { access_token: 'at', refresh_token: 'rt', scopes: ['mail.read'], domain: 'eu' }
const DELEGATION = { subject: 'ada', access_token: 'at', scopes: ['mail.read'] }
const KEYS = { db_user: 'reader', access_key_id: 'AK', secret_access_key: 'secret', session_token: 'session' }

it.each<[string, AuthorizationType, Credentials, CredentialsPatch, Credentials]>([
  ['no token', 'OAUTH', {}, {}, {}],
  [
    'a token that is not whole',
    'OAUTH',
    {},
    { oauth_token: { access_token: 'at' } },
    { oauth_token: { access_token: 'at', refresh_token: '', scopes: [], domain: '' } },
  ],
  ['what is stored', 'OAUTH', { oauth_token: TOKEN }, {}, { oauth_token: TOKEN }],
  [
    'empty scopes and an empty domain that were sent, and the stored tokens in place of empty ones (G24, G27)',
    'OAUTH',
    { oauth_token: TOKEN },
    { oauth_token: { access_token: '', refresh_token: '', scopes: [], domain: '' } },
    { oauth_token: { ...TOKEN, scopes: [], domain: '' } },
  ],
  [
    'only a new refresh token',
    'SMART_FHIR',
    { oauth_token: TOKEN },
    { oauth_token: { refresh_token: 'rt2' } },
    { oauth_token: { ...TOKEN, refresh_token: 'rt2' } },
  ],
  ['no key', 'API_KEY', {}, { static_auth: {} }, {}],
  [
    'the stored keys',
    'API_KEY',
    { static_auth: { details: { a: '1' } } },
    {},
    { static_auth: { details: { a: '1' } } },
  ],
  [
    'a token without a secret',
    'OAUTH',
    {},
    { oauth_token: { domain: 'eu' } },
    { oauth_token: { access_token: '', refresh_token: '', scopes: [], domain: 'eu' } },
  ],
  [
    'keys that are merged one by one (G27)',
    'API_KEY',
    { static_auth: { details: { a: '1', b: '2' } } },
    { static_auth: { details: { b: null, c: '3' } } },
    { static_auth: { details: { a: '1', c: '3' } } },
  ],
  ['a first key', 'API_KEY', {}, { static_auth: { details: { a: '1' } } }, { static_auth: { details: { a: '1' } } }],
  [
    'the identifier as subject (G23)',
    'WORKSPACE_DWD',
    {},
    {},
    { workspace_dwd: { subject: 'ada@example.com', access_token: '', scopes: [] } },
  ],
  [
    'the stored subject',
    'WORKSPACE_DWD',
    { workspace_dwd: DELEGATION },
    { workspace_dwd: { subject: '' } },
    { workspace_dwd: DELEGATION },
  ],
  [
    'another subject',
    'WORKSPACE_DWD',
    { workspace_dwd: DELEGATION },
    { workspace_dwd: { subject: 'eve' } },
    { workspace_dwd: { ...DELEGATION, subject: 'eve' } },
  ],
  [
    'no database user',
    'TRUSTED_IDP',
    {},
    {},
    { trusted_idp: { db_user: '', access_key_id: '', secret_access_key: '', session_token: '' } },
  ],
  ['the stored database user', 'TRUSTED_IDP', { trusted_idp: KEYS }, {}, { trusted_idp: KEYS }],
  [
    'another database user',
    'TRUSTED_IDP',
    { trusted_idp: KEYS },
    { trusted_idp: { db_user: '' } },
    { trusted_idp: { ...KEYS, db_user: '' } },
  ],
  ['nothing at all', 'NO_AUTH', {}, {}, {}],
])('credentials after a patch have %s', (_what, type, current, patch, expected) => {
  expect(mergeCredentials(current, patch, type, 'ada@example.com')).toEqual(expected)
})

it('credentials after a patch: keep a key of any name', () => {
  const merged = mergeKeys({ a: 1 }, JSON.parse('{"__proto__": {"b": 2}, "a": null}') as never)
  expect(Object.keys(merged)).toEqual(['__proto__'])
})

it.each([
  ['oauth_token', { access_token: '' }],
  ['oauth_token', { refresh_token: '' }],
  ['oauth_token', { scopes: [] }],
  ['oauth_token', { domain: '' }],
  ['static_auth', { details: {} }],
  ['workspace_dwd', { subject: '' }],
  ['trusted_idp', { db_user: '' }],
] as const)('sent credentials may have a %s with %j, which is not an empty one (G23)', (kind, sent) => {
  expect(isEmptyKind({ [kind]: sent }, kind)).toBe(false)
  expect(isEmptyKind({ [kind]: {} }, kind)).toBe(true)
  expect(isEmptyKind({}, kind)).toBe(false)
})

const refusal = (check: () => void): unknown => {
  try {
    check()
  } catch (error) {
    const { errorCode, message, context } = error as { errorCode: string; message: string; context: object }
    return { errorCode, message, ...context }
  }
  return undefined
}
const field = (kind: string): string => `connected_account.authorization_details.${kind}`
const both = { oauth_token: {}, static_auth: {} }

it('authorization_details have one sub-object', () => {
  expect(refusal(() => checkSingle({}))).toBeUndefined()
  expect(refusal(() => checkSingle({ oauth_token: {} }))).toBeUndefined()
  const description = 'is not allowed: an account takes only one of them'
  expect(refusal(() => checkSingle(both))).toEqual({
    errorCode: 'INVALID_AUTHORIZATION_DETAILS',
    message: 'authorization_details has oauth_token and static_auth; an account takes only one of them',
    violations: ['oauth_token', 'static_auth'].map((kind) => ({
      field: field(kind),
      description,
      constraint: 'exclusive',
    })),
  })
})

it('authorization_details have the sub-object of the type (G23)', () => {
  expect(refusal(() => checkFit({ oauth_token: {} }, 'OAUTH'))).toBeUndefined()
  expect(refusal(() => checkFit({}, 'NO_AUTH'))).toBeUndefined()
  const rule = 'an account of type OAUTH takes oauth_token only'
  expect(refusal(() => checkFit(both, 'OAUTH'))).toEqual({
    errorCode: 'INVALID_AUTHORIZATION_DETAILS',
    message: `authorization_details has oauth_token and static_auth; ${rule}`,
    violations: [
      { field: field('static_auth'), description: `is not allowed: ${rule}`, constraint: 'authorization_type' },
    ],
  })
  expect(refusal(() => checkFit({ static_auth: {} }, 'NO_AUTH'))).toMatchObject({
    message: 'authorization_details has static_auth; an account of type NO_AUTH takes no credentials',
  })
})

it('authorization_details have a database user where the connector is a provisioned cluster (2.2, G23)', () => {
  const serverless = bareConnector('warehouse', 'TRUSTED_IDP')
  const provisioned = { ...serverless, cluster: 'provisioned' as const }
  expect(refusal(() => checkDatabaseUser({}, serverless))).toBeUndefined()
  expect(refusal(() => checkDatabaseUser({ trusted_idp: KEYS }, provisioned))).toBeUndefined()
  expect(refusal(() => checkDatabaseUser({}, { ...provisioned, authorization_type: 'OAUTH' }))).toBeUndefined()
  const description = 'is required: connector warehouse is a provisioned cluster'
  const lacking = {
    errorCode: 'INVALID_AUTHORIZATION_DETAILS',
    message: `${field('trusted_idp.db_user')} ${description}`,
    violations: [{ field: field('trusted_idp.db_user'), description, constraint: 'required' }],
  }
  expect(refusal(() => checkDatabaseUser({}, provisioned))).toEqual(lacking)
  expect(refusal(() => checkDatabaseUser({ trusted_idp: { ...KEYS, db_user: '' } }, provisioned))).toEqual(lacking)
})

const token = (access_token: string, refresh_token = '') => ({
  oauth_token: { ...TOKEN, access_token, refresh_token },
})

it.each<[Credentials, AuthorizationType, boolean]>([
  [{}, 'OAUTH', false],
  [token('at'), 'OAUTH', true],
  [token('', 'rt'), 'OAUTH', true],
  // Tokens of this type do not expire, so they are never renewed.
  [token('', 'rt'), 'TRACKER_OAUTH1', false],
  [token(''), 'OAUTH', false],
  [{ static_auth: { details: {} } }, 'API_KEY', false],
  [{ static_auth: { details: { a: '', b: null } } }, 'API_KEY', false],
  [{ static_auth: { details: { a: '', b: 0 } } }, 'API_KEY', true],
  [{ workspace_dwd: DELEGATION }, 'WORKSPACE_DWD', true],
  [{ workspace_dwd: { ...DELEGATION, access_token: '' } }, 'WORKSPACE_DWD', false],
  [{ trusted_idp: KEYS }, 'TRUSTED_IDP', true],
  [{ trusted_idp: { ...KEYS, access_key_id: '' } }, 'TRUSTED_IDP', false],
])('credentials: %j of type %s can be used: %s', (credentials, type, expected) => {
  expect(areLive(credentials, type)).toBe(expected)
})

it.each<[CredentialsPatch, boolean, boolean]>([
  [{}, false, false],
  [{ oauth_token: { access_token: 'at' } }, true, true],
  [{ oauth_token: { access_token: '' } }, false, false],
  [{ oauth_token: { refresh_token: 'rt' } }, true, true],
  [{ oauth_token: { scopes: [], domain: 'eu' } }, false, false],
  [{ static_auth: {} }, false, false],
  [{ static_auth: { details: {} } }, false, true],
  [{ static_auth: { details: { a: '1' } } }, true, true],
])('credentials: the patch %j has credentials: %s, changes them: %s', (patch, brings, changes) => {
  expect(bringsCredentials(patch as Credentials, 'OAUTH')).toBe(brings)
  expect(changesSecrets(patch)).toBe(changes)
})

describe('the details of an account', () => {
  it.each<[AuthorizationType, Credentials, object, object]>([
    [
      'OAUTH',
      {},
      { oauth_token: { access_token: '', refresh_token: '', scopes: [], domain: '' } },
      { oauth_token: { scopes: [], domain: '' } },
    ],
    ['BASIC', {}, { static_auth: { details: {} } }, { static_auth: {} }],
    [
      'WORKSPACE_DWD',
      {},
      { workspace_dwd: { subject: '', access_token: '', scopes: [] } },
      { workspace_dwd: { subject: '', scopes: [] } },
    ],
    ['TRUSTED_IDP', {}, { trusted_idp: { db_user: '', access_key_id: '' } }, { trusted_idp: { db_user: '' } }],
  ])('of type %s with %j are %j in full, and %j in public (4.5, G22)', (type, credentials, full, shown) => {
    expect(fullDetails(credentials, type)).toEqual(full)
    expect(publicDetails(credentials, type)).toEqual(shown)
  })
})

describe('two credentials', () => {
  const token = { access_token: 'at', refresh_token: 'rt', scopes: ['mail.read'], domain: '' }

  it.each<[Credentials, Credentials, boolean]>([
    [{ oauth_token: token }, { oauth_token: { ...token, scopes: [], domain: 'acme.example' } }, true],
    [{ oauth_token: token }, { oauth_token: { ...token, access_token: 'other' } }, false],
    [{ oauth_token: token }, { oauth_token: { ...token, refresh_token: 'other' } }, false],
    [{ oauth_token: token }, {}, false],
    [{ workspace_dwd: DELEGATION }, { workspace_dwd: { ...DELEGATION } }, true],
    [{ workspace_dwd: DELEGATION }, { workspace_dwd: { ...DELEGATION, subject: 'grace' } }, false],
    [{ trusted_idp: KEYS }, { trusted_idp: { ...KEYS, db_user: 'writer' } }, false],
    [{ static_auth: { details: { a: '1' } } }, { static_auth: { details: { a: '2' } } }, false],
    [{}, {}, true],
  ])('%j and %j have the same tokens: %j', (one, other, expected) => {
    expect(haveSameTokens(one, other)).toBe(expected)
  })
})
