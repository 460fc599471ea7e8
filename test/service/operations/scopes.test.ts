import { expect } from 'vitest'
import { explainEntry } from '../../../src/journal/request-journal/explain.ts'
import { it } from '../../support/toolmock.ts'
import { ada, appSeed, type AppTool, run } from './app-seed.ts'

const TOOLS: AppTool[] = [
  { name: 'read', answers: { body: { ok: true } }, call: { method: 'GET', path: '/things/{{input.id}}', body: null } },
  { name: 'write', answers: { body: { ok: true } } },
  { name: 'any', answers: { body: { ok: true } } },
]
const SCOPES: Record<string, string[]> = { read: ['things.read'], write: ['things.read', 'things.write'] }

/** A connector of consent whose tools ask for scopes, and Ada's account. */
function scoped(account: object = {}, connector: object = {}): object {
  const seed = appSeed(
    TOOLS,
    {
      authorization_type: 'OAUTH',
      oauth: { scopes: ['things.read', 'things.write'] },
      people: ['ada'],
      responders: [{ on: {}, respond: { body: { ok: true } } }],
      tools: TOOLS.map(({ name, call }) => ({
        name,
        call: { method: 'POST', path: `/${name}`, ...call },
        ...(SCOPES[name] && { scopes: SCOPES[name] }),
      })),
      ...connector,
    },
    account,
  )
  return seed
}

function token(scopes?: string[]): object {
  return {
    authorization_details: {
      oauth_token: { access_token: 'at_ada', refresh_token: 'rt_ada', ...(scopes && { scopes }) },
    },
  }
}

function words({ status, body }: { status: number; body: unknown }): unknown {
  const [detail] = (body as { details?: { tool_error_info: { tool_error_code: string } }[] }).details ?? []
  return detail ? `${status} ${detail.tool_error_info.tool_error_code}` : status
}

const LACKS = '403 insufficient_scope'

it.for([
  ['that were never said', token(), [200, 200, 200]],
  ['of an empty list', token([]), [200, 200, 200]],
  ['that are all it needs', token(['things.write', 'things.read']), [200, 200, 200]],
  ['that are fewer', token(['things.read']), [200, LACKS, 200]],
  ['of something else', token(['other']), [LACKS, LACKS, 200]],
  ['of generated credentials', {}, [200, 200, 200]],
])('are asked of a token with scopes %s', async ([_name, account, expected], { startMock }) => {
  const mock = await startMock({ seed: scoped(account) })
  const answers = [await run(mock, 'read', { id: 1 }), await run(mock, 'write'), await run(mock, 'any')]

  expect(answers.map(words)).toEqual(expected)
  expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
})

it('are what an explanation of the refusal names, with a new link', async ({ startMock }) => {
  const mock = await startMock({ seed: scoped(token(['things.read'])) })
  await run(mock, 'write')
  const journal = mock.app.services.journals.of(mock.environment)
  const { facts, actions } = explainEntry(journal, journal.query().at(-1)!.id, mock.environment)!
  expect(facts).toContain(
    'The token was not granted things.write: another consent, or scopes stored by an update, give it (G71).',
  )
  expect(actions.map((each) => each.action)).toEqual(['create_link'])
})

it('name in the refusal what the token lacks, and the account can be given it', async ({ startMock }) => {
  const mock = await startMock({ seed: scoped(token(['things.read'])) })
  const refused = await run(mock, 'write')
  expect(refused.body).toMatchObject({
    code: 7,
    message: 'tool execution failed - the token was not granted things.write',
  })
  const details = { oauth_token: { scopes: ['things.read', 'things.write'] } }
  const body = { connector: 'app', identifier: 'ada', connected_account: { authorization_details: details } }
  expect((await mock.api.put('/connected_accounts', body)).status).toBe(200)
  expect((await run(mock, 'write')).status).toBe(200)
})

it('are asked of a call by another program that a tool could have made', async ({ startMock }) => {
  const { http } = await startMock({ seed: scoped(token(['other'])) })
  const call = (method: 'get' | 'post', path: string) =>
    http(method, `/third-party/app/api${path}`).set('Authorization', 'Bearer at_ada')
  const refused = await call('get', '/things/7')
  expect(refused.status).toBe(403)
  expect(refused.body).toEqual({
    error: 'insufficient_scope',
    scope: 'things.read',
    message: 'the token was not granted things.read',
  })
  expect(refused.headers['www-authenticate']).toBe(
    'Bearer realm="app", error="insufficient_scope", scope="things.read"',
  )
  expect((await call('post', '/any')).status).toBe(200)
  expect((await call('get', '/things/7/more')).status).toBe(200)
})

it('that a consent granted stay through a refresh', async ({ startMock }) => {
  const mock = await startMock({ seed: scoped({ status: 'PENDING_AUTH' }) })
  const made = await mock.api.post('/connected_accounts/magic_link', { connector: 'app', identifier: 'ada' })
  const id = (made.body as { link: string }).link.replace(/^.*\/magic\//, '')
  const complete = (body: object) => mock.http('post', `/_mock/links/${id}/complete`).send(body)
  const wrong = await complete({ decision: 'approve', scopes: ['things.read', 'things.wirte'] })
  expect([wrong.status, wrong.body]).toEqual([
    400,
    { error: expect.objectContaining({ details: [expect.objectContaining({ path: 'scopes[1]' })] }) },
  ])
  expect((await complete({ decision: 'deny', scopes: ['things.read'] })).status).toBe(400)
  expect((await complete({ decision: 'approve', scopes: [] })).status).toBe(400)
  expect((await complete({ decision: 'approve', scopes: ['things.read'] })).status).toBe(200)
  const oauth_token = { scopes: ['things.read'] }
  expect(await ada(mock)).toMatchObject({ status: 'ACTIVE', authorization_details: { oauth_token } })
  expect(words(await run(mock, 'write'))).toBe(LACKS)
  await mock.http('put', '/_mock/clock').send({ advance: '2h' })
  expect(words(await run(mock, 'read', { id: 1 }))).toBe(200)
  expect(words(await run(mock, 'write'))).toBe(LACKS)
})
