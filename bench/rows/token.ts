import { startBare } from '../bare.ts'
import type { Bench } from '../bench.ts'
import type { Results } from '../figure.ts'
import { measureRounds, type Target } from '../rounds.ts'
import { startToolmock, TOKEN_REQUEST } from '../toolmock.ts'
import { send, requestText } from '../wire.ts'
import { cell, costFigure } from './throughput.ts'

/** The token endpoint. It is also compared with oauth2-mock-server. */
export async function tokenRow(bench: Bench): Promise<Results> {
  await using served = await startToolmock({ cli: bench.cli })
  const answer = await send(`${served.url}/oauth/token`, TOKEN_REQUEST)
  await using bare = await startBare(answer)
  const requests = [requestText(`${served.url}/oauth/token`, TOKEN_REQUEST)]
  const peers = await bench.peers?.tokens()
  const targets: Record<string, Target> = {
    toolmock: { ...served, requests, statuses: [200] },
    bare: { ...bare, requests, statuses: [200] },
    ...peers,
  }
  const warmUpSlices = bench.scale.unjudged ? bench.scale.warmUpSlices : 4
  const samples = await measureRounds(bench.generator, targets, { ...bench.scale, warmUpSlices, connections: 16 })
  const ours = samples.toolmock ?? []
  return {
    figures: [costFigure({ what: 'POST token, in memory', bar: 'token', ours, bare: samples.bare ?? [] })],
    peers: peers ? Object.entries(samples).map(([subject, of]) => cell('POST token', subject, of)) : [],
  }
}
