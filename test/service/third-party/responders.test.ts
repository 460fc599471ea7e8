import { describe, expect, it } from 'vitest'
import type { Connector, ResponderMatch } from '../../../src/model/domain/connector.ts'
import { preparePatterns } from '../../../src/model/domain/text-pattern.ts'
import type { ThirdPartyFault } from '../../../src/scenarios/third-party.ts'
import { StorageError } from '../../../src/state/wal/state-errors.ts'
import { Fixture, connectorOf, responder, tool } from './fixture.ts'

const OPEN = 'NO_AUTH'
const JSON_BODY = { 'Content-Type': 'application/json' }

function registryOf(...responders: Connector['responders']): Promise<Fixture> {
  return Fixture.start(connectorOf(OPEN, { responders }))
}

await preparePatterns('matches')

describe('a responder', () => {
  const post = (body: unknown): RequestInit => ({ method: 'POST', headers: JSON_BODY, body: JSON.stringify(body) })

  it.each<[string, ResponderMatch, string, RequestInit, boolean]>([
    ['everything', {}, '/any', {}, true],
    ['a method', { method: 'POST' }, '/', post({}), true],
    ['another method', { method: 'POST' }, '/', {}, false],
    ['GET for HEAD', { method: 'GET' }, '/', { method: 'HEAD' }, true],
    ['POST not for HEAD', { method: 'POST' }, '/', { method: 'HEAD' }, false],
    ['a path', { path: '/v1/messages' }, '/v1/messages', {}, true],
    ['a longer path', { path: '/v1/messages' }, '/v1/messages/1', {}, false],
    ['a path with a glob inside one part', { path: '/v1/m*s' }, '/v1/messages', {}, true],
    ['a glob that would have to reach over parts', { path: '/v1/*' }, '/v1/a/b', {}, false],
    ['an encoded slash inside one part', { path: '/v1/*' }, '/v1/a%2Fb', {}, true],
    ['a captured part', { path: '/v1/{id}' }, '/v1/5', {}, true],
    ['an empty captured part', { path: '/v1/{id}' }, '/v1/', {}, false],
    ['a query', { query: { q: 'a*' } }, '/?q=abc', {}, true],
    ['a query sent twice, by any of its values', { query: { q: 'b' } }, '/?q=a&q=b', {}, true],
    ['another query', { query: { q: 'a*' } }, '/?q=b', {}, false],
    ['a query that is missing', { query: { constructor: '*' } }, '/', {}, false],
    ['a header in any case', { headers: { 'X-Trace': 'on*' } }, '/', { headers: { 'x-TRACE': 'one' } }, true],
    ['another header', { headers: { 'X-Trace': 'on*' } }, '/', { headers: { 'x-trace': 'off' } }, false],
    ['a body path by glob', { body: { to: '*@blocked.example' } }, '/', post({ to: 'eve@blocked.example' }), true],
    ['another body', { body: { to: '*@blocked.example' } }, '/', post({ to: 'eve@example.com' }), false],
    ['a deep body path', { body: { 'a.0.b': 5 } }, '/', post({ a: [{ b: 5 }] }), true],
    ['a body value of another type', { body: { n: '5' } }, '/', post({ n: 5 }), false],
    ['a body value that is an object', { body: { o: { x: [1] } } }, '/', post({ o: { x: [1] } }), true],
    ['any value that is there', { body: { n: '*' } }, '/', post({ n: false }), true],
    ['a value that is not', { body: { constructor: '*' } }, '/', post({}), false],
    ['the text itself', { body: { n: { equals: 'a*' } } }, '/', post({ n: 'a*' }), true],
    ['a text that only fits as a glob', { body: { n: { equals: 'a*' } } }, '/', post({ n: 'ab' }), false],
    [
      'an object with a key called equals',
      { body: { n: { equals: { equals: 1 } } } },
      '/',
      post({ n: { equals: 1 } }),
      true,
    ],
    ['a text with a pattern', { body: { n: { matches: '^a.$' } } }, '/', post({ n: 'ab' }), true],
    ['a text without the pattern', { body: { n: { matches: '^a.$' } } }, '/', post({ n: 'abc' }), false],
    ['a query as it is', { query: { q: { equals: '*' } } }, '/?q=*', {}, true],
    ['a query that only fits as a glob', { query: { q: { equals: '*' } } }, '/?q=a', {}, false],
    ['a header by a pattern', { headers: { 'X-A': { matches: '^\\d+$' } } }, '/', { headers: { 'x-a': '12' } }, true],
    ['a form', { body: { a: 'x y' } }, '/', { method: 'POST', body: new URLSearchParams({ a: 'x y' }) }, true],
    ['regular expression characters as they are', { path: '/v1/.+' }, '/v1/xx', {}, false],
  ])('decides by %s whether it matches', async (...[, on, path, init, matches]) => {
    await using fixture = await registryOf(responder(on, { body: 'yes' }))
    const answer = await fixture.api(path, init)
    expect(answer.status).toBe(matches ? 200 : 404)
    if (!matches && init.method !== 'HEAD')
      expect(answer.body).toMatchObject({ error: 'no_responder', method: init.method ?? 'GET' })
  })

  it('takes precedence over those after it', async () => {
    await using fixture = await registryOf(
      responder({ path: '/a' }, { body: 1 }),
      responder({}, { body: 2 }),
      responder({}, { body: 3 }),
    )
    expect([(await fixture.api('/a')).body, (await fixture.api('/b')).body]).toEqual([1, 2])
  })

  it('matches by the calling account, of any type', async () => {
    const on = { account: { identifier: 'grace@*' } }
    await using fixture = await registryOf(
      responder(on, { body: 'grace' }),
      responder({}, { body: '{{account.identifier}}' }),
    )
    const grace = fixture.place({}, { id: 'ca_2', sequence: 2, identifier: 'grace@example.com' })
    expect(await fixture.call(fixture.place({}))).toEqual({ kind: 'result', data: { value: 'ada@example.com' } })
    expect(await fixture.call(grace)).toEqual({ kind: 'result', data: { value: 'grace' } })
  })

  it('has request, account and person in its templates', async () => {
    const body = {
      parts: '{{request.method}} {{request.path}} {{request.params.id}}',
      query: '{{request.query.q}}',
      body: '{{request.body.list}}',
      header: '{{request.headers.x-trace}}',
      who: '{{person}} for {{account.organization_id}}',
    }
    const headers = { 'X-Id': '{{request.params.id}}', 'X-Number': '{{request.body.list.[0]}}' }
    const connector = connectorOf('OAUTH', {
      responders: [responder({ path: '/v1/{id}' }, { status: 201, headers, body })],
    })
    await using fixture = await Fixture.start(connector)
    const account = await fixture.consented('grace@example.com')
    const authorization = `Bearer ${account.credentials.oauth_token?.access_token ?? ''}`
    const sent = { ...JSON_BODY, authorization, 'X-Trace': 't' }
    const answer = await fixture.api('/v1/a%20%2F%C3%BC?q=x+y', {
      method: 'PUT',
      headers: sent,
      body: '{"list":[1,2]}',
    })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        parts: 'PUT /v1/a /ü a /ü',
        query: 'x y',
        body: [1, 2],
        header: 't',
        who: 'grace@example.com for org_1',
      },
    })
    expect(answer.headers.get('x-number')).toBe('1')
    expect(Buffer.from(answer.headers.get('x-id') ?? '', 'latin1').toString('utf8')).toBe('a /ü')
  })

  it('writes no additional header for a value with line breaks', async () => {
    await using fixture = await registryOf(responder({}, { headers: { 'X-Echo': '{{request.query.q}}' } }))
    const answer = await fixture.api('/?q=a%0D%0AX-Evil:%201')
    expect(answer.headers.get('x-echo')).toBe('a X-Evil: 1')
    expect(answer.headers.get('x-evil')).toBeNull()
  })

  it.each(['content-type', 'Content-Type'])('sends a text unchanged where %s names another type', async (name) => {
    await using fixture = await registryOf(responder({}, { headers: { [name]: 'text/csv' }, body: '"a"' }))
    const answer = await fixture.api('/')
    expect(answer.headers.get('content-type')).toBe('text/csv')
    expect(answer.body).toBe('a')
  })

  it('answers what is wrong with a template that cannot be evaluated', async () => {
    await using fixture = await registryOf(responder({}, { body: "{{faker 'person.nobody'}}" }))
    expect(await fixture.api('/')).toMatchObject({
      status: 422,
      body: { error: 'unusable_template', message: expect.stringContaining('unknown method') as string },
    })
  })
})

