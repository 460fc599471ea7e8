import { setTimeout as pause } from 'node:timers/promises'
import { startBare } from '../bare.ts'
import type { BarName } from '../bars.ts'
import { type Bench, SIZES } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { residentMegabytes } from '../process-usage.ts'
import { medianOf, quotients, spreadOf } from '../statistics.ts'
import { type Served, startToolmock } from '../toolmock.ts'

/** A way to start a server, and its measurements. */
interface Candidate {
  what: string
  accounts?: number
  bars: { start?: BarName; memory?: BarName }
  start: () => Promise<Served>
  milliseconds: number[]
  megabytes: number[]
}

/** The bars by the number of accounts in the state file. */
const BARS_OF: Readonly<Record<number, Candidate['bars']>> = {
  10_000: { start: 'start-10000', memory: 'memory-10000' },
}

/** The rounds in which the memory is read, for a figure with a bar; one round for others. */
const MEMORY_ROUNDS = 3
/** Peers take seconds to start. */
const PEER_ROUNDS = 3

/** The time from process start to the first 200 of `/_mock/ready`, and the memory of a server before its first other request. */
export async function startRow(bench: Bench): Promise<Results> {
  const bare = candidate({ what: 'bare', start: () => startBare() })
  const { ours, states } = await candidates(bench)
  const peers = (bench.peers?.starters ?? []).map(({ name, start }) => candidate({ what: name, start }))
  // The first round fills the caches of the system and does not count.
  for (let round = 0; round <= bench.scale.starts; round++) {
    const measuredPeers = round > 0 && round <= Math.min(PEER_ROUNDS, bench.scale.peerRounds) ? peers : []
    for (const each of [bare, ...ours, ...measuredPeers]) await observe(each, round, bench.scale.rest)
  }
  for (const state of states) bench.states.remove(state)
  const [inMemory] = ours
  const compared = [bare, ...(inMemory ? [{ ...inMemory, what: 'toolmock' }] : []), ...peers]
  return {
    figures: ours.flatMap((each) => figuresOf(each, bare)),
    peers: compared.flatMap(({ what: subject, milliseconds, megabytes }) => [
      { work: 'start to first answer', subject, text: `${medianOf(milliseconds).toFixed(0)} ms` },
      { work: 'memory, idle', subject, text: `${medianOf(megabytes).toFixed(0)} MB` },
    ]),
  }
}

async function candidates({ cli, states, scale }: Bench): Promise<{ ours: Candidate[]; states: string[] }> {
  const fresh = await states.copy(100)
  const bundled = candidate({
    what: 'bundled seed, `--in-memory`',
    bars: { start: 'start', memory: 'memory' },
    start: () => startToolmock({ cli }),
  })
  const withFile = candidate({
    what: 'bundled seed, new state file',
    start: () => startToolmock({ cli, state: fresh, flags: ['--fresh'] }),
  })
  // Nothing of MCP is loaded before the first request to a virtual server: with the flag both figures are the same.
  const withMcp = candidate({
    what: 'bundled seed, `--in-memory --mcp`',
    start: () => startToolmock({ cli, flags: ['--mcp'] }),
  })
  const ours = scale.unjudged ? [bundled, withFile, withMcp] : [bundled]
  const copies = [fresh]
  for (const accounts of SIZES.filter((size) => size >= 10_000)) {
    const state = await states.copy(accounts)
    copies.push(state)
    const bars = BARS_OF[accounts] ?? {}
    ours.push(
      candidate({ what: 'accounts in the state file', accounts, bars, start: () => startToolmock({ cli, state }) }),
    )
  }
  return { ours, states: copies }
}

function candidate(
  options: Pick<Candidate, 'what' | 'start'> & Partial<Pick<Candidate, 'accounts' | 'bars'>>,
): Candidate {
  return { bars: {}, ...options, milliseconds: [], megabytes: [] }
}

async function observe(
  { start, bars, milliseconds, megabytes }: Candidate,
  round: number,
  rest: number,
): Promise<void> {
  await using served = await start()
  if (round === 0) return
  milliseconds.push(served.readyAfter)
  if (round > (bars.memory ? MEMORY_ROUNDS : 1)) return
  await pause(rest)
  megabytes.push(residentMegabytes(served.process.pid))
}

function figuresOf({ what, accounts, bars, milliseconds, megabytes }: Candidate, bare: Candidate): Figure[] {
  const size = accounts === undefined ? {} : { accounts }
  return [
    {
      what: `start: ${what}`,
      ...size,
      ...(bars.start && { bar: bars.start }),
      value: spreadOf(quotients(milliseconds, bare.milliseconds)),
      unit: '× bare',
      detail: `${medianOf(milliseconds).toFixed(0)} ms; bare ${medianOf(bare.milliseconds).toFixed(0)} ms`,
    },
    {
      what: `memory, idle: ${what}`,
      ...size,
      ...(bars.memory && { bar: bars.memory }),
      value: spreadOf(megabytes),
      unit: 'MB',
      detail: `bare ${medianOf(bare.megabytes).toFixed(0)} MB`,
    },
  ]
}
