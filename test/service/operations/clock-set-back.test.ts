import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { meetsExpiry } from '../../../src/state/expiry.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { ADA, authOf, createActive, decide, linkFor, pendingRequest, verify } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { startScenario } from '../../support/scenario.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'toolmock-clock-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

/** Uses a thing that expires; answers whether it works. */
type Use = () => Promise<boolean>

const TOOL = { ...ADA, tool_name: 'mail_list_messages', tool_input: {} }
const START = '2026-01-01T00:00:00Z'
const LATER = '2026-01-02T00:00:00Z'

/** The third party renews no token while this runs. */
const NO_RENEWAL = { at: 'token_refresh', do: [{ respond: { status: 503 } }], must_fire: false }

const KINDS: readonly [string, (mock: TestToolmock) => Promise<Use>][] = [
  [
    'a bearer token',
    async ({ http, signIn }) => {
      const token = await signIn()
      return async () => (await http('get', '/api/v1/connections').auth(token, { type: 'bearer' })).status === 200
    },
  ],
  [
    'a magic link',
    async (mock) => {
      const link = await linkFor(mock, ADA)
      return async () => (await mock.follow(link)).status < 400
    },
  ],
  [
    'the consent of a link',
    async (mock) => {
      const consent = new URL((await mock.follow(await linkFor(mock, ADA))).headers['location'] ?? '')
      const callback = consent.searchParams.get('redirect_uri') ?? ''
      const state = consent.searchParams.get('state') ?? ''
      return async () => (await mock.follow(callback, { state, error: 'access_denied' })).status < 400
    },
  ],
  [
    'an authorization code',
    async (mock) => {
      const consent = new URL((await mock.follow(await linkFor(mock, ADA))).headers['location'] ?? '')
      const form = { ...Object.fromEntries(consent.searchParams), decision: 'approve', person: ADA.identifier }
      const answer = await mock.http('post', consent.pathname).type('form').send(form)
      const redirect_uri = consent.searchParams.get('redirect_uri')
      const code = new URL(answer.headers['location'] ?? '').searchParams.get('code')
      const { id: client_id, secret: client_secret } = mock.app.client
      const body = { grant_type: 'authorization_code', code, redirect_uri, client_id, client_secret }
      return async () =>
        (await mock.http('post', '/third-party/mail/oauth/token').type('form').send(body)).status === 200
    },
  ],
  [
    'an access token at its third party',
    async (mock) => {
      await createActive(mock)
      const path = '/third-party/mail/api/v1/messages'
      return async () => (await mock.http('get', path).auth('at_1', { type: 'bearer' })).status === 200
    },
  ],
  [
    'the access token of an account, for a tool',
    async (mock) => {
      await createActive(mock)
      await startScenario(mock, NO_RENEWAL)
      return async () => {
        await mock.signIn()
        return (await mock.api.post('/execute_tool', TOOL)).status === 200
      }
    },
  ],
]

const clockTo = ({ http }: TestToolmock, now: string) => http('put', '/_mock/clock').send({ now, frozen: true })

describe('after the clock was set back (G74)', () => {
  it.for(KINDS)('%s that was used after its end stays expired', async ([_, prepare], { mock }) => {
    await clockTo(mock, START)
    const works = await prepare(mock)
    await clockTo(mock, LATER)
    expect(await works()).toBe(false)
    await clockTo(mock, START)
    expect(await works()).toBe(false)
  })

  it.for(KINDS)('%s that nobody used after its end works', async ([_, prepare], { mock }) => {
    await clockTo(mock, START)
    const works = await prepare(mock)
    await clockTo(mock, LATER)
    for (const path of ['links', 'state', 'clock/due', 'accounts', 'requests', 'coverage'])
      expect((await mock.http('get', `/_mock/${path}`)).status, path).toBe(200)
    // Others come and go meanwhile.
    await mock.signIn()
    await decide(mock, await linkFor(mock, { ...ADA, identifier: 'grace@example.com' }))
    await clockTo(mock, START)
    expect(await works()).toBe(true)
  })

  it.each(KINDS.slice(0, 2))('%s that expired stays so through a crash', async (_, prepare) => {
    const disk = new MemoryDisk()
    const state = join(FOLDER, 'state.json')
    let works: Use | undefined
    let after: MemoryDisk | undefined
    await withToolmock({ state, fileSystem: disk }, async (mock) => {
      await clockTo(mock, START)
      works = await prepare(mock)
      await clockTo(mock, LATER)
      expect(await works()).toBe(false)
      await clockTo(mock, START)
      after = disk.after('killed')
    })
    await withToolmock({ state, fileSystem: after! }, (mock) => {
      expect([
        ...mock.environment.model.tables.bearer_tokens.values(),
        ...mock.environment.model.openLinks(),
      ]).toContainEqual(expect.objectContaining({ expired: true }))
      return Promise.resolve()
    })
  })

  it('what is expired is not listed as open, or as due', async ({ mock }) => {
    const { http } = mock
    await clockTo(mock, START)
    const link = await linkFor(mock, ADA)
    const list = async (path: string, name: string) =>
      (await http('get', `/_mock/${path}`)).body[name].map(({ kind, id }: { kind?: string; id: string }) => kind ?? id)
    expect(await list('links', 'links')).toHaveLength(1)
    expect(await list('clock/due', 'due')).toContain('magic_link')
    await clockTo(mock, LATER)
    expect((await mock.follow(link)).status).toBe(410)
    expect((await mock.api.get('/connections')).status).toBe(401)
    await clockTo(mock, START)
    expect(await list('links', 'links')).toEqual([])
    expect(await list('clock/due', 'due')).toEqual([])
  })

  it('an auth request that verify met expired while a fault kept it waiting stays expired', async ({ mock }) => {
    const { environment, http } = mock
    const id = await pendingRequest(mock)
    await startScenario(mock, { on: { operation: 'verify_user' }, do: [{ advance_clock: { by: '11m' } }] })
    expect((await verify(mock, id)).status).toBe(404)
    await http('delete', '/_mock/scenarios')
    environment.clock.set(Date.parse(START))
    expect((await verify(mock, id)).status).toBe(404)
  })

  it('a link that is removed by the transaction which met it expired stays removed', async ({ mock }) => {
    await linkFor(mock, ADA)
    await clockTo(mock, LATER)
    const { model } = mock.environment
    const [link] = [...model.tables.magic_links.values()]
    model.transact(() => {
      expect(meetsExpiry(mock.environment, 'magic_links', link!)).toBe(true)
      model.tables.magic_links.remove(link!.id)
    })
    expect(model.tables.magic_links.get(link!.id)).toBeUndefined()
  })

  it.for([
    ['the event expire_access_token ended', { access_token: 'at_1', refresh_token: 'rt_1' }, true],
    ['a refresh token that came alone lacks', { refresh_token: 'rt_1' }, false],
  ])('an access token that %s is renewed at its next use', async ([_, oauth_token, isEnded], { mock }) => {
    await clockTo(mock, START)
    const { id } = await createActive(mock, {}, { oauth_token })
    if (isEnded) await mock.http('post', `/_mock/accounts/${id}/expire_access_token`)
    await clockTo(mock, '2025-12-31T00:00:00Z')
    const { authorization_details } = await authOf(mock, id)
    expect(['', 'at_1']).not.toContain(authorization_details.oauth_token.access_token)
  })
})