const answers = [{ body: 1 }, { body: 2 }]
it.each<['repeat' | 'restart' | 'next', unknown[]]>([
  ['repeat', [1, 2, 2, 2, 2]],
  ['restart', [1, 2, 1, 2, 1]],
  ['next', [1, 2, 'other', 'other', 'other']],
])('a sequence continues after its last answer with %s', async (after_last, expected) => {
  await using fixture = await registryOf(
    responder({ path: '/s' }, answers, after_last),
    responder({}, { body: 'other' }),
  )
  const seen = []
  while (seen.length < expected.length) seen.push((await fixture.api('/s')).body)
  expect(seen).toEqual(expected)
})

it('a sequence: with per: account counts by account; calls without one together', async () => {
  const each = { ...responder({}, answers), per: 'account' } as const
  await using fixture = await registryOf(each)
  const [ada, grace] = [fixture.place({}), fixture.place({}, { id: 'ca_2', sequence: 2, identifier: 'grace' })]
  const seen = []
  for (const account of [ada, grace, ada, grace]) seen.push(await fixture.call(account))
  seen.push((await fixture.api('/')).body, (await fixture.api('/')).body)
  const result = (value: number) => ({ kind: 'result', data: { value } })
  expect(seen).toEqual([result(1), result(1), result(2), result(2), 1, 2])
})

