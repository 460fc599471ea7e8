import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EnvironmentScenarios } from '../../src/scenarios/environment-scenarios.ts'
import { createApp } from '../../src/app/app.ts'
import { type JsonObject } from '../../src/domain/json.ts'

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
  send(account: string): Promise<Answer>
  authorization(): string
  advance(ms: number): void
  close(): Promise<void>
}

export interface MockOptions {
  /** Scenario documents; or names of bundled scenarios. */
  scenarios?: readonly (object | string)[]
  /** A seed beside the bundled one. */
  seed?: object
}

/** Starts a mock on a free port with these scenarios running, runs `work`, and stops the mock. */
export async function withScenarios<T>(options: MockOptions, work: (mock: ScenarioMock) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-scenarios-'))
  let present = Date.parse('2026-01-01T00:00:00.000Z')
  try {
    const files = await Promise.all(
      (options.scenarios ?? []).map((scenario, index) => written(folder, `scenario-${index}.json`, scenario)),
    )
    const seeds = options.seed ? ['bundled', await written(folder, 'seed.json', options.seed)] : ['bundled']
    const app = await createApp({ seeds, scenarios: files, time: () => present, idSeed: 1 })
    try {
      const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
      const environment = app.services.registry.environment('default')
      if (!environment) throw new Error('there is no default environment')
      const mock = mockOf({ url, scenarios: app.services.scenarios.of(environment), client: app.client })
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

async function written(folder: string, name: string, document: object | string): Promise<string> {
  if (typeof document === 'string') return document
  await writeFile(join(folder, name), JSON.stringify(document))
  return join(folder, name)
}

interface Parts {
  url: string
  scenarios: EnvironmentScenarios
  client: { id: string; secret: string }
}

function mockOf({ url, scenarios, client }: Parts): Omit<ScenarioMock, 'advance' | 'close'> {
  let token = ''
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
      return account.id
    },
    send: (account) =>
      call('POST', '/execute_tool', {
        connected_account_id: account,
        tool_name: 'mail_send_message',
        tool_input: { to: 'grace@example.com', subject: 'Hello' },
      }),
  }
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
