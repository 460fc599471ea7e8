import express, { type Express } from 'express'
import type { Account } from '../../../src/model/domain/account.ts'
import { type AuthorizationType, TRAITS } from '../../../src/model/domain/authorization-type.ts'
import { bareConnector } from '../../../src/model/domain/connector-defaults.ts'
import type { Connector } from '../../../src/model/domain/connector.ts'
import { instant } from '../../../src/model/domain/instant.ts'
import type { AuthRequest, MagicLink } from '../../../src/model/domain/generated/tables.ts'
import type { ThirdParty, TokenResponse } from '../../../src/model/domain/ports.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import type { Settings } from '../../../src/model/domain/settings.ts'
import type { LinkFlow } from '../../../src/servers/magic-links/consent-flow.ts'
import { magicLinkRoutes } from '../../../src/servers/magic-links/routes.ts'
import { Pauses } from '../../../src/scenarios/pauses.ts'
import { SILENT } from '../../../src/servers/http/log.ts'
import { unreadEntries } from '../../support/entries.ts'
import { testEnvironment, type TestEnvironment } from '../../support/environment.ts'
import { accountRow } from '../../support/rows.ts'

export const BASE = 'http://mock.example'
const VERIFY = 'http://app.example/back?tab=1#top'

export interface FixtureOptions {
  type?: AuthorizationType
  connector?: Partial<Connector>
  account?: Partial<Account>
  link?: Partial<MagicLink>
  settings?: Partial<Settings>
  /** The answer of the third party's token endpoint; by default tokens named after the code. */
  answer?: (code: string) => TokenResponse | Promise<TokenResponse>
  /** Resolves when data is on disk; immediately by default. */
  durable?: () => Promise<void>
}

/** One environment with one connector, account and link, and a third party with the answers of the test. */
export interface Fixture {
  environment: TestEnvironment
  app: Express
  flow: LinkFlow
  accepted: unknown[]
  account: () => Account
  link: () => MagicLink
  requests: () => AuthRequest[]
  addLink: (link: Partial<MagicLink>) => MagicLink
}

export function setUp(options: FixtureOptions = {}): Fixture {
  const environment = testEnvironment({ settings: options.settings ?? {} })
  const { tables } = environment.model
  const connector = { ...bareConnector('mail', options.type ?? 'OAUTH'), ...options.connector }
  const account = anAccount(connector, options.account)
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
  const client = thirdParty(environment, options.answer ?? tokensOf, accepted)
  const services = servicesOf(environment, client, options.durable)
  const flow: LinkFlow = { services, environment, thirdParty: client, baseUrl: BASE, trace: new RequestTrace() }
  return {
    environment,
    app: express().use(magicLinkRoutes(services)),
    flow,
    accepted,
    account: () => present(tables.accounts.get(account.id)),
    link: () => present(tables.magic_links.get('link')),
    requests: () => [...tables.auth_requests.values()],
    addLink,
  }
}

/** The answer of a third party that accepts every code. */
export function tokensOf(code: string): TokenResponse {
  const oauth_token = { access_token: `at-${code}`, refresh_token: `rt-${code}`, scopes: ['mail.read'], domain: '' }
  return { granted: true, credentials: { oauth_token }, lifetime_ms: 3_600_000 }
}

/** The services that magic links use, of one environment without scenarios. */
function servicesOf(environment: TestEnvironment, client: ThirdParty, durable: FixtureOptions['durable']) {
  const find = (matches: (link: MagicLink) => boolean) => {
    const link = [...environment.model.tables.magic_links.values()].find(matches)
    return link && { environment, link }
  }
  const services = {
    registry: {
      byMagicLink: { get: (id: string) => find((link) => link.id === id) },
      byOauthState: { get: (state: string) => find((link) => link.oauth_state === state) },
    },
    thirdParties: { client: () => client },
    scenarios: { of: () => ({ active: false }) },
    pauses: new Pauses(),
    entries: unreadEntries(durable),
    log: SILENT,
    baseUrl: BASE,
  }
  return services as unknown as Parameters<typeof magicLinkRoutes>[0]
}

/** A third party that issues codes which the test can read: `code-of-ada@example.com`. */
function thirdParty(
  environment: TestEnvironment,
  answer: NonNullable<FixtureOptions['answer']>,
  accepted: unknown[],
): ThirdParty {
  const unused = () => Promise.reject(new Error('not part of this flow'))
  return {
    call: unused,
    forward: unused,
    refresh: unused,
    issue: () => ({ granted: false, status: 400, error: 'unused', description: '' }),
    obtain: async (connector, _account, conclude) => conclude(ofType(connector, await answer('own'))),
    redeem: async (_connector, _account, { code, redirectUri }, conclude) => {
      if (redirectUri !== `${BASE}/connect/callback`) throw new Error(`redirect_uri ${redirectUri}`)
      const issued = environment.model.tables.authorization_codes.get(code)
      return conclude(await answer(issued ? `code-of-${issued.person}` : code))
    },
    accept: (_connector, _account, credentials) => accepted.push(credentials),
  }
}

/** The answer with the kind of credentials that the service obtains for the connector. */
function ofType({ authorization_type: type }: Connector, answer: TokenResponse): TokenResponse {
  const access_token = answer.granted ? answer.credentials.oauth_token?.access_token : undefined
  if (!answer.granted || access_token === undefined) return answer
  if (type === 'WORKSPACE_DWD')
    return { ...answer, credentials: { workspace_dwd: { subject: 'ada', access_token, scopes: [] } } }
  if (type !== 'TRUSTED_IDP') return answer
  const keys = { access_key_id: access_token, secret_access_key: 'secret', session_token: 'session' }
  return { ...answer, credentials: { trusted_idp: { db_user: '', ...keys } } }
}

function anAccount(connector: Connector, fields: Partial<Account> = {}): Account {
  return accountRow({
    identifier: 'grace@example.com',
    authorization_type: connector.authorization_type,
    status: 'PENDING_AUTH',
    updated_at: '2025-12-31T00:00:00.000Z',
    ...fields,
  })
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
