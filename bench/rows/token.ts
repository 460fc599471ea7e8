import { startBare } from '../bare.ts'
import type { Bench } from '../bench.ts'
import type { Results } from '../figure.ts'
import { measureRounds, type Target } from '../rounds.ts'
import { startToolmock, TOKEN_REQUEST } from '../toolmock.ts'
import { send, requestText } from '../wire.ts'
import { cell, costFigure } from './throughput.ts'

/** The token endpoint. It has no bar; it is compared with oauth2-mock-server. */
export async function tokenRow(bench: Bench): Promise<Results> {
  await using ours = await startToolmock({ cli: bench.cli })
  const answer = await send(`${ours.url}/oauth/token`, TOKEN_REQUEST)
  await using bare = await startBare(answer)
  const requests = [requestText(`${ours.url}/oauth/token`, TOKEN_REQUEST)]
  const peers = await bench.peers?.tokens()
  const targets: Record<string, Target> = {
    toolmock: { ...ours, requests, statuses: [200] },
    bare: { ...bare, requests, statuses: [200] },
    ...peers,
  }
  const warmUpSlices = bench.scale.unjudged ? bench.scale.warmUpSlices : 4
  const samples = await measureRounds(bench.generator, targets, { ...bench.scale, warmUpSlices, connections: 16 })
  return {
    figures: [costFigure({ what: 'POST token, in memory', ours: samples.toolmock ?? [], bare: samples.bare ?? [] })],
    peers: peers ? Object.entries(samples).map(([subject, of]) => cell('POST token', subject, of)) : [],
  }
}
