import { startBare } from '../bare.ts'
import { type Bench, SIZES } from '../bench.ts'
import type { Results } from '../figure.ts'
import { measureRounds, type Target } from '../rounds.ts'
import { bearer, startToolmock } from '../toolmock.ts'
import { send, requestText } from '../wire.ts'
import { cell, costFigure } from './throughput.ts'

interface Account {
  identifier: string
}

/** GET get-details: bearer, contract check, locating by scope, connector and identifier, journal entry. */
export async function getDetailsRow(bench: Bench): Promise<Results> {
  const results: Results = { figures: [], peers: [] }
  for (const accounts of bench.scale.unjudged ? SIZES : [100]) {
    const { figures, peers } = await measure(bench, accounts)
    results.figures.push(...figures)
    results.peers.push(...peers)
  }
  return results
}

async function measure(bench: Bench, accounts: number): Promise<Results> {
  const state = await bench.states.copy(accounts)
  await using ours = await startToolmock({ cli: bench.cli, state })
  const headers = await bearer(ours.url)
  const urls = await detailUrls(ours.url, headers)
  const [url = ''] = urls
  const answer = await send(url, { headers })
  await using bare = await startBare(answer)
  const requests = urls.map((each) => requestText(each, { headers }))
  const withPeers = accounts === 100 ? bench.peers : undefined
  const details = await withPeers?.details(headers)
  const targets: Record<string, Target> = {
    toolmock: { ...ours, requests, statuses: [200] },
    bare: { ...bare, requests, statuses: [200] },
    ...details,
  }
  const samples = await measureRounds(bench.generator, targets, { ...bench.scale, connections: 16 })
  bench.states.remove(state)
  const sides = { ours: samples.toolmock ?? [], bare: samples.bare ?? [] }
  const bar = accounts === 100 ? ({ bar: 'get-details' } as const) : {}
  return {
    figures: [costFigure({ what: 'GET get-details', accounts, ...bar, ...sides })],
    peers: withPeers ? Object.entries(samples).map(([subject, of]) => cell('GET get-details', subject, of)) : [],
  }
}

/** The URLs of ten accounts, so that consecutive requests are for different accounts. */
export async function detailUrls(url: string, headers: Record<string, string>): Promise<string[]> {
  const listed = await send(`${url}/api/v1/connected_accounts?connector=mail&user_id=user_1&page_size=10`, { headers })
  const { connected_accounts } = JSON.parse(listed.body) as { connected_accounts: Account[] }
  return connected_accounts.map(
    ({ identifier }) =>
      `${url}/api/v1/connected_accounts/details?connector=mail&user_id=user_1&identifier=${encodeURIComponent(identifier)}`,
  )
}
