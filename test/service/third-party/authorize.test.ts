import express from 'express'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import type { Connector } from '../../../src/model/domain/connector.ts'
import type { Scenario, ScenarioRule } from '../../../src/model/domain/scenario.ts'
import { type BundledScenarios, ScenarioRegistry } from '../../../src/scenarios/environment-scenarios.ts'
import { SILENT } from '../../../src/servers/http/log.ts'
import { pageRoute } from '../../../src/servers/magic-links/routes.ts'
import { Pauses } from '../../../src/scenarios/pauses.ts'
import { authorizeRoutes } from '../../../src/service/third-party/authorize.ts'
import { authorizeUrl, decisionUrl } from '../../../src/service/third-party/consent.ts'
import { unreadEntries } from '../../support/entries.ts'
import { type TestEnvironment, testEnvironment } from '../../support/environment.ts'
import { accountOf, connectorOf } from './fixture.ts'

const BASE = 'http://127.0.0.1:8665'
const ASKED = { state: 'st&te=1', redirectUri: `${BASE}/connect/callback`, scopes: ['mail.read', 'mail.send'] }

function site(changes: Partial<Connector> = {}, rules: readonly Partial<ScenarioRule>[] = []) {
  const scenarios = new ScenarioRegistry({} as BundledScenarios)
  scenarios.startWith([scenarioOf(rules)])
  const environment = testEnvironment()
  const connector = connectorOf('OAUTH', { display_name: 'Mail <b>', people: ['ada@example.com'], ...changes })
  environment.model.transact(() => environment.model.tables.connectors.put({ ...connector, id: connector.connector }))
  const app = express()
  const services = {
    registry: {
      environment: (name: string) => (name === 'default' ? environment : undefined),
      byOauthState: { get: (state: string) => ({ link: { account_id: state } }) },
    },
    scenarios,
    pauses: new Pauses(),
    baseUrl: BASE,
  }
  const page = pageRoute({ entries: unreadEntries(), log: SILENT })
  app.use('/third-party', authorizeRoutes(services as unknown as Parameters<typeof authorizeRoutes>[0], page))
  const path = authorizeUrl('', environment, connector, { ...ASKED, loginHint: '"><script>' })
  return { environment, connector, agent: supertest(app), path }
}

function scenarioOf(rules: readonly Partial<ScenarioRule>[]): Scenario {
  const rule = {
    name: 'r',
    at: 'consent',
    on: {},
    when: {},
    do: [],
    then: null,
    must_fire: true,
    off_spec: false,
  } as const
  return { name: 's', description: '', initial: '', rules: rules.map((fields) => ({ ...rule, ...fields })) }
}

function codeOf(location: string, environment: TestEnvironment) {
  const url = new URL(location)
  return { url, row: environment.model.tables.authorization_codes.get(url.searchParams.get('code') ?? '') }
}

const form = (path: string, more: Record<string, string>) => {
  const fields = new URLSearchParams(path.slice(path.indexOf('?')))
  for (const [name, value] of Object.entries(more)) fields.set(name, value)
  return fields.toString()
}

describe('GET /third-party/{connector}/authorize', () => {
  it('shows the application, the scopes and the people, with everything escaped', async () => {
    const { agent, path } = site()
    const page = await agent.get(path).expect(200).expect('Content-Type', /html/)
    for (const text of [
      'mail.read',
      'mail.send',
      'ada@example.com',
      'toolmock-default',
      'Mail &lt;b&gt;',
      '&lt;script&gt;',
    ]) {
      expect(page.text).toContain(text)
    }
    expect(page.text).not.toContain('<script')
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(page.headers['cache-control']).toBe('no-store')
    expect(page.headers['referrer-policy']).toBe('no-referrer')
  })

  it.each([
    ['an application that is not registered', 'client_id', 'toolmock-other', 400],
    ['no application', 'client_id', '', 400],
    ['a redirect to elsewhere', 'redirect_uri', 'https://evil.example/connect/callback', 400],
    ['no redirect', 'redirect_uri', '', 400],
  ])('answers a page and no redirect to %s', async (_title, name, value, status) => {
    const { agent, path } = site()
    const answer = await agent.get(`/third-party/app/authorize?${form(path, { [name]: value })}`).expect(status)
    expect(answer.headers['content-type']).toMatch(/html/)
    expect(answer.headers['location']).toBeUndefined()
  })

  it('answers 400 for a repeated parameter', async () => {
    const { agent, path } = site()
    await agent.get(`${path}&state=other`).expect(400)
  })

  it.each(['nobody', '__proto__', '%3Cb%3E'])('answers 404 to the connector %s', async (name) => {
    const { agent, path } = site()
    const answer = await agent.get(path.replace('/app/', `/${name}/`)).expect(404)
    expect(answer.text).not.toContain('<b>')
  })

  it('answers 404 for a connector without consent', async () => {
    const { agent, path } = site({ authorization_type: 'API_KEY' })
    await agent.get(path).expect(404)
  })

  it('redirects with an error for any response_type but code', async () => {
    const { agent, path } = site()
    const answer = await agent.get(path.replace('response_type=code', 'response_type=token')).expect(303)
    expect(answer.headers['location']).toBe(`${ASKED.redirectUri}?error=unsupported_response_type&state=st%26te%3D1`)
  })
})

