import type { Response } from 'supertest'
import { expect } from 'vitest'
import type { AuthorizationType } from '../../src/model/domain/authorization-type.ts'
import type { TestToolmock } from './toolmock.ts'

/** The bundled connector of each authorization type, and credentials that a caller may store there, if any. */
export const CONNECTORS: Readonly<Record<AuthorizationType, { connector: string; details?: object }>> = {
  OAUTH: { connector: 'mail', details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } } },
  API_KEY: { connector: 'weather', details: { static_auth: { details: { api_key: 'key_1' } } } },
  BASIC_AUTH: { connector: 'helpdesk', details: { static_auth: { details: { username: 'ada', password: 'pw_1' } } } },
  BEARER_TOKEN: { connector: 'code_hosting', details: { static_auth: { details: { token: 'bearer_1' } } } },
  CUSTOM: { connector: 'payments', details: { static_auth: { details: { key_id: 'k_1', key_secret: 's_1' } } } },
  BASIC: { connector: 'inventory', details: { static_auth: { details: { username: 'ada', password: 'pw_2' } } } },
  OAUTH_M2M: { connector: 'ledger' },
  TRACKER_OAUTH1: { connector: 'tracker', details: { oauth_token: { access_token: 'at_2', refresh_token: 'rt_2' } } },
  WORKSPACE_DWD: { connector: 'workspace' },
  TRUSTED_IDP: { connector: 'warehouse' },
  SMART_FHIR: { connector: 'clinic', details: { oauth_token: { access_token: 'at_3', refresh_token: 'rt_3' } } },
  NO_AUTH: { connector: 'encyclopedia' },
}

export const ADA = { connector: 'mail', identifier: 'ada@example.com' }
export const TOKENS = { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['mail.read'] } }
/** The URL of the calling application to which users return. */
export const VERIFY_URL = 'https://app.example/back?tab=1'

/** Creates an account, by default of ada@example.com at mail, and returns the account object. */
export async function createAccount({ api }: TestToolmock, body: object = {}) {
  const created = await api.post('/connected_accounts', { ...ADA, ...body })
  expect(created.status, created.text).toBe(201)
  return created.body.connected_account
}

/** Creates an account, by default of ada@example.com at mail, with live tokens. */
export function createActive(mock: TestToolmock, body: object = {}, tokens: object = TOKENS) {
  return createAccount(mock, { connected_account: { authorization_details: tokens }, ...body })
}

/** The account object of get-details. */
export async function detailsOf({ api }: TestToolmock, id: string) {
  const answer = await api.get('/connected_accounts/details', { id })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.connected_account
}

/** The account object of get-auth. */
export async function authOf({ api }: TestToolmock, id: string) {
  const answer = await api.get('/connected_accounts/auth', { id })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.connected_account
}

/** Requests a magic link and returns it. */
export async function linkFor({ api }: TestToolmock, body: object): Promise<string> {
  const answer = await api.post('/connected_accounts/magic_link', body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.link
}

/** Follows a link with a decision and returns the URL of the redirect. */
export async function decide(mock: TestToolmock, link: string, query: Record<string, string> = {}): Promise<URL> {
  const answer = await mock.follow(link, { decision: 'approve', ...query })
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(302)
  return new URL(answer.headers.location!)
}

/** Approves a consent, by default of ada@example.com; returns the auth request id for verify. */
export async function pendingRequest(mock: TestToolmock, body: object = ADA): Promise<string> {
  const link = await linkFor(mock, { user_verify_url: VERIFY_URL, ...body })
  return (await decide(mock, link)).searchParams.get('auth_request_id')!
}

export function verify({ api }: TestToolmock, auth_request_id: string, identifier = ADA.identifier) {
  return api.post('/connected_accounts/user/verify', { auth_request_id, identifier })
}

/** Asserts an error answer in the common shape (G16), and returns its `ErrorInfo`. */
export function expectError(answer: Response, status: number, error_code: string) {
  const [info] = answer.body.details ?? []
  expect({ status: answer.status, error_code: info?.error_code }, answer.text).toEqual({ status, error_code })
  return info
}

/** The fields that a 400 names. */
export function fieldsOf(answer: Response): string[] {
  const violations = answer.body.details[0].validation_error_info?.field_violations ?? []
  return violations.map(({ field }: { field: string }) => field)
}
