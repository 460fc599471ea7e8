import { describe, expect } from 'vitest'
import { ERROR_CATALOGUE } from '../../../src/model/domain/errors.ts'
import { type ExplanationDocument, explainEntry } from '../../../src/journal/request-journal/explain.ts'
import { REMEDIES } from '../../../src/journal/request-journal/remedies.ts'
import { Journal } from '../../../src/journal/request-journal/journal.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { applyDueEvents } from '../../../src/state/account-events.ts'
import { restoreSnapshot, takeSnapshot } from '../../../src/state/snapshots.ts'
import { ADA, createAccount, createActive, linkFor, pendingRequest, verify } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { recorded } from './recorded.ts'

const LIST = { tool_name: 'mail_list_messages', tool_input: {} }

function explainLast({ app, environment }: TestToolmock): ExplanationDocument {
  const journal = app.services.journals.of(environment)
  const explanation = explainEntry(journal, journal.query().at(-1)?.id ?? '', environment)
  if (!explanation) throw new Error('the journal is empty')
  return explanation
}

const textOf = ({ cause }: ExplanationDocument): string => cause.map(({ text }) => text).join('')

describe('explaining an answer', () => {
  it('names the status of the account, the event that led to it, and what to do', async ({ mock }) => {
    const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at_1' } })
    mock.time.advance('2h')
    await mock.api.post('/execute_tool', { connected_account_id: id, ...LIST })
    const explanation = explainLast(mock)
    expect(explanation).toMatchObject({
      at: '2026-01-01T02:00:00.000Z',
      cause: [
        { text: 'Account ' },
        { ref: 'account', id, text: `${id} ("ada@example.com" at mail)` },
        { text: ' ' },
        { text: 'was EXPIRED' },
        { text: '.' },
      ],
      because: 'Tools run only with ACTIVE accounts (3.1, G44, G46).',
      actions: [
        { action: 'create_link', target: id },
        { action: 'store_credentials', target: id },
      ],
    })
    expect(explanation.text).toContain('It went from ACTIVE to EXPIRED at 2026-01-01T01:00:00.000Z by token_expired')
    expect(explanation.text).toContain(
      'had expired at 2026-01-01T01:00:00.000Z; the clock said 2026-01-01T02:00:00.000Z',
    )
  })

  it('has a line for each field of an accepted request that has no effect', async ({ mock }) => {
    const body = { connector: 'mail', identifier: ADA.identifier, user_verify_ulr: 'http://localhost:3000/verify' }
    await mock.api.post('/connected_accounts/magic_link', body)
    expect(explainLast(mock).text).toContain(
      '\nuser_verify_ulr is not a field of create_magic_link: did you mean user_verify_url?\n',
    )
  })

  it('has a line for each call to a third party, also for two that took equally long', async ({ mock }) => {
    await createActive(mock, {}, { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } })
    await mock.api.post('/execute_tool', { connector: 'mail', identifier: 'ada@example.com', ...LIST })
    const journal = mock.app.services.journals.of(mock.environment)
    const entry = journal.entries().at(-1)!
    entry.trace.upstream = [...entry.trace.upstream, ...entry.trace.upstream]
    expect(explainLast(mock).facts.filter((fact) => fact.startsWith('The call to the API'))).toHaveLength(2)
  })

  it('names the request that consumed an auth request, and the redirect that carried its id', async ({ mock }) => {
    await createAccount(mock)
    const request = await pendingRequest(mock)
    const first = await verify(mock, request)
    await verify(mock, request)
    const explanation = explainLast(mock)
    expect(explanation.text).toContain(
      `It was consumed by POST /api/v1/connected_accounts/user/verify (${first.headers['x-request-id']})`,
    )
    expect(explanation.text).toContain('The application received it in the redirect of GET /magic/')
  })

  it('distinguishes an expired auth request from an unknown one', async ({ mock }) => {
    await createAccount(mock)
    const request = await pendingRequest(mock)
    mock.time.advance('11m')
    await verify(mock, request)
    expect(explainLast(mock).text).toContain(
      'It expired at 2026-01-01T00:10:00.000Z; the clock said 2026-01-01T00:11:00.000Z.',
    )
    await verify(mock, 'AAAA')
    expect(explainLast(mock).text).toContain('No consent in this environment created this auth_request_id.')
  })

  it('names the deletion of the account of an auth request, also once the request would have expired', async ({
    mock,
  }) => {
    const { id } = await createAccount(mock)
    const request = await pendingRequest(mock)
    const deleted = await mock.api.post('/connected_accounts:delete', { id })
    await verify(mock, request)
    const byDeletion = `It ended when its account was deleted by POST /api/v1/connected_accounts:delete (${deleted.headers['x-request-id']})`
    expect(explainLast(mock).text).toContain(byDeletion)
    expect(explainLast(mock).text).not.toContain('It is pending')

    mock.time.advance('11m')
    applyDueEvents(mock.environment, new RequestTrace())
    expect(explainLast(mock).text).toContain(byDeletion)
  })

  it('says that an auth request is gone whose consent the journal has, where a snapshot was restored', async ({
    mock,
  }) => {
    await createAccount(mock)
    const snapshot = takeSnapshot(mock.environment, 'before')
    const request = await pendingRequest(mock)
    restoreSnapshot(mock.environment, snapshot)
    await verify(mock, request)
    const { text } = explainLast(mock)
    expect(text).toContain('The state no longer has it')
    expect(text).not.toContain('No consent in this environment')
    expect(text).toContain('The application received it in the redirect of GET /magic/')
  })

  it('shows both identifiers of a mismatch', async ({ mock }) => {
    await createAccount(mock)
    await verify(mock, await pendingRequest(mock), 'eve@example.com')
    expect(explainLast(mock).text).toContain(
      'The identifier "eve@example.com" is not "ada@example.com", for which the magic link was created.',
    )
  })

  it('reads requests and answers in the words of the environment (G48)', () => {
    const vocabulary = { identifier: 'user_name', auth_request_id: 'flow', link: 'href', resource_name: 'what' }
    return withToolmock({ seed: { settings: { vocabulary } } }, async (mock) => {
      const made = await mock.api.post('/connected_accounts', { connector: 'mail', user_name: 'ada@example.com' })
      expect(made.status).toBe(201)
      await mock.api.get('/connected_accounts/details', { connector: 'mail', user_name: 'adda@example.com' })
      expect(explainLast(mock).text).toContain('Send it again with identifier "ada@example.com".')
      await mock.api.post('/connected_accounts', { connector: 'mail', user_name: 'ada@example.com' })
      expect(explainLast(mock).text).toContain(`was created by POST /api/v1/connected_accounts (`)

      const asked = { connector: 'mail', user_name: 'ada@example.com', user_verify_url: 'https://app.example/back' }
      const { href } = (await mock.api.post('/connected_accounts/magic_link', asked)).body as { href: string }
      const back = await mock.follow(href, { decision: 'approve' })
      const flow = new URL(back.headers['location'] ?? '').searchParams.get('flow') ?? ''
      await mock.api.post('/connected_accounts/user/verify', { flow, user_name: 'eve@example.com' })
      expect(explainLast(mock).text).toContain(
        'The identifier "eve@example.com" is not "ada@example.com", for which the magic link was created.',
      )
      const right = { flow, user_name: 'ada@example.com' }
      await mock.api.post('/connected_accounts/user/verify', right)
      await mock.api.post('/connected_accounts/user/verify', right)
      expect(explainLast(mock).text).toContain('It was consumed by POST /api/v1/connected_accounts/user/verify (')
      expect(explainLast(mock).text).toContain('The application received it in the redirect of GET /magic/')
    })
  })

  it('names the request that issued a bearer token, and when it expired', async ({ mock }) => {
    mock.time.advance('25h')
    await mock.api.get('/connected_accounts')
    const explanation = explainLast(mock)
    expect(textOf(explanation)).toMatch(/^The access token expired at 2026-01-01T23:59:59.000Z/)
    expect(explanation.text).toMatch(/It was issued by POST \/oauth\/token \(req_\w+\) at 2026-01-01T00:00:00.000Z/)
  })

  it('names the request that deleted an account', async ({ mock }) => {
    const { id } = await createAccount(mock)
    await mock.api.post('/connected_accounts:delete', { id })
    await mock.api.get('/connected_accounts/details', { id })
    expect(explainLast(mock).text).toContain('It was deleted by POST /api/v1/connected_accounts:delete')
  })

  it('names the scope in which the identifier exists, and the nearest identifier', async ({ mock }) => {
    const { id } = await createAccount(mock, { user_id: 'u1' })
    await mock.api.get('/connected_accounts/details', { ...ADA, user_id: 'u2' })
    expect(explainLast(mock).text).toContain(
      `Send it again with id "${id}": "ada@example.com" at mail, organization_id "", user_id "u1".`,
    )
    await mock.api.get('/connected_accounts/details', { ...ADA, identifier: 'adda@example.com' })
    expect(explainLast(mock).text).toContain('Send it again with identifier "ada@example.com".')
  })

  it('names the existing account of a conflict, and the request that created it', async ({ mock }) => {
    const { id } = await createAccount(mock)
    await mock.api.post('/connected_accounts', ADA)
    expect(explainLast(mock).text).toContain(
      `The existing account ${id} was created by POST /api/v1/connected_accounts (`,
    )
  })

  it('names the answer of the third party', async ({ mock }) => {
    const { id } = await createActive(mock)
    const call = {
      connected_account_id: id,
      tool_name: 'mail_get_message',
      tool_input: { message_id: 'msg_deleted_1' },
    }
    await mock.api.post('/execute_tool', call)
    const explanation = explainLast(mock)
    expect(textOf(explanation)).toMatch(/^The third party mail answered 404 to GET http/)
    expect(explanation.text).toMatch(/The call to the API of the third party, GET http:\S+, was answered with 404/)
  })

  it('suggests the tool, the connector and the path that were probably meant', async ({ mock }) => {
    const { id } = await createActive(mock)
    await mock.api.post('/execute_tool', { connected_account_id: id, tool_name: 'mail_list_mesages' })
    const meant = () => explainLast(mock).actions.map(({ action, value }) => [action, value])
    expect(meant()).toEqual([['send_again_with', 'mail_list_messages']])
    await mock.api.post('/connected_accounts', { ...ADA, connector: 'maill' })
    expect(meant()).toEqual([['send_again_with', 'mail']])
    await mock.api.get('/conections')
    expect(meant()).toEqual([['send_again_as', 'GET /api/v1/connections']])
    await mock.api.get('/connections', { connecter: 'mail' })
    expect(explainLast(mock).actions).toEqual([])
    await mock.api.get('/connected_accounts', { pageSize: '5' })
    expect(meant()).toEqual([['rename_field', 'page_size']])
    expect(explainLast(mock).text).toContain('\n→ Send it again with page_size in place of pageSize.')
  })

  it('names the request that created a link, and when the link expired', async ({ mock }) => {
    const link = await linkFor(mock, ADA)
    mock.time.advance('16m')
    await mock.follow(link)
    const explanation = explainLast(mock)
    expect(explanation.because).toBe('The link has expired (2.3, G28).')
    expect(explanation.text).toContain('The link was created by POST /api/v1/connected_accounts/magic_link (')
    expect(explanation.text).toContain(
      'It is valid until 2026-01-01T00:15:00.000Z; the clock said 2026-01-01T00:16:00.000Z.',
    )
  })

  it('names every violation of a request that broke the contract', async ({ mock }) => {
    await mock.api.post('/connected_accounts', { connector: 1 })
    const explanation = explainLast(mock)
    expect(textOf(explanation)).toBe('identifier is required.')
    expect(explanation.text).toContain('violation: connector must be a string; found 1')
  })

  it('names the token refresh that a success needed', async ({ mock }) => {
    const { id } = await createActive(mock)
    mock.time.advance('2h')
    await mock.api.post('/execute_tool', { connected_account_id: id, ...LIST })
    const explanation = explainLast(mock)
    expect(textOf(explanation)).toBe('It succeeded after a refresh of the account’s token.')
    expect(explanation.text).toContain('The call to the token endpoint (refresh_token) of the third party')
  })
})

