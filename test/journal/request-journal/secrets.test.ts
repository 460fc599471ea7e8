import { expect } from 'vitest'
import { isJsonObject, type JsonValue } from '../../../src/model/domain/json.ts'
import type { Environment } from '../../../src/state/environment.ts'
import { explainEntry } from '../../../src/journal/request-journal/explain.ts'
import type { Journal } from '../../../src/journal/request-journal/journal.ts'
import { requestText } from '../../../src/journal/request-journal/view.ts'
import { CALLS } from '../../files/bundled-calls.ts'
import { authOf, createAccount, linkFor, VERIFY_URL } from '../../support/accounts.ts'
import { BASE_URL, it, type TestToolmock } from '../../support/toolmock.ts'

const IDENTIFIER = 'ada@example.com'

/** The credentials that a caller stores, by kind; every secret value is unique. */
const SENT: Readonly<Record<string, object>> = {
  oauth_token: { oauth_token: { access_token: 'sent-access-1', refresh_token: 'sent-refresh-1' } },
  static_auth: {
    static_auth: {
      details: Object.fromEntries(
        ['api_key', 'username', 'password', 'token', 'merchant_id', 'secret_key'].map((name) => [name, `sent-${name}`]),
      ),
    },
  },
  none: {},
}

const CONNECTORS = [
  ['mail', 'oauth_token', 'mail_list_messages'],
  ['weather', 'static_auth', 'weather_get_current'],
  ['helpdesk', 'static_auth', 'helpdesk_list_tickets'],
  ['code_hosting', 'static_auth', 'code_list_repositories'],
  ['payments', 'static_auth', 'payments_list_charges'],
  ['inventory', 'static_auth', 'inventory_get_item'],
  ['ledger', 'none', 'ledger_get_balance'],
  ['tracker', 'oauth_token', 'tracker_search_issues'],
  ['workspace', 'none', 'workspace_find_person'],
  ['warehouse', 'none', 'warehouse_list_tables'],
  ['clinic', 'oauth_token', 'clinic_get_patient'],
  ['encyclopedia', 'none', 'encyclopedia_search'],
] as const

it.for(CONNECTORS)('contains no secret of %s', async ([connector, kind, tool_name], { mock }) => {
  const journal = mock.app.services.journals.of(mock.environment)
  const secrets = new Set<string>(['sent-access-1', 'sent-refresh-1', mock.app.client.secret])
  const remember = (): void => {
    for (const secret of secretsOf(mock.environment)) secrets.add(secret)
  }
  const body = { connected_account: { authorization_details: SENT[kind] } }
  const { id } = await createAccount(mock, { connector, identifier: IDENTIFIER, ...body })
  remember()
  const execution = { connected_account_id: id, tool_name, tool_input: CALLS[tool_name] }
  await mock.api.post('/execute_tool', execution)
  for (const code of await connectByHand(mock, connector)) secrets.add(code)
  remember()
  expect((await mock.api.post('/execute_tool', execution)).status).toBe(200)
  await authOf(mock, id)
  await mock.api.put('/connected_accounts', { id, ...body })
  mock.time.advance('2h')
  await mock.api.post('/execute_tool', execution)
  await mock.http('post', '/oauth/token').type('json').send('{"client_secret": "sent-malformed"')
  await mock.api.post('/connected_accounts', { connector: 1, authorization_details: SENT[kind] })
  remember()

  // The stored entries contain the secrets: the dump masks them.
  const raw = rawOf(journal)
  expect([...secrets].filter((secret) => raw.includes(secret)).length).toBeGreaterThan(1)
  const dump = dumpOf(journal, mock.environment)
  const leaked = [...secrets, 'sent-malformed'].filter((secret) => secret.length > 3 && dump.includes(secret))
  expect(leaked).toEqual([])
  expect(dump).toContain(IDENTIFIER)
})

/** Follows a new link page by page, as a browser does, and verifies; returns the codes on the way. */
async function connectByHand(mock: TestToolmock, connector: string): Promise<string[]> {
  const link = await linkFor(mock, { connector, identifier: IDENTIFIER, user_verify_url: VERIFY_URL })
  const first = await mock.follow(link)
  const codes: string[] = []
  let location = first.headers['location']
  if (location !== undefined) {
    const { pathname, search } = new URL(location)
    await mock.follow(location)
    const form = `${search.slice(1)}&decision=approve&person=${encodeURIComponent(IDENTIFIER)}`
    const decided = await mock.http('post', pathname).type('form').send(form)
    const callback = new URL(decided.headers['location'] ?? '')
    codes.push(callback.searchParams.get('code') ?? '')
    location = (await mock.follow(callback.href)).headers['location']
  } else {
    const names = [...first.text.matchAll(/ name="(\w+)"/g)].map(([, name = '']) => name)
    const form = new URLSearchParams(names.map((name): [string, string] => [name, `typed-${name}`]))
    const sent = await mock.http('post', link.slice(BASE_URL.length)).type('form').send(form.toString())
    location = sent.headers['location']
  }
  const auth_request_id = new URL(location ?? '').searchParams.get('auth_request_id')
  const verified = await mock.api.post('/connected_accounts/user/verify', { auth_request_id, identifier: IDENTIFIER })
  expect(verified.status, verified.text).toBe(200)
  return codes
}

/** Every secret of the model. */
function secretsOf({ model: { tables } }: Environment): string[] {
  const fields = new Set(['access_token', 'refresh_token', 'access_key_id', 'secret_access_key', 'session_token'])
  const accounts = [...tables.accounts.values()].flatMap(({ credentials, pending }) =>
    [credentials, pending?.credentials ?? {}].flatMap((each) =>
      leaves(JSON.parse(JSON.stringify(each)) as JsonValue, fields),
    ),
  )
  const grants = [...tables.grants.values()].flatMap(({ secret, refresh_token }) => [secret, refresh_token])
  return [...accounts, ...grants, ...[...tables.bearer_tokens.values()].map(({ id }) => id)].filter(
    (text) => text !== '',
  )
}

function leaves(value: JsonValue, fields: ReadonlySet<string>, inside = false): string[] {
  if (typeof value === 'string') return inside ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => leaves(item, fields, inside))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) =>
    leaves(item, fields, inside || key === 'details' || fields.has(key)),
  )
}

function rawOf(journal: Journal): string {
  return journal
    .entries()
    .map((entry) => [...entry.requestHeaders, requestText(entry), entry.responseBody].join())
    .join()
}

/** Every output of the journal. */
function dumpOf(journal: Journal, environment: Environment): string {
  const entries = journal.query()
  expect(entries.length).toBeGreaterThan(8)
  const explanations = entries.map(({ id }) => explainEntry(journal, id, environment))
  const verdict = journal.verify({ operation: 'nothing_like_it', body: { client_secret: 'x' } })
  return JSON.stringify([entries, explanations, verdict])
}