it('a sequence counts only its own requests', async () => {
  await using fixture = await registryOf(responder({ path: '/a' }, answers), responder({ path: '/b' }, answers))
  const seen = []
  for (const path of ['/a', '/b', '/a', '/b']) seen.push((await fixture.api(path)).body)
  expect(seen).toEqual([1, 1, 2, 2])
})

it.each([
  ['an unknown environment', '/nobody/app/api/', 404],
  ['an unknown connector', '/default/constructor/api/', 404],
  ['an unknown kind', '/default/app/other/', 404],
  ['an environment that cannot be decoded', '/%zz/app/api/', 400],
  ['a path that cannot be decoded', '/default/app/api/%zz', 400],
  ['nothing', '/', 404],
])('the listener answers %s', async (_title, path, status) => {
  await using fixture = await registryOf(responder({}, {}))
  expect((await fetch(`${fixture.origin}${path}`)).status).toBe(status)
})

it('the listener answers 400 to a body that is declared as JSON and is not', async () => {
  await using fixture = await registryOf(responder({}, {}))
  const answer = await fixture.api('/', { method: 'POST', headers: JSON_BODY, body: '{' })
  expect(answer).toMatchObject({ status: 400, body: { error: 'malformed_body' } })
})

it.each([
  [32 * 1024 * 1024, 200],
  [32 * 1024 * 1024 + 1, 413],
])('the listener answers a body of %i bytes with %i', async (size, status) => {
  await using fixture = await registryOf(responder({}, {}))
  const answer = await fixture.api('/', { method: 'POST', body: Buffer.alloc(size) })
  expect(answer.status).toBe(status)
})

it('the listener lets an interceptor answer instead, and passes it the account of the call', async () => {
  const seen: unknown[] = []
  const fault: ThirdPartyFault = async (response, answer) => {
    const { status } = await answer()
    response.writeHead(503, { 'X-Would-Be': String(status) }).end('{}')
  }
  const connector = connectorOf(OPEN, { tools: [tool()] })
  await using fixture = await Fixture.start(connector, {
    intercept: ({ kind, account, request }) => {
      seen.push([kind, account?.id, request.apiPath])
      return fault
    },
  })
  expect(await fixture.call(fixture.place({}))).toMatchObject({ kind: 'failed', status: 503 })
  expect(seen).toEqual([['api', 'ca_1', '/v1/things']])
})

const steps = connectorOf(OPEN, { responders: [responder({}, [{ body: 1 }, { body: 2 }])] })

it('an answer whose data is not yet on disk is sent once its step in a sequence is on disk', async () => {
  let written = (): void => undefined
  const order: string[] = []
  const disk = new Promise<void>((resolve) => (written = resolve))
  const flushed = (): Promise<void> => {
    order.push('waits')
    setImmediate(() => {
      order.push('written')
      written()
    })
    return disk
  }
  await using fixture = await Fixture.start(steps, { flushed })
  expect((await fixture.api('/')).body).toBe(1)
  order.push('answered')
  expect(order).toEqual(['waits', 'written', 'answered'])
})

it.each([
  ['the API', (fixture: Fixture) => fixture.api('/')],
  ['the token endpoint', (fixture: Fixture) => fixture.token({ grant_type: 'refresh_token', refresh_token: 'none' })],
])('an answer whose data is not yet on disk is 503 at %s when the disk refuses', async (_place, ask) => {
  const flushed = () => Promise.reject(new StorageError('the state could not be written', new Error('ENOSPC')))
  await using fixture = await Fixture.start(steps, { flushed })
  expect(await ask(fixture)).toMatchObject({ status: 503, body: { error: 'unavailable' } })
})
