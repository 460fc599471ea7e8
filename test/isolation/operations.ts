import { expect } from 'vitest'
import type { JsonObject } from '../../src/model/domain/json.ts'
import type { KnownAccount, Tenant } from './tenant.ts'

/** The input of a step: its tenant, and numbers that are the same in each run. */
export interface Step {
  readonly tenant: Tenant
  readonly number: number
  /** A whole number below `limit`. */
  readonly random: (limit: number) => number
}

type Operation = (step: Step) => Promise<void>

/** The operations, each with its relative frequency. */
export const OPERATIONS: readonly (readonly [weight: number, operation: Operation])[] = [
  [20, create],
  [5, createSharedNames],
  [5, createAgain],
  [10, connectByLink],
  [20, execute],
  [10, read],
  [10, update],
  [8, remove],
  [10, list],
  [5, search],
  [10, advanceClock],
  [6, readOfOtherTenant],
]

async function create({ tenant, number, random }: Step): Promise<void> {
  const connector = random(2) === 0 ? 'mail' : 'encyclopedia'
  await added(tenant, { connector, identifier: `${tenant.name}-${number}@example.com` })
}

/** The same name in each environment is no duplicate. */
async function createSharedNames({ tenant, number }: Step): Promise<void> {
  await added(tenant, { connector: 'encyclopedia', identifier: `everybody-${number}@example.com` })
}

async function createAgain({ tenant, random }: Step): Promise<void> {
  const account = one(tenant, random)
  if (!account) return
  const { connector, identifier } = account
  const { details } = await tenant.api(409, 'POST', '/connected_accounts', { connector, identifier })
  expect(JSON.stringify(details)).toContain(account.id)
}

/** Link, consent and verification, by the page or by the control API. */
async function connectByLink({ tenant, number, random }: Step): Promise<void> {
  const identifier = `${tenant.name}-linked-${number}@example.com`
  const body = { connector: 'mail', identifier, user_verify_url: 'http://localhost:3000/verify' }
  const link = tenant.wasIssued((await tenant.api(200, 'POST', '/connected_accounts/magic_link', body))['link'])
  const id = link.slice(link.lastIndexOf('/') + 1)
  const back = random(2) === 0 ? await tenant.follow(`${link}?decision=approve`) : await completed(tenant, id)
  const auth_request_id = tenant.wasIssued(back.get('auth_request_id'))
  await tenant.api(403, 'POST', '/connected_accounts/user/verify', { auth_request_id, identifier: 'nobody' })
  await tenant.api(200, 'POST', '/connected_accounts/user/verify', { auth_request_id, identifier })
  const query = `connector=mail&identifier=${encodeURIComponent(identifier)}`
  const { connected_account } = await tenant.api(200, 'GET', `/connected_accounts/details?${query}`)
  remember(tenant, connected_account as JsonObject)
}

async function completed(tenant: Tenant, id: string): Promise<URLSearchParams> {
  const choice = { decision: 'approve', as: `${tenant.name}@example.com` }
  const { redirect_url } = await tenant.control(200, 'POST', `/links/${id}/complete`, choice)
  return new URL(redirect_url as string).searchParams
}

async function execute({ tenant, random }: Step): Promise<void> {
  const account = one(tenant, random)
  if (!account) return
  const mail = account.connector === 'mail'
  const answer = await tenant.api(200, 'POST', '/execute_tool', {
    connected_account_id: account.id,
    tool_name: mail ? 'mail_get_message' : 'encyclopedia_search',
    tool_input: mail ? { message_id: 'msg_1' } : { words: 'mock' },
  })
  tenant.wasIssued(answer['execution_id'])
}

async function read({ tenant, random }: Step): Promise<void> {
  const account = one(tenant, random)
  if (!account) return
  const { connected_account } = await tenant.api(200, 'GET', `/connected_accounts/details?id=${account.id}`)
  expect(connected_account).toMatchObject({ ...account })
}

async function update({ tenant, number, random }: Step): Promise<void> {
  const account = one(tenant, random)
  if (!account) return
  const body = { id: account.id, connected_account: { api_config: { owner: tenant.name, number } } }
  const { connected_account } = await tenant.api(200, 'PUT', '/connected_accounts', body)
  // No other tenant's clock is in this year.
  const updated_at = new Date(tenant.now).toISOString()
  expect(connected_account).toMatchObject({ id: account.id, updated_at })
}

async function remove({ tenant, random }: Step): Promise<void> {
  const account = one(tenant, random)
  if (!account) return
  await tenant.api(200, 'POST', '/connected_accounts:delete', { id: account.id })
  tenant.accounts.delete(account.id)
}

async function list({ tenant }: Step): Promise<void> {
  const { total_size } = await tenant.api(200, 'GET', '/connected_accounts?page_size=1')
  expect(total_size).toBe(tenant.accounts.size)
}

/** Every tenant has identifiers with this text. */
async function search({ tenant }: Step): Promise<void> {
  const { total_size } = await tenant.api(200, 'GET', '/connected_accounts:search?query=everybody&page_size=1')
  const own = [...tenant.accounts.values()].filter(({ identifier }) => identifier.startsWith('everybody'))
  expect(total_size).toBe(own.length)
}

async function advanceClock({ tenant, random }: Step): Promise<void> {
  const seconds = 1 + random(20)
  tenant.now += seconds * 1000
  const { now } = await tenant.control(200, 'PUT', '/clock', { advance: `${seconds}s` })
  expect(now).toBe(new Date(tenant.now).toISOString())
}

/** An account of another tenant is a 404. */
async function readOfOtherTenant({ tenant, random }: Step): Promise<void> {
  const { accounts } = tenant.shared
  const { id, owner } = accounts[random(accounts.length || 1)] ?? {}
  if (id === undefined || owner === tenant.name) return
  await tenant.api(404, 'GET', `/connected_accounts/auth?id=${id}`)
  await tenant.api(404, 'POST', '/connected_accounts:delete', { id })
}

async function added(tenant: Tenant, { connector, identifier }: Omit<KnownAccount, 'id'>): Promise<void> {
  const oauth_token = {
    access_token: `at ${tenant.name} ${identifier}`,
    refresh_token: `rt ${tenant.name} ${identifier}`,
  }
  const connected_account = connector === 'mail' ? { authorization_details: { oauth_token } } : {}
  const body = { connector, identifier, connected_account }
  remember(tenant, (await tenant.api(201, 'POST', '/connected_accounts', body))['connected_account'] as JsonObject)
}

function remember(tenant: Tenant, account: JsonObject): void {
  const { id, connector, identifier } = account as unknown as KnownAccount
  tenant.accounts.set(tenant.wasIssued(id), { id, connector, identifier })
  tenant.shared.accounts.push({ id, owner: tenant.name })
}

function one({ accounts }: Tenant, random: Step['random']): KnownAccount | undefined {
  return [...accounts.values()][random(accounts.size || 1)]
}
