import express, { type Express } from 'express'
import type { Account } from '../../src/domain/account.ts'
import { type AuthorizationType, TRAITS } from '../../src/domain/authorization-type.ts'
import { bareConnector } from '../../src/domain/connector-defaults.ts'
import type { Connector } from '../../src/domain/connector.ts'
import { instant } from '../../src/domain/instant.ts'
import type { AuthRequest, MagicLink } from '../../src/domain/magic-link.ts'
import type { ThirdParty, TokenAnswer } from '../../src/domain/ports.ts'
import { RequestTrace, type Transition } from '../../src/domain/request-trace.ts'
import type { Settings } from '../../src/domain/settings.ts'
import type { Authorizations, ConnectContext, Flow } from '../../src/magic-links/ports.ts'
import { connectRoutes } from '../../src/magic-links/routes.ts'
import { applyDueEvents } from '../../src/operations/due.ts'
import { testEnvironment, type TestEnvironment } from '../support/environment.ts'

export const BASE = 'http://mock.example'
export const VERIFY = 'http://app.example/back?tab=1#top'

export interface RegistryOptions {
  type?: AuthorizationType
  connector?: Partial<Connector>
  account?: Partial<Account>
  link?: Partial<MagicLink>
  settings?: Partial<Settings>
  /** What the third party's token endpoint answers; tokens named after the code by default. */
  answer?: (code: string) => TokenAnswer | Promise<TokenAnswer>
  /** When data is on disk; at once by default. */
  durable?: () => Promise<void>
}

/** One environment with one connector, account and link, and a third party that answers as the test says. */
export interface EnvironmentRegistry {
  environment: TestEnvironment
  app: Express
  flow: Flow
  events: () => readonly Transition[]
  accepted: unknown[]
  account: () => Account
  link: () => MagicLink
  requests: () => AuthRequest[]
  addLink: (link: Partial<MagicLink>) => MagicLink
}

export function registry(options: RegistryOptions = {}): EnvironmentRegistry {
  const environment = testEnvironment({ settings: options.settings ?? {} })
  const { tables } = environment.model
  const connector = { ...bareConnector('mail', options.type ?? 'OAUTH'), ...options.connector }
  const account = anAccount(connector, options.account)
  const trace = new RequestTrace()
  const accepted: unknown[] = []
  const addLink = (fields: Partial<MagicLink>): MagicLink => {
    const link = aLink(environment, fields)
    environment.model.transact(() => tables.magic_links.put(link))
    return link
  }
  environment.model.transact(() => {
    tables.connectors.put({ id: 'mail', ...connector })
    tables.connections.put(aConnection(connector))
    tables.accounts.put(account)
  })
  addLink(options.link ?? {})
  const flow: Flow = {
    environment,
    thirdParty: thirdParty(options.answer ?? tokensOf, accepted),
    authorizations: AUTHORIZATIONS,
    baseUrl: BASE,
    trace,
  }
  return {
    environment,
    app: express().use(connectRoutes(contextOf(flow, options.durable))),
    flow,
    events: () => trace.transitions,
    accepted,
    account: () => present(tables.accounts.get(account.id)),
    link: () => present(tables.magic_links.get('link')),
    requests: () => [...tables.auth_requests.values()],
    addLink,
  }
}

/** Answers of a third party that takes every code. */
export function tokensOf(code: string): TokenAnswer {
  const oauth_token = { access_token: `at-${code}`, refresh_token: `rt-${code}`, scopes: ['mail.read'], domain: '' }
  return { granted: true, credentials: { oauth_token }, lifetime_ms: 3_600_000 }
}

const AUTHORIZATIONS: Authorizations = {
  authorizeUrl: (baseUrl, environment, connector, { state, redirectUri, scopes, loginHint }) => {
    const query = new URLSearchParams({
      state,
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      login_hint: loginHint,
    })
    return `${baseUrl}/third-party/${connector.connector}/authorize?${query.toString()}&environment=${environment.name}`
  },
  decide: (_environment, _connector, { decision, person, redirectUri, state }) => {
    const answer = decision === 'approve' ? { code: `code-of-${person}` } : { error: 'access_denied' }
    return `${redirectUri}?${new URLSearchParams({ ...answer, state }).toString()}`
  },
}

function contextOf(flow: Flow, durable: ConnectContext['durable'] | undefined): ConnectContext {
  const { environment } = flow
  const find = (matches: (link: MagicLink) => boolean) => {
    const link = [...environment.model.tables.magic_links.values()].find(matches)
    return link && { environment, link }
  }
  return {
    findLink: (id) => find((link) => link.id === id),
    findOauthState: (state) => find((link) => link.oauth_state === state),
    thirdParty: () => flow.thirdParty,
    authorizations: flow.authorizations,
    baseUrl: () => BASE,
    settle: applyDueEvents,
    durable: () => durable?.(),
    trace: () => flow.trace,
  }
}

function thirdParty(answer: NonNullable<RegistryOptions['answer']>, accepted: unknown[]): ThirdParty {
  const unused = () => Promise.reject(new Error('not part of this flow'))
  return {
    call: unused,
    refresh: unused,
    obtain: async () => answer('own'),
    redeem: async (_connector, _account, code, redirectUri) => {
      if (redirectUri !== `${BASE}/connect/callback`) throw new Error(`redirect_uri ${redirectUri}`)
      return answer(code)
    },
    accept: (_connector, _account, credentials) => accepted.push(credentials),
    revoke: () => undefined,
  }
}

function anAccount(connector: Connector, fields: Partial<Account> = {}): Account {
  return {
    id: 'ca_1',
    sequence: 1,
    connection_id: 'conn_1',
    connector: 'mail',
    provider: 'mail',
    identifier: 'grace@example.com',
    organization_id: '',
    user_id: '',
    authorization_type: connector.authorization_type,
    status: 'PENDING_AUTH',
    updated_at: '2025-12-31T00:00:00.000Z',
    api_config: {},
    credentials: {},
    ...fields,
  }
}

function aLink(environment: TestEnvironment, fields: Partial<MagicLink>): MagicLink {
  return {
    id: 'link',
    account_id: 'ca_1',
    oauth_state: 'oauth-state',
    user_verify_url: VERIFY,
    state: 'a b&c',
    expires_at: instant(environment.clock.now() + 15 * 60_000),
    ...fields,
  }
}

function aConnection(connector: Connector) {
  return {
    id: 'conn_1',
    key_id: 'mail',
    organization_id: '',
    organization_name: '',
    domains: [],
    enabled: true,
    provider: 'CUSTOM',
    provider_key: 'mail',
    status: 'COMPLETED' as const,
    type: TRAITS[connector.authorization_type].connectionType,
    mcp_server_url: '',
  }
}

function present<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('the row is gone')
  return row
}
