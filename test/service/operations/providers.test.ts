import { describe, expect } from 'vitest'
import { ADA, expectError, pendingRequest, verify } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

type Provider = Record<string, unknown> & { identifier: string; id: string }

async function create({ api }: TestToolmock, body: object): Promise<Provider> {
  const answer = await api.post('/custom-providers', body)
  if (answer.status !== 201) throw new Error(answer.text)
  return (answer.body as { provider: Provider }).provider
}

describe('POST /custom-providers', () => {
  it('answers 201 with every field of a provider, with its zero value where none was sent (G36, G53)', async ({
    mock: { api },
  }) => {
    const answer = await api.post('/custom-providers', { display_name: 'Acme Notes' })

    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      provider: {
        id: expect.stringMatching(/\w/),
        identifier: expect.stringMatching(/^acme-notes-\w+$/),
        display_name: 'Acme Notes',
        description: '',
        icon_src: '',
        auth_patterns: [],
        categories: [],
        coming_soon: false,
        display_priority: 0,
        is_custom: true,
        is_custom_mcp: false,
        metadata: {},
        proxy_enabled: false,
        proxy_url: '',
      },
    })
  })

  it('returns what was sent, free-form patterns included', async ({ mock }) => {
    const body = {
      display_name: 'Acme',
      description: 'Notes\nof {{id}} $& <b>',
      icon_src: 'https://acme.example/icon.svg',
      auth_patterns: [{ type: 'OAUTH', oauth_config: { scopes: ['a'] }, anything: { deep: [1, null] } }, {}],
      metadata: { team: 'notes', 'a b': '1' },
      proxy_enabled: true,
      proxy_url: 'https://proxy.acme.example/x?y=1',
    }
    expect(await create(mock, body)).toMatchObject(body)
  })

  it('gives equal names identifiers of their own, and never one again (G37)', async ({ mock }) => {
    const identifiers = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const { identifier } = await create(mock, { display_name: 'Acme' })
      identifiers.add(identifier)
      await mock.api.delete(`/custom-providers/${identifier}`)
    }
    expect(identifiers.size).toBe(5)
  })

  it.for([
    ['💾 ✨'],
    ['\ud800'],
    ['../../..'],
    ['__proto__'],
    ['constructor'],
    ['{{id}}'],
    ['<script>'],
    ['x'.repeat(200)],
  ])('derives an identifier that is valid in a path from the name %j', async ([display_name], { mock }) => {
    const { identifier } = await create(mock, { display_name })
    const updated = await mock.api.put(`/custom-providers/${identifier}`, { description: 'found' })

    expect(identifier).toMatch(/^[a-z0-9_-]+$/)
    expect(updated.body).toMatchObject({ provider: { display_name, description: 'found' } })
  })

  it('recognizes an MCP provider by its patterns (G38)', async ({ mock }) => {
    const provider = await create(mock, { display_name: 'M', auth_patterns: [{ type: 'OAUTH' }, { is_mcp: true }] })
    expect(provider).toMatchObject({ is_custom: true, is_custom_mcp: true })
  })

  it('ignores output-only fields (G9)', async ({ mock }) => {
    const sent = { id: 'x', identifier: 'y', is_custom: false, is_custom_mcp: true, coming_soon: true }
    const provider = await create(mock, { display_name: 'A', ...sent, categories: ['a'], display_priority: 7 })

    expect(provider).toMatchObject({ is_custom: true, is_custom_mcp: false, coming_soon: false, display_priority: 0 })
    expect(provider).not.toMatchObject({ id: 'x' })
    expect(provider).not.toMatchObject({ identifier: 'y' })
  })
})

