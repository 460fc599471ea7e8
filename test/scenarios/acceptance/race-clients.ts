import { vi } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import type { ContractReport } from '../../../src/journal/verdict/report-types.ts'
import { verdictOf } from '../../../src/journal/verdict/verdict.ts'

/*
 * Clients of the bundled races, each as two workers of one program: one that is right, and one that is wrong in the way that
 * the scenario is for. `docs/scenarios.md` describes both.
 */

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

/** An environment in which one race runs. */
interface Race {
  readonly call: (method: string, path: string, body?: object) => Promise<Answer>
  /** Renews a token at the third party's token endpoint. */
  readonly renew: (refresh_token: string) => Promise<Answer>
  readonly follow: (link: string) => Promise<URL>
  /** What the verdict says against the client. */
  readonly reasons: () => Promise<string[]>
}

interface Environments {
  readonly environment: (scenario: Scenario) => Promise<Race>
}

const ADA = { connector: 'mail', identifier: 'ada@example.com' }
const TOOL = { ...ADA, tool_name: 'mail_list_messages', tool_input: {} }

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

function details({ access_token, refresh_token }: Tokens): object {
  return { connected_account: { authorization_details: { oauth_token: { access_token, refresh_token } } } }
}

async function create({ call }: Race, tokens?: Tokens): Promise<Answer> {
  return call('POST', '/connected_accounts', {
    ...ADA,
    ...details(tokens ?? { access_token: 'at', refresh_token: 'rt' }),
  })
}

async function stored({ call }: Race): Promise<Tokens> {
  const { body } = await call('GET', `/connected_accounts/auth?${new URLSearchParams(ADA).toString()}`)
  const account = body['connected_account'] as unknown as { authorization_details: { oauth_token: Tokens } }
  return account.authorization_details.oauth_token
}

/** Whatever several callers ask at once is asked once. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => (asked ??= ask())
}

async function both(worker: (number: number) => Promise<unknown>): Promise<void> {
  await Promise.all([worker(1), worker(2)])
}

/** Renews with what is stored, and stores what it gets. */
async function renewAndStore(race: Race): Promise<void> {
  const { refresh_token } = await stored(race)
  const { status, body } = await race.renew(refresh_token)
  if (status === 200) await race.call('PUT', '/connected_accounts', { ...ADA, ...details(body as unknown as Tokens) })
}

async function consented(race: Race): Promise<string> {
  const link = { ...ADA, user_verify_url: 'http://app.test/verify', state: 'x' }
  const { body } = await race.call('POST', '/connected_accounts/magic_link', link)
  return (await race.follow(body['link'] as string)).searchParams.get('auth_request_id') ?? ''
}

type Client = (race: Race) => Promise<void>

export const CLIENTS = {
  'refresh-race': {
    wrong: async (race) => {
      await create(race)
      const { refresh_token } = await stored(race)
      await both(() => race.renew(refresh_token))
    },
    right: async (race) => {
      await create(race)
      const renewed = shared(() => renewAndStore(race))
      await both(renewed)
      await race.call('POST', '/execute_tool', TOOL)
    },
  },
  'refresh-race-lost-update': {
    wrong: async (race) => {
      await create(race)
      const first = await race.renew((await stored(race)).refresh_token)
      const tokens = first.body as unknown as Tokens
      const storing = race.call('PUT', '/connected_accounts', { ...ADA, ...details(tokens) })
      const second = await race.renew(tokens.refresh_token)
      await race.call('PUT', '/connected_accounts', { ...ADA, ...details(second.body as unknown as Tokens) })
      await storing
    },
    right: async (race) => {
      await create(race)
      await renewAndStore(race)
      await renewAndStore(race)
    },
  },
  'verify-race': {
    wrong: async (race) => {
      const auth_request_id = await consented(race)
      await both(async () => {
        const { status } = await race.call('POST', '/connected_accounts/user/verify', {
          auth_request_id,
          identifier: ADA.identifier,
        })
        if (status === 200) await race.call('POST', '/execute_tool', TOOL)
      })
    },
    right: async (race) => {
      const auth_request_id = await consented(race)
      await both(async () => {
        const { status } = await race.call('POST', '/connected_accounts/user/verify', {
          auth_request_id,
          identifier: ADA.identifier,
        })
        const query = new URLSearchParams(ADA).toString()
        const { body } = await race.call('GET', `/connected_accounts/details?${query}`)
        const { status: state } = body['connected_account'] as unknown as { status: string }
        if (status === 200 || state === 'ACTIVE') await race.call('POST', '/execute_tool', TOOL)
      })
    },
  },
  'create-race': {
    wrong: async (race) => {
      await both(async () => {
        const { status } = await create(race)
        if (status === 201) await race.call('POST', '/execute_tool', TOOL)
      })
    },
    right: async (race) => {
      await both(async () => {
        const { status } = await create(race)
        // 409: the other one has created it.
        if (status === 201 || status === 409) await race.call('POST', '/execute_tool', TOOL)
      })
    },
  },
} satisfies Record<string, { right: Client; wrong: Client }>

export type Scenario = keyof typeof CLIENTS

/** A server whose barriers open by their time as soon as nothing else happens. */
export async function withEnvironments(work: (environments: Environments) => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const app = await createApp({ time: () => Date.parse('2026-01-01T00:00:00.000Z') })
  const passing = setInterval(() => vi.advanceTimersByTime(500), 50)
  try {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    let count = 0
    await work({ environment: (scenario) => race(url, `race-${++count}`, scenario) })
  } finally {
    clearInterval(passing)
    vi.useRealTimers()
    await app.close()
  }
}

async function race(url: string, name: string, scenario: string): Promise<Race> {
  const send = async (
    method: string,
    path: string,
    body?: object | URLSearchParams,
    token?: string,
  ): Promise<Answer> => {
    const isForm = body instanceof URLSearchParams
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body && !isForm && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, body: JSON.parse((await answer.text()) || '{}') as JsonObject }
  }
  const { body: client } = await send('POST', '/_mock/environments', { name })
  const { client_id, client_secret } = client as { client_id: string; client_secret: string }
  await send('POST', `/_mock/scenarios/${scenario}/start?environment=${name}`)
  const credentials = { client_id, client_secret }
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...credentials })
  const { body: token } = await send('POST', '/oauth/token', form)
  return {
    call: (method, path, body) => send(method, `/api/v1${path}`, body, token['access_token'] as string),
    renew: (refresh_token) =>
      send(
        'POST',
        '/third-party/mail/oauth/token',
        new URLSearchParams({ grant_type: 'refresh_token', refresh_token, ...credentials }),
      ),
    follow: async (link) => {
      const { headers } = await fetch(`${link}?decision=approve`, { redirect: 'manual' })
      return new URL(headers.get('location') ?? '')
    },
    reasons: async () => {
      const { body: contract } = await send('GET', `/_mock/contract?environment=${name}`)
      const { body: coverage } = await send('GET', `/_mock/coverage?environment=${name}`)
      const { reasons } = verdictOf({ contract: contract as unknown as ContractReport, coverage: coverage as never })
      return reasons.map(({ sentence }) => sentence)
    },
  }
}