describe('POST /third-party/{connector}/authorize', () => {
  const send = ({ agent, path }: ReturnType<typeof site>, more: Record<string, string>) =>
    agent.post('/third-party/app/authorize').type('form').send(form(path, more))

  it('approve: redirects with a code for the person who signs in, and the state', async () => {
    const at = site()
    const answer = await send(at, { decision: 'approve', person: 'ada@example.com' }).expect(303)
    const { url, row } = codeOf(answer.headers['location'] ?? '', at.environment)
    expect(url.searchParams.get('state')).toBe(ASKED.state)
    expect(row).toMatchObject({
      connector: 'app',
      person: 'ada@example.com',
      scopes: ASKED.scopes,
      redirect_uri: ASKED.redirectUri,
    })
  })

  it.each([
    ['no boxes', undefined, ASKED.scopes],
    ['some of the boxes', ['', 'mail.send'], ['mail.send']],
    ['a scope that nobody asked for', ['', 'mail.read', 'admin'], ['mail.read']],
  ])('approve: grants what was chosen of what is asked for, with %s', async (_name, granted, scopes) => {
    const { agent, path, environment } = site()
    const fields = new URLSearchParams(form(path, { decision: 'approve', person: 'ada@example.com' }))
    for (const scope of granted ?? []) fields.append('granted', scope)
    const answer = await agent.post('/third-party/app/authorize').type('form').send(fields.toString()).expect(303)
    expect(codeOf(answer.headers['location'] ?? '', environment).row?.scopes).toEqual(scopes)
  })

  it('approve: shows the page again when no box is ticked', async () => {
    const at = site()
    const answer = await send(at, { decision: 'approve', person: 'ada@example.com', granted: '' }).expect(400)
    expect(answer.text).toContain('Allow something, or deny the request.')
    expect(at.environment.model.tables.authorization_codes.size).toBe(0)
    await send(at, { decision: 'deny', granted: '' }).expect(303)
  })

  it('approve: accepts another person by name', async () => {
    const at = site()
    const answer = await send(at, { decision: 'approve', person: '', somebody_else: 'eve@example.com' }).expect(303)
    expect(codeOf(answer.headers['location'] ?? '', at.environment).row?.person).toBe('eve@example.com')
  })

  it('deny: redirects with access_denied and the state, and issues no code', async () => {
    const at = site()
    const answer = await send(at, { decision: 'deny' }).expect(303)
    const { searchParams } = new URL(answer.headers['location'] ?? '')
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The request was denied.',
      state: ASKED.state,
    })
    expect(at.environment.model.tables.authorization_codes.size).toBe(0)
  })

  it.each([
    ['nobody', { decision: 'approve', person: '', somebody_else: '  ' }],
    ['no decision', { person: 'ada@example.com' }],
  ])('shows the page again for %s', async (_title, fields) => {
    const answer = await send(site(), fields).expect(400)
    expect(answer.text).toContain('class="problem"')
  })

  it('redirects with the error of a scenario for its account, and issues no code', async () => {
    const error = { error: 'server_error', error_description: 'Try later.' }
    const respond = { kind: 'respond' as const, params: { headers: {}, body: error } }
    const at = site({}, [{ on: { account: { identifier: 'ada@*' }, connector: 'app' }, do: [respond] }])
    at.environment.model.transact(() => {
      const accounts = [
        { id: 'ca_ada', identifier: 'ada@example.com', sequence: 1 },
        { id: 'ca_eve', identifier: 'eve@example.com', sequence: 2 },
      ]
      for (const account of accounts) at.environment.model.tables.accounts.put(accountOf(at.connector, {}, account))
    })
    const answered = async (state: string) => {
      const answer = await send(at, { decision: 'approve', person: 'ada@example.com', state }).expect(303)
      return Object.fromEntries(new URL(answer.headers['location'] ?? '').searchParams)
    }
    expect(await answered('ca_ada')).toEqual({ ...error, state: 'ca_ada' })
    expect(at.environment.model.tables.authorization_codes.size).toBe(0)
    expect(await answered('ca_eve')).toEqual({ code: expect.stringMatching(/^code_./), state: 'ca_eve' })
    expect(await answered('ca_nobody')).toHaveProperty('code')
  })

  it('checks the request again, because the form can have any content', async () => {
    await send(site(), { decision: 'approve', person: 'a', redirect_uri: 'http://evil.example/' }).expect(400)
  })
})

it('authorizeUrl has the connector, the application and the scopes, and a login hint only when there is one', () => {
  const { environment, connector } = site()
  const url = new URL(authorizeUrl(BASE, environment, { ...connector, connector: 'a b/c' }, ASKED))
  expect(url.pathname).toBe('/third-party/a%20b%2Fc/authorize')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: 'toolmock-default',
    redirect_uri: ASKED.redirectUri,
    response_type: 'code',
    scope: 'mail.read mail.send',
    state: ASKED.state,
  })
  const hinted = authorizeUrl(BASE, environment, connector, { ...ASKED, loginHint: 'ada@example.com' })
  expect(new URL(hinted).searchParams.get('login_hint')).toBe('ada@example.com')
})

it('decide issues another code each time', () => {
  const { environment, connector } = site()
  const answer = { ...ASKED, decision: 'approve', person: 'a' } as const
  const codes = [1, 2].map(() => new URL(decisionUrl(environment, connector, answer)).searchParams.get('code'))
  expect(new Set(codes).size).toBe(2)
  expect(environment.model.tables.authorization_codes.size).toBe(2)
})

it('decide accepts any person without a browser', () => {
  const { environment, connector } = site()
  const url = decisionUrl(environment, connector, { ...ASKED, decision: 'approve', person: 'nobody@else.example' })
  expect(codeOf(url, environment).row?.person).toBe('nobody@else.example')
})
