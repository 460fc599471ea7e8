import { type AuthorizationType } from '../../../src/model/domain/authorization-type.ts'
import type { Account } from '../../../src/model/domain/account.ts'
import { bareConnector } from '../../../src/model/domain/connector-defaults.ts'
import type { Connector, Responder, CannedResponse, ResponderMatch, Tool } from '../../../src/model/domain/connector.ts'
import type { Credentials } from '../../../src/model/domain/credentials.ts'
import type { JsonObject, JsonValue } from '../../../src/model/domain/json.ts'
import type { ThirdParty, TokenResponse } from '../../../src/model/domain/ports.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { applicationOf } from '../../../src/service/third-party/schemes.ts'
import { decisionUrl } from '../../../src/service/third-party/consent.ts'
import { connectorPath } from '../../../src/service/third-party/listener.ts'
import {
  type ThirdParties,
  type ThirdPartiesOptions,
  startThirdParties,
} from '../../../src/service/third-party/client.ts'
import { type TestEnvironment, testEnvironment } from '../../support/environment.ts'
import { accountRow } from '../../support/rows.ts'

/** A connector of a type, with the tools and responders of the test. */
export function connectorOf(type: AuthorizationType, changes: Partial<Connector> = {}): Connector {
  const bare = bareConnector('app', type)
  return { ...bare, responders: [responder({}, { body: { ok: true } })], tools: [tool()], ...changes }
}

export function tool(call: Partial<Tool['call']> = {}, result: JsonObject | null = null): Tool {
  return {
    name: 'app_run',
    display_name: 'Run',
    description: '',
    tags: [],
    is_default: true,
    input_schema: {},
    call: { method: 'GET', path: '/v1/things', query: {}, headers: {}, body: null, timeout: 5_000, ...call },
    result,
  }
}

export function responder(
  on: ResponderMatch,
  answer: Partial<CannedResponse> | Partial<CannedResponse>[],
  after_last: Responder['after_last'] = 'repeat',
): Responder {
  const answers = Array.isArray(answer) ? answer : [answer]
  return { on, after_last, answers: answers.map((each) => ({ status: 200, headers: {}, body: null, ...each })) }
}

export function accountOf(
  connector: Connector,
  credentials: Credentials = {},
  changes: Partial<Account> = {},
): Account {
  return accountRow({
    connector: connector.connector,
    provider: connector.connector,
    organization_id: 'org_1',
    authorization_type: connector.authorization_type,
    credentials,
    ...changes,
  })
}

/** A third party that listens on a port, and requests of one account to it. */
export class Fixture implements AsyncDisposable {
  private constructor(
    readonly environment: TestEnvironment,
    readonly connector: Connector,
    readonly client: ThirdParty,
    readonly trace: RequestTrace,
    private readonly parties: ThirdParties,
  ) {}

  static async start(
    connector: Connector,
    { flushed, ...options }: Partial<ThirdPartiesOptions> & { flushed?: () => Promise<void> } = {},
  ): Promise<Fixture> {
    const environment = testEnvironment()
    environment.model.transact(() => {
      environment.model.tables.connectors.put({ ...connector, id: connector.connector })
    })
    const environmentOf = (name: string) => (name === environment.name ? environment : undefined)
    const registry = { environment: environmentOf, ...(flushed && { flushed }) }
    const parties = await startThirdParties({ registry, ...options })
    const trace = new RequestTrace()
    return new Fixture(environment, connector, parties.client(environment, trace), trace, parties)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parties.close()
  }

  get origin(): string {
    return this.parties.origin
  }

  /** Stores an account with credentials that the third party accepts. */
  place(credentials: Credentials, changes: Partial<Account> = {}): Account {
    const account = accountOf(this.connector, credentials, changes)
    this.environment.model.transact(() => {
      this.environment.model.tables.accounts.put(account)
      this.client.accept(this.connector, account, credentials)
    })
    return account
  }

  /** Stores an account after consent. */
  async consented(person = 'ada@example.com', scopes: string[] = []): Promise<Account & { answer: Granted }> {
    const account = accountOf(this.connector)
    this.environment.model.transact(() => this.environment.model.tables.accounts.put(account))
    const answer = granted(await this.redeem(account, this.code(person, scopes)))
    return { ...account, credentials: answer.credentials, answer }
  }

  redeem(account: Account, code: string): Promise<TokenResponse> {
    return this.client.redeem(this.connector, account, { code, redirectUri: CALLBACK }, (answer) => answer)
  }

  refresh(account: Account): Promise<TokenResponse> {
    return this.client.refresh(this.connector, account, (answer) => answer)
  }

  obtain(account: Account): Promise<TokenResponse> {
    return this.client.obtain(this.connector, account, (answer) => answer)
  }

  code(person = 'ada@example.com', scopes: string[] = []): string {
    const asked = { state: 's', redirectUri: CALLBACK, scopes }
    const url = decisionUrl(this.environment, this.connector, { ...asked, decision: 'approve', person })
    return new URL(url).searchParams.get('code') ?? ''
  }

  call(account: Account, input: JsonObject = {}, of: Tool = this.connector.tools[0] ?? tool()) {
    return this.client.call(this.connector, of, account, input)
  }

  /** Sends a token request with any form and headers. */
  async token(form: Record<string, string> | string, headers: Record<string, string> = {}, method = 'POST') {
    const application = applicationOf(this.environment, this.connector.connector)
    const body = typeof form === 'string' ? form : new URLSearchParams({ ...application, ...form }).toString()
    const response = await fetch(`${this.url}/oauth/token`, {
      method,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body,
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject }
  }

  /** Sends an API request with any headers. */
  async api(path: string, init: RequestInit = {}) {
    const response = await fetch(`${this.url}/api${path}`, init)
    const text = await response.text()
    const body = (text === '' ? null : JSON.parse(text)) as JsonValue
    return { status: response.status, headers: response.headers, body }
  }

  private get url(): string {
    return `${this.origin}${connectorPath(this.environment, this.connector)}`
  }
}

export const CALLBACK = 'http://127.0.0.1:8665/connect/callback'
export type Granted = TokenResponse & { granted: true }

export function granted(answer: TokenResponse): Granted {
  if (!answer.granted) throw new Error(`${answer.error}: ${answer.description}`)
  return answer
}
