import type { BarName } from '../bars.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { spreadOf } from '../statistics.ts'
import { startToolmock } from '../toolmock.ts'
import { send } from '../wire.ts'

const BAR_OF: readonly (readonly [accounts: number, bar: BarName])[] = [
  [500, 'reset-500'],
  [10_000, 'reset-10000'],
]

/** The longest wait of other requests, sent one after the other, while an environment is reset. */
export async function resetRow({ cli, states, scale }: Bench): Promise<Results> {
  const figures: Figure[] = []
  for (const [accounts, bar] of BAR_OF) {
    const state = await states.copy(accounts)
    await using server = await startToolmock({ cli, state })
    const waits: number[] = []
    // The first round compiles the hot code and does not count.
    for (let round = 0; round <= scale.starts; round++) {
      const wait = await longestWait(server.url)
      if (round > 0) waits.push(wait)
    }
    const what = 'longest wait of another request while an environment is reset'
    figures.push({ bar, what, accounts, value: spreadOf(waits), unit: 'ms', detail: '' })
    states.remove(state)
  }
  return { figures, peers: [] }
}

async function longestWait(url: string): Promise<number> {
  const under = { way: true }
  const reset = send(`${url}/_mock/reset`, { method: 'POST' }).finally(() => (under.way = false))
  let longest = 0
  while (under.way) {
    const from = performance.now()
    await send(`${url}/_mock/health`)
    longest = Math.max(longest, performance.now() - from)
  }
  const { status, body } = await reset
  if (status !== 200) throw new Error(`the environment was not reset: ${status} ${body}`)
  return longest
}
