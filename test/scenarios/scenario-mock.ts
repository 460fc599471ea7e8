import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EnvironmentScenarios } from '../../src/scenarios/environment-scenarios.ts'
import { type AppOptions, createApp } from '../../src/app/app.ts'
import { type JsonObject } from '../../src/model/domain/json.ts'
import { itWith } from '../support/mock-fixture.ts'

/** The answer that a client got over a real connection. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined when it is no JSON. */
  readonly body: JsonObject | undefined
}

/** A mock that serves on a port, with scenarios and a client of its API. */
export interface ScenarioMock {
  readonly url: string
  readonly scenarios: EnvironmentScenarios
  /** Returns the answer that the client got; rejects where it got none. */
  call(method: string, path: string, body?: object): Promise<Answer>
  signIn(): Promise<Answer>
  /** Creates an account with a token that its third party accepts. */
  account(identifier?: string, connector?: string): Promise<string>
  /** Calls a tool; by default one that sends a message. */
  send(account: string, tool?: string, input?: object): Promise<Answer>
  authorization(): string
  advance(ms: number): void
  close(): Promise<void>
}

/** How `send` calls a tool. */
export const TRANSPORTS = ['REST', 'MCP'] as const

export interface MockOptions {
  /** `REST` by default. */
  transport?: (typeof TRANSPORTS)[number]
  /** Scenario documents; or names of bundled scenarios. */
  scenarios?: readonly (object | string)[]
  /** A seed beside the bundled one. */
  seed?: object
  limits?: AppOptions['limits']
}

/** Starts a mock on a free port with these scenarios running, runs `work`, and stops the mock. */
export async function withScenarios<T>(options: MockOptions, work: (mock: ScenarioMock) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-scenarios-'))
  const { limits } = options
  let present = Date.parse('2026-01-01T00:00:00.000Z')
  try {
    const files = await Promise.all(
      (options.scenarios ?? []).map((scenario, index) => written(folder, `scenario-${index}.json`, scenario)),
    )
    const seeds = options.seed ? ['bundled', await written(folder, 'seed.json', options.seed)] : ['bundled']
    const app = await createApp({ seeds, scenarios: files, time: () => present, idSeed: 1, mcp: true, limits })
    try {
      const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
      const environment = app.services.registry.environment('default')
      if (!environment) throw new Error('there is no default environment')
      const scenarios = app.services.scenarios.of(environment)
      const mock = mockOf({ url, scenarios, client: app.client, transport: options.transport })
      const whole = { ...mock, advance: (ms: number) => void (present += ms), close: () => app.close() }
      await whole.signIn()
      return await work(whole)
    } finally {
      await app.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const it = itWith<MockOptions, ScenarioMock>(withScenarios, {})

async function written(folder: string, name: string, document: object | string): Promise<string> {
  if (typeof document === 'string') return document
  await writeFile(join(folder, name), JSON.stringify(document))
  return join(folder, name)
}

interface Parts {
  url: string
  scenarios: EnvironmentScenarios
  client: { id: string; secret: string }
  transport: MockOptions['transport']
}

function mockOf({ url, scenarios, client, transport }: Parts): Omit<ScenarioMock, 'advance' | 'close'> {
  let token = ''
  /** Where the accounts are, as a client of MCP names them. */
  const places = new Map<string, { connector: string; identifier: string }>()
  const call: ScenarioMock['call'] = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'manual',
    })
    return answerOf(response)
  }
  return {
    url,
    scenarios,
    call,
    authorization: () => `Bearer ${token}`,
    signIn: async () => {
      const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret }
      const answer = await answerOf(
        await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }),
      )
      if (answer.status === 200) token = answer.body?.['access_token'] as string
      return answer
    },
    account: async (identifier = 'ada@example.com', connector = 'mail') => {
      const details = { oauth_token: { access_token: `at_${identifier}`, refresh_token: `rt_${identifier}` } }
      const document = { connector, identifier, connected_account: { authorization_details: details } }
      const { status, body, text } = await call('POST', '/connected_accounts', document)
      const account = body?.['connected_account'] as { id: string } | undefined
      if (status !== 201 || !account) throw new Error(`no account: ${status} ${text}`)
      places.set(account.id, { connector, identifier })
      return account.id
    },
    send: (account, tool = 'mail_send_message', input = { to: 'grace@example.com', subject: 'Hello' }) => {
      const byRest = { connected_account_id: account, tool_name: tool, tool_input: input }
      const place = transport === 'MCP' ? places.get(account) : undefined
      return place ? callByMcp(url, token, { ...place, tool, input }) : call('POST', '/execute_tool', byRest)
    },
  }
}

interface McpCall {
  readonly connector: string
  readonly identifier: string
  readonly tool: string
  readonly input: object
}

/** The answer of execute_tool that a result of MCP stands for: its status and its headers are in the request journal. */
async function callByMcp(url: string, token: string, { connector, identifier, tool, input }: McpCall): Promise<Answer> {
  const params = { name: tool, arguments: input }
  const response = await fetch(`${url}/mcp/v3/connections/${connector}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      identifier,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const answer = await answerOf(response)
  if (answer.status !== 200) return answer
  const message = parsed(/^data: (.*)\n\n/m.exec(answer.text)?.[1] ?? '')
  if (message === undefined) return answer
  const { content, _meta } = message['result'] as { content: { text: string }[]; _meta: Record<string, string> }
  const id = _meta['dev.toolmock/request_id'] ?? ''
  const { request } = (await (await fetch(`${url}/_mock/requests/${id}`)).json()) as {
    request: { status: number; response: { headers: Record<string, string> } }
  }
  const text = content[0]?.text ?? ''
  return { status: request.status, headers: new Headers(request.response.headers), text, body: parsed(text) }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return undefined
  }
}

/** The `error_code` of an answer (G16). */
export function errorCode({ body }: Answer): string | undefined {
  const [info] = (body?.['details'] ?? []) as { error_code?: string }[]
  return info?.error_code
}
