import { startBare } from '../bare.ts'
import { type Bench, SIZES } from '../bench.ts'
import type { Figure, PeerFigure, Results } from '../figure.ts'
import { NUMBER } from '../load/plan.ts'
import { measureRounds, type Sample, type Target } from '../rounds.ts'
import { quotients, spreadOf } from '../statistics.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { send, type HttpRequest, requestText } from '../wire.ts'
import { cell, rateFigure, rateText } from './throughput.ts'

const PATH = '/api/v1/connected_accounts'
const CONNECTIONS = 32
/** Short, so that a round does not turn a server with few accounts into one with many. */
const MILLISECONDS = 450

/** Durable creates, which are answered after they are on disk, on 32 connections. All sizes are measured in the same rounds. */
export async function createRow(bench: Bench): Promise<Results> {
  const sizes: { accounts: number; state: string }[] = []
  for (const accounts of SIZES) sizes.push({ accounts, state: await bench.states.copy(accounts) })
  const servers: Served[] = []
  try {
    const targets: Record<string, Target> = {}
    for (const { accounts, state } of sizes) {
      const server = await startToolmock({ cli: bench.cli, state })
      servers.push(server)
      const target = { ...server, requests: [await createRequest(server.url)], statuses: [201] }
      targets[String(accounts)] = { ...target, ...(await restoreAfterRound(server.url)) }
    }
    const [first] = servers as [Served, ...Served[]]
    const bare = await startBare(await send(`${first.url}${PATH}`, await createAccountRequest(first.url, 'probe')))
    servers.push(bare)
    targets.bare = { ...bare, requests: [await createRequest(first.url)], statuses: [201] }
    const peers = await bench.peers?.creates()
    const options = {
      ...bench.scale,
      milliseconds: MILLISECONDS,
      connections: CONNECTIONS,
    }
    const samples = await measureRounds(bench.generator, { ...targets, ...peers }, options)
    return resultsOf(samples)
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]()
    for (const { state } of sizes) bench.states.remove(state)
  }
}

/** Restores the accounts of a server after each round. */
async function restoreAfterRound(url: string): Promise<Pick<Target, 'after'>> {
  const snapshot = `${url}/_mock/snapshots/start`
  await send(snapshot, { method: 'PUT' })
  return {
    after: async () => {
      const { status, body } = await send(`${snapshot}/restore`, { method: 'POST' })
      if (status !== 200) throw new Error(`the snapshot was not restored: ${status} ${body}`)
    },
  }
}

async function createRequest(url: string): Promise<string> {
  return requestText(`${url}${PATH}`, await createAccountRequest(url, NUMBER))
}

export async function createAccountRequest(url: string, name: string): Promise<HttpRequest> {
  const body = {
    connector: 'mail',
    identifier: `${name}@load.example`,
    user_id: 'user_2',
    connected_account: {
      api_config: { timeout: 30 },
      authorization_details: {
        oauth_token: { access_token: `at_${name}`, refresh_token: `rt_${name}`, scopes: ['mail.read'] },
      },
    },
  }
  const headers = { ...(await bearer(url)), 'Content-Type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

function resultsOf(samples: Record<string, Sample[]>): Results {
  const { bare = [] } = samples
  const figures = SIZES.map((accounts) =>
    rateFigure({
      what: 'durable create, 32 connections',
      accounts,
      ...(accounts === 100 && { bar: 'create' as const }),
      ours: samples[String(accounts)] ?? [],
      bare,
    }),
  )
  const shown = Object.entries(samples).filter(([name]) => !SIZES.map(String).includes(name) || name === '100')
  const peers: PeerFigure[] = shown.map(([name, of]) => cell('create', name === '100' ? 'toolmock' : name, of))
  return { figures: [...figures, flatness(samples['10000'] ?? [], samples['100'] ?? [])], peers }
}

function flatness(many: readonly Sample[], few: readonly Sample[]): Figure {
  const rates = (samples: readonly Sample[]): number[] => samples.map(({ rate }) => rate)
  return {
    bar: 'create-flat',
    what: 'durable create: rate at 10,000 accounts against at 100',
    value: spreadOf(quotients(rates(many), rates(few))),
    unit: '× of 100',
    detail: `${rateText(many)} and ${rateText(few)}`,
  }
}