describe('explaining an entry without its environment', () => {
  const journal = (fields: Parameters<typeof recorded>[0]): Journal => {
    const made = new Journal({ capacity: 10, maxBytes: 1e6 })
    made.append(recorded(fields))
    return made
  }

  it.each(Object.entries(ERROR_CATALOGUE))(
    'explains %s even when the environment was removed',
    (errorCode, { status }) => {
      const explanation = explainEntry(journal({ errorCode, status }), 'req_1', undefined)
      expect(REMEDIES.get(errorCode)?.advice.length).toBeGreaterThan(0)
      expect(explanation?.cause.length).toBeGreaterThan(0)
      expect(explanation?.text).toContain('\n→ ')
      // Its reader has no repository.
      expect(explanation?.text).not.toMatch(/\b(?:spec|docs|src)\//)
    },
  )

  it.each([null, 'ACCOUNT_NOT_FOUND'])('says why an answer (%s) was not sent', (errorCode) => {
    const failure = 'its deadline of 300 ms passed'
    expect(explainEntry(journal({ status: 0, errorCode, failure }), 'req_1', undefined)).toMatchObject({
      text: expect.stringMatching(
        /^POST \/api\/v1\/execute_tool \(execute_tool\) by client test_client got no answer\.\nNo answer was sent: its deadline of 300 ms passed\./,
      ),
    })
  })

  it('names the rule of the scenario that answered', () => {
    const entry = recorded({ status: 429, errorCode: 'TOOL_ERROR' })
    const sentence = 'answers 429 the third time'
    entry.trace.fired(
      { scenario: 'slow-down', rule: 'too many', at: 'service', sentence, do: [], off_spec: false, matched: 1, of: 2 },
      true,
    )
    const made = new Journal({ capacity: 10, maxBytes: 1e6 })
    made.append(entry)
    const explanation = explainEntry(made, 'req_1', undefined)!
    expect(textOf(explanation)).toBe('Scenario slow-down answered 429, call 1 of 2 (rule too many).')
    expect(explanation.cause).toContainEqual({ ref: 'scenario', id: 'slow-down', text: 'slow-down' })
  })

  it('falls back to the message of the answer for an unknown error code', () => {
    const responseBody = JSON.stringify({ code: 3, message: 'no such luck' })
    expect(textOf(explainEntry(journal({ status: 418, errorCode: 'TEAPOT', responseBody }), 'req_1', undefined)!)).toBe(
      'No such luck.',
    )
  })

  it('is undefined for an unknown entry', () => {
    expect(explainEntry(journal({}), 'req_2', undefined)).toBeUndefined()
  })
})
