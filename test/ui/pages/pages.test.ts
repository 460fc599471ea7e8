import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { CredentialField } from '../../../src/model/domain/connector.ts'
import { continuePage } from '../../../src/servers/magic-links/pages.ts'
import { consentDecision, consentPage, scopeWords } from '../../../src/ui/pages/consent-page.ts'
import { credentialsPage } from '../../../src/ui/pages/credentials-page.ts'
import { noticePage } from '../../../src/ui/pages/layout.ts'
import { PAGE_HEADERS } from '../../../src/ui/pages/page-headers.ts'

const hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

const people = ['ada@example.com', 'grace@example.com']
const connector = { display_name: 'Mail', description: 'Sends and reads messages.', people }
const parameters = { client_id: 'toolmock', state: 'opaque' }
const consent = {
  connector,
  scopes: ['mail.read', 'mail.send'],
  parameters: { ...parameters, login_hint: 'grace@example.com' },
}
const SCOPES: readonly (readonly [scope: string, words: string])[] = [
  ['mail.read', 'Read mail'],
  ['mail.send', 'Send mail'],
  ['calendar.write', 'Read and change calendar'],
  ['read', 'Read everything'],
  ['write:issues', 'Read and change issues'],
  ['patient/Observation.read', 'Read Observation'],
  ['https://example.com/auth/drive.readonly', 'Read drive'],
  ['offline_access', 'Keep access while you are away'],
  ['user_profile', 'Use user profile'],
  ['constructor', 'Use constructor'],
  ['', 'Use everything'],
]

it.each(SCOPES)('the words of a scope: %s: %s', (scope, words) => {
  expect(scopeWords(scope)).toBe(words)
})

const formOf = (fields: CredentialField[], name: string, description = '') => ({
  connector: { display_name: name, description, credentials: { fields, send: { headers: {}, query: {} } } },
  account: { identifier: name },
})
const issues = formOf(
  [
    { name: 'site', label: 'Site', secret: false, required: true, hint: 'The part before the dot.' },
    { name: 'api_key', label: 'API key', secret: true, required: true, hint: '' },
    { name: 'note', label: 'Note', secret: false, required: false, hint: '' },
  ],
  'Issues',
)

describe('consentPage', () => {
  it('lists scopes and people, preselects the account, and carries the hidden fields', () => {
    const page = consentPage(consent).toString()
    expect(page).toContain('<span>Read mail <code>mail.read</code></span>')
    expect(page).toMatch(/name="granted" value="mail.read" checked/)
    expect(page).toContain('<input type="hidden" name="state" value="opaque" />')
    expect(page.match(/value="grace@example.com" checked/g)).toHaveLength(1)
    expect(page).not.toContain('value="ada@example.com" checked')
    expect(page).toMatch(/name="decision" value="approve"/)
    expect(page).toMatch(/name="decision" value="deny"/)
  })

  it('preselects who signs in by default, and offers the account as another person, when the account is not one of the people', () => {
    const page = consentPage({
      ...consent,
      parameters: { ...parameters, login_hint: 'someone@example.com' },
    }).toString()
    expect(page).toContain('value="ada@example.com" checked')
    expect(page).not.toMatch(/id="other-person" checked/)
    expect(page).toMatch(/name="somebody_else"\s+value="someone@example.com"/)
  })

  it('preselects the first person when no account is named, and names the connector once', () => {
    const page = consentPage({ ...consent, parameters, facts: ['environment worker-2', 'request req_1'] })
    expect(page.toString()).toContain('value="ada@example.com" checked')
    expect(page.toString().match(/Mail/g)).toHaveLength(2)
    expect(page.toString()).toContain('environment worker-2 · request req_1')
  })

  it('has a name field when the connector has no people', () => {
    expect(consentPage({ ...consent, connector: { ...connector, people: [] } }).toString()).toMatch(
      /id="other-person" checked/,
    )
  })

  it('ticks the scopes that were chosen, and shows beside them what is wrong with them', () => {
    const page = consentPage({ ...consent, granted: [], problem: 'Allow something.', isOfScopes: true }).toString()
    expect(page).toContain('<p class="problem" id="scopes-problem">Allow something.</p>')
    expect(page).toMatch(/name="granted" value="mail.read"\s+\/>/)
    expect(page).not.toContain('person-problem')
  })

  it('shows the problem beside the field', () => {
    const page = consentPage({ ...consent, problem: 'Say who signs in.' }).toString()
    expect(page).toContain('<p class="problem" id="person-problem">Say who signs in.</p>')
    expect(page).toMatch(/id="other-person" checked/)
  })
})