const KEYS = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'v']))
const GOOD: [string, object][] = [
  ['a name of 200 characters', { display_name: 'é'.repeat(200) }],
  ['a name of 200 characters outside the basic plane', { display_name: '💾'.repeat(200) }],
  ['20 metadata pairs', { metadata: KEYS(20) }],
  ['metadata keys of 3 and 25 characters', { metadata: { abc: 'v', ['k'.repeat(25)]: 'v' } }],
  ['metadata values of 1 and 256 characters', { metadata: { one: 'v', many: 'v'.repeat(256) } }],
  ['metadata keys of object prototypes', { metadata: { constructor: 'v', toString: 'v' } }],
  ['no metadata', { metadata: {} }],
  ['a proxy URL over https', { proxy_url: 'https://p' }],
]
const BAD: [string, object, string][] = [
  ['a name of 201 characters', { display_name: 'x'.repeat(201) }, 'display_name'],
  ['an empty name', { display_name: '' }, 'display_name'],
  ['21 metadata pairs', { metadata: KEYS(21) }, 'metadata'],
  ['a metadata key of 2 characters', { metadata: { ab: 'v' } }, 'metadata.ab'],
  ['a metadata key of 26 characters', { metadata: { ['k'.repeat(26)]: 'v' } }, `metadata.${'k'.repeat(26)}`],
  ['an empty metadata value', { metadata: { abc: '' } }, 'metadata.abc'],
  ['a metadata value of 257 characters', { metadata: { abc: 'v'.repeat(257) } }, 'metadata.abc'],
  ['a metadata value that is no text', { metadata: { abc: 1 } }, 'metadata.abc'],
  ['metadata that is a list', { metadata: [] }, 'metadata'],
  ['a proxy URL over http', { proxy_url: 'http://proxy.example' }, 'proxy_url'],
  ['a proxy URL in upper case', { proxy_url: 'HTTPS://proxy.example' }, 'proxy_url'],
  ['a proxy URL without a host', { proxy_url: 'https://' }, 'proxy_url'],
  ['a proxy URL that runs code', { proxy_url: 'javascript:alert(1)' }, 'proxy_url'],
  ['a proxy URL with a line break', { proxy_url: 'https://proxy.example/\nx' }, 'proxy_url'],
  ['a proxy URL with https:// further in', { proxy_url: 'x https://proxy.example' }, 'proxy_url'],
  ['a proxy URL with a control character', { proxy_url: 'https://proxy.example/\u0000' }, 'proxy_url'],
  ['an icon that runs code', { icon_src: 'javascript:alert(1)' }, 'icon_src'],
  ['an icon with a line break', { icon_src: 'https://a.example/\r\nx' }, 'icon_src'],
  ['patterns that are no list', { auth_patterns: {} }, 'auth_patterns'],
  ['a pattern of a type in lower case', { auth_patterns: [{ type: 'oauth' }] }, 'auth_patterns[0].type'],
  ['a second pattern of an unknown type', { auth_patterns: [{}, { type: 'MAGIC' }] }, 'auth_patterns[1].type'],
  ['a pattern that is no object', { auth_patterns: ['OAUTH'] }, 'auth_patterns[0]'],
  ['proxy_enabled that is a text', { proxy_enabled: 'true' }, 'proxy_enabled'],
]

it.for(GOOD)('the limits of part 8: accept %s, on create and on update', async ([_name, fields], { mock }) => {
  const { identifier, ...created } = await create(mock, { display_name: 'A', ...fields })
  const updated = await mock.api.put(`/custom-providers/${identifier}`, fields)

  expect(created).toMatchObject(fields)
  expect(updated.status).toBe(200)
  expect(updated.body).toMatchObject({ provider: fields })
})

it.for(BAD)('the limits of part 8: refuse %s, on create and on update', async ([_name, fields, field], { mock }) => {
  const { identifier } = await create(mock, { display_name: 'A', metadata: { kept: 'v' } })
  const refused = [
    await mock.api.post('/custom-providers', { display_name: 'B', ...fields }),
    await mock.api.put(`/custom-providers/${identifier}`, { description: 'changed', ...fields }),
  ]

  for (const { status, body } of refused) {
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 3,
      details: [{ error_code: 'VALIDATION_FAILED', validation_error_info: { field_violations: [{ field }] } }],
    })
  }
  const listed = await mock.api.get('/providers', { page_size: 100 })
  const custom = (listed.body as { providers: Provider[] }).providers.filter(({ is_custom }) => is_custom)
  expect(custom).toMatchObject([{ identifier, description: '', metadata: { kept: 'v' } }])
})

it('the limits of part 8: refuse a provider without a display_name', async ({ mock: { api } }) => {
  const answer = await api.post('/custom-providers', { description: 'x' })

  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({
    details: [{ validation_error_info: { field_violations: [{ field: 'display_name', constraint: 'required' }] } }],
  })
})

