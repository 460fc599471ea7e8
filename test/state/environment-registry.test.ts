import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/model/domain/settings.ts'
import { ClientIdTakenError } from '../../src/state/environment-registry.ts'
import { createEnvironment, openTestRegistry, START } from '../support/registry.ts'

const ADA = { id: 'client_ada', client_secret: 's' }
const LINK = { account_id: 'ca_1', user_verify_url: '', state: null, expires_at: '2026-01-01T00:00:00.000Z' }

it('finds the environment of a client, a bearer token, a link and an OAuth state, until they are removed', async () => {
  const registry = await openTestRegistry()
  const one = createEnvironment(registry, 'one', { clients: [ADA] })
  const { tables } = one.model
  one.model.transact(() => {
    tables.bearer_tokens.put({ id: 'token', client_id: ADA.id, expires_at: '2026-01-01T00:00:00.000Z' })
    tables.magic_links.put({ id: 'link', oauth_state: 'state', ...LINK })
  })
  expect(registry.byClient.get(ADA.id)).toEqual({ environment: one, client: ADA })
  expect(registry.byBearer.get('token')?.environment).toBe(one)
  expect(registry.byMagicLink.get('link')?.link.oauth_state).toBe('state')
  expect(registry.byOauthState.get('state')?.link.id).toBe('link')
  one.model.transact(() => {
    tables.bearer_tokens.remove('token')
    tables.magic_links.put({ id: 'link', oauth_state: 'other', ...LINK })
  })
  expect(registry.byBearer.get('token')).toBeUndefined()
  expect(registry.byOauthState.get('state')).toBeUndefined()
  expect(registry.byOauthState.get('other')?.environment).toBe(one)
  expect(registry.remove('one')).toBe(true)
  expect([registry.byClient.get(ADA.id), registry.byMagicLink.get('link'), registry.environment('one')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(registry.remove('one')).toBe(false)
})

it('refuses a client id of another environment without a change', async () => {
  const registry = await openTestRegistry()
  const one = createEnvironment(registry, 'one', { clients: [ADA] })
  expect(() => createEnvironment(registry, 'two', { clients: [{ id: 'other', client_secret: '' }, ADA] })).toThrow(
    ClientIdTakenError,
  )
  expect(registry.environments()).toEqual([one])
  expect(registry.byClient.get('other')).toBeUndefined()
  expect(registry.byClient.get(ADA.id)?.environment).toBe(one)
  const two = createEnvironment(registry, 'two')
  expect(() => two.model.transact(() => two.model.tables.clients.put(ADA))).toThrow('belongs to the environment one')
  expect(registry.byClient.get(ADA.id)?.environment).toBe(one)
})

it.each(['__proto__', 'constructor', 'a.b-c_D9', 'x'.repeat(64)])('accepts the environment name %s', async (name) => {
  const registry = await openTestRegistry()
  createEnvironment(registry, name)
  expect(() => createEnvironment(registry, name)).toThrow('already')
  expect(Object.keys(registry.image().environments)).toEqual([name])
})

it('refuses commits of an environment that was removed', async () => {
  const registry = await openTestRegistry()
  const { model } = createEnvironment(registry, 'one')
  registry.remove('one')
  expect(() => model.transact(() => model.count('x'))).toThrow('was removed')
  expect(model.tables.counters.size).toBe(0)
})

it('is durable at once and can be closed', async () => {
  const registry = await openTestRegistry()
  createEnvironment(registry, 'one')
  expect(registry.durable()).toBeUndefined()
  await registry.close()
})

it('changes settings and clock of an environment', async () => {
  const registry = await openTestRegistry()
  const one = createEnvironment(registry, 'one', { settings: { consent: 'deny' } })
  one.configure({ magic_link_lifetime: 1 })
  expect(one.settings).toEqual({ ...DEFAULT_SETTINGS, consent: 'deny', magic_link_lifetime: 1 })
  one.clock.advance(5000)
  expect(one.clock.now()).toBe(START + 5000)
})