it.each([
  ['person=ada&somebody_else=eve&decision=approve', { decision: 'approve', person: 'ada' }],
  ['person=&somebody_else=+eve+&decision=deny', { decision: 'deny', person: 'eve' }],
  ['person=&somebody_else=++&decision=approve', { decision: 'approve' }],
  ['decision=yes', {}],
  ['granted=&granted=a&granted=b', { granted: ['', 'a', 'b'] }],
  ['granted=', { granted: [''] }],
  ['', {}],
])('consentAnswer reads %s', (form, answer) => {
  expect(consentDecision(new URLSearchParams(form))).toEqual(answer)
})

it('credentialsPage labels each field and hides what is typed into secret ones', () => {
  const page = credentialsPage(issues, []).toString()
  expect(page).toMatch(
    /<label for="field-1">API key<\/label>\s*<input\s+id="field-1"\s+name="api_key"\s+type="password"/,
  )
  expect(page).toMatch(/aria-describedby="field-0-hint"/)
  expect(page).toContain('Note <span class="quiet">(optional)</span>')
  expect(page).toContain('formaction="?decision=deny"')
})

it('credentialsPage keeps what was entered but for secrets, and shows each problem beside its field', () => {
  const values = new Map([
    ['site', 'acme'],
    ['api_key', 'k-123'],
  ])
  const problems = new Map([['api_key', 'API key is too long.']])
  const page = credentialsPage(issues, [], { values, problems }).toString()
  expect(page).toMatch(/name="site"\s+type="text"\s+value="acme"/)
  expect(page).not.toContain('k-123')
  expect(page).toContain('<p class="problem" id="field-1-problem">API key is too long.</p>')
  expect(page).toContain('<title>Connect Issues: please check</title>')
})

const withoutCredentials = (name: string) => ({
  account: { identifier: name },
  connector: { display_name: name, authorization_type: 'NO_AUTH' as const },
})

it('continuePage offers a button that sends to the address of the page', () => {
  expect(continuePage(withoutCredentials('ada'), []).toString()).toContain('method="post" action="?"')
})

const everyPage = [
  consentPage({
    connector: { display_name: hostile, description: hostile, people: [hostile] },
    scopes: [hostile],
    parameters: { client_id: hostile, login_hint: hostile, [hostile]: hostile },
    problem: hostile,
  }),
  credentialsPage(
    formOf([{ name: hostile, label: hostile, secret: false, required: false, hint: hostile }], hostile, hostile),
    [hostile],
    { values: new Map([[hostile, hostile]]), problems: new Map([[hostile, hostile]]) },
  ),
  continuePage(withoutCredentials(hostile), [hostile]),
  noticePage({ title: hostile, text: [hostile], tone: 'error' }),
].map(String)

it.each(everyPage)('every page shows markup in identifiers as text (page %#)', (page) => {
  expect(page).not.toContain('<script')
  expect(page).not.toContain('<img')
  expect(page).toContain('&lt;script&gt;')
})

it.each(everyPage)('every page is self-contained, titled and in a language (page %#)', (page) => {
  expect(page).toMatch(/^<!doctype html>\s*<html lang="en">/)
  expect(page.match(/<h1>/g)).toHaveLength(1)
  expect(page).toMatch(/<title>[^<]+<\/title>/)
  expect(page).not.toMatch(/(src|href)="(?!data:,|\/)/)
})

it.each(everyPage)('every page has exactly the style that its policy allows (page %#)', (page) => {
  const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(PAGE_HEADERS['Content-Security-Policy']).toContain(`style-src 'sha256-${hash}'`)
})