describe('values that count as absent (G58)', () => {
  const FULL = {
    display_name: 'A',
    description: 'B',
    icon_src: 'https://a.example/icon.svg',
    metadata: { one: '1' },
    auth_patterns: [{ type: 'OAUTH' }],
    proxy_enabled: true,
    proxy_url: 'https://proxy.example',
  }

  it('null in a create counts as absent, and so do an empty icon_src and proxy_url', async ({ mock }) => {
    const { display_name, ...rest } = FULL
    const nulls = Object.fromEntries(Object.keys(rest).map((name) => [name, null]))
    const bare = await create(mock, { display_name })
    for (const fields of [nulls, { icon_src: '', proxy_url: '' }]) {
      const provider = await create(mock, { display_name, ...fields })
      expect({ ...provider, id: '', identifier: '' }).toEqual({ ...bare, id: '', identifier: '' })
    }
  })

  it('null in an update leaves every field as it is, and so does an empty icon_src; an empty proxy_url clears it', async ({
    mock,
  }) => {
    const provider = await create(mock, FULL)
    const path = `/custom-providers/${provider.identifier}`
    const nulls = Object.fromEntries(Object.keys(FULL).map((name) => [name, null]))

    expect((await mock.api.put(path, { ...nulls, icon_src: '' })).body).toEqual({ provider })
    expect((await mock.api.put(path, { proxy_url: '' })).body).toEqual({ provider: { ...provider, proxy_url: '' } })
  })

  it('null for the required display_name is a 400 that calls it missing', async ({ mock: { api } }) => {
    const answer = await api.post('/custom-providers', { display_name: null })

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      details: [{ validation_error_info: { field_violations: [{ field: 'display_name', constraint: 'required' }] } }],
    })
  })
})

describe('PUT /custom-providers/{identifier}', () => {
  it('changes only the fields that are sent, and metadata as a whole (G39)', async ({ mock }) => {
    const provider = await create(mock, { display_name: 'A', description: 'B', metadata: { one: '1', two: '2' } })
    const path = `/custom-providers/${provider.identifier}`
    const changed = await mock.api.put(path, { metadata: { three: '3' }, proxy_enabled: true })
    const unchanged = await mock.api.put(path, {})

    const expected = { ...provider, metadata: { three: '3' }, proxy_enabled: true }
    expect(changed.body).toEqual({ provider: expected })
    expect(unchanged.body).toEqual({ provider: expected })
  })

  it('keeps the identifier when the name changes, and accepts empty values', async ({ mock }) => {
    const { identifier } = await create(mock, { display_name: 'A', description: 'B', metadata: { one: '1' } })
    const emptied = { display_name: 'Z', description: '', metadata: {}, auth_patterns: [] }
    const answer = await mock.api.put(`/custom-providers/${identifier}`, emptied)

    expect(answer.body).toMatchObject({ provider: { identifier, ...emptied } })
  })
})

it('DELETE /custom-providers/{identifier} answers 200 with an empty object, and is permanent', async ({ mock }) => {
  const { identifier } = await create(mock, { display_name: 'A' })
  const path = `/custom-providers/${identifier}`
  const deleted = await mock.api.delete(path)

  expect([deleted.status, deleted.body]).toEqual([200, {}])
  expect((await mock.api.delete(path)).status).toBe(404)
  expect((await mock.api.put(path, {})).status).toBe(404)
})

it('DELETE /custom-providers/{identifier} ends pending auth requests, and reports the reason', async ({ mock }) => {
  const { identifier } = await create(mock, { display_name: 'A', auth_patterns: [{ type: 'OAUTH' }] })
  const request = await pendingRequest(mock, { connector: identifier, identifier: ADA.identifier })
  await mock.api.delete(`/custom-providers/${identifier}`)
  const answer = await verify(mock, request)
  expectError(answer, 404, 'AUTH_REQUEST_NOT_FOUND')
  expect(answer.body.message).toContain('ended when its account was disconnected')
})

it.for(['nobody', '__proto__', 'constructor', '%2e%2e', '%00', '%F0%9F%92%BE', 'mail', 'weather'])(
  'an unknown provider: %s is a 404',
  async (name, { mock: { api } }) => {
    for (const answer of [
      await api.put(`/custom-providers/${name}`, {}),
      await api.delete(`/custom-providers/${name}`),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ code: 5, details: [{ error_code: 'PROVIDER_NOT_FOUND' }] })
    }
  },
)

it('an unknown provider is a 400 where the fields are wrong as well (G17)', async ({ mock: { api } }) => {
  expect((await api.put('/custom-providers/nobody', { proxy_url: 'http://x' })).status).toBe(400)
})
