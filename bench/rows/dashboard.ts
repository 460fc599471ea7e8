import { get } from 'node:http'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds, type Sample } from '../rounds.ts'
import { quotients, spreadOf } from '../statistics.ts'
import { type Served, startToolmock } from '../toolmock.ts'
import { detailsTarget } from './request-lines.ts'

/** The rate of a busy client. */
const PER_SECOND = 500
/**
 * At this rate a server mostly waits, and the CPU for an answer changes by half from one second to the next, on any of the
 * servers. Many short rounds compare times that are close together.
 */
const ROUND_AT_RATE = 250

/**
 * What an open dashboard costs a GET get-details, as a quotient of CPU for an answer: a server whose timeline is read, as the
 * dashboard reads it, against one whose timeline is not read, at a busy client's rate and at full speed. A third server, whose
 * timeline is not read either, shows the noise of the machine.
 */
export async function dashboardRow({ cli, states, generator, scale }: Bench): Promise<Results> {
  const start = async (): Promise<Served> => startToolmock({ cli, state: await states.copy(100), flags: ['--quiet'] })
  await using quiet = await start()
  await using again = await start()
  await using watched = await start()
  const targets = {
    quiet: await detailsTarget(quiet),
    again: await detailsTarget(again),
    watched: await detailsTarget(watched),
  }
  const reader = get(`${watched.url}/_mock/timeline?environment=default&newest=10000`, (stream) => stream.resume())
  // The connection breaks when the server is killed.
  reader.on('error', () => undefined)
  const options = { ...scale, connections: 16 }
  const atRate = await measureRounds(generator, targets, {
    ...options,
    rounds: Math.ceil((scale.rounds * scale.milliseconds) / ROUND_AT_RATE),
    milliseconds: ROUND_AT_RATE,
    perSecond: PER_SECOND,
  })
  const atFullSpeed = await measureRounds(generator, targets, { ...options, warmUpSlices: 0 })
  const what = 'a dashboard beside GET get-details'
  return {
    figures: [
      { ...figure(`${what}, ${PER_SECOND} a second`, atRate.quiet, atRate.watched), bar: 'dashboard' },
      figure(`${what}, at full speed`, atFullSpeed.quiet, atFullSpeed.watched),
      figure('no dashboard beside no dashboard', atRate.quiet, atRate.again),
    ],
    peers: [],
  }
}

function figure(what: string, without: readonly Sample[], with_: readonly Sample[]): Figure {
  const costs = (samples: readonly Sample[]): number[] => samples.map(({ cpu }) => cpu)
  const least = (samples: readonly Sample[]): string => `${(Math.min(...costs(samples)) * 1000).toFixed(1)} µs`
  return {
    what,
    accounts: 100,
    value: spreadOf(quotients(costs(without), costs(with_))),
    unit: '× quiet',
    detail: `at least ${least(with_)} of CPU; without ${least(without)}`,
  }
}
