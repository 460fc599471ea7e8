import { expect, it } from 'vitest'
import { checkState } from '../../src/state/state-report.ts'
import { type Serving, ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { signIn } from './client.ts'
import { expectThere, type Known, untilAnotherMoment, write } from './writers.ts'

/** `npm run test:crash` kills 200 times; the short form in `npm run test:rest` ten times. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 10)
const WRITERS = 8

const toolmock = ToolmockProcess.forThisFile()

/** Kills the server while it writes. */
async function writeAndKill(server: Serving, round: number, known: Known[]): Promise<void> {
  const caller = await signIn(server.url)
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(caller, `r${round}-w${writer}`, known))
  await untilAnotherMoment(server, round, { writers, known })
  await server.stop('SIGKILL')
  await Promise.all(writers)
}

it(
  `loses no answered write, ${ROUNDS} times, and leaves a valid file`,
  async () => {
    const file = toolmock.path('killed/state.json')
    let earlier: Known[] = []
    let written = 0
    for (let round = 0; round <= ROUNDS; round++) {
      if (round > 0) expect(await checkState(file)).toMatchObject({ kind: 'valid' })
      const server = await toolmock.start(['--state', file])
      const caller = await signIn(server.url)
      // All accounts of the last round, and some of each earlier round.
      for (const account of earlier) await expectThere(caller, account)
      const known: Known[] = []
      if (round < ROUNDS) await writeAndKill(server, round, known)
      else await server.stop()
      written += known.length
      earlier = [...known, ...earlier.filter((_, at) => at % 7 === 0).slice(0, 100)]
    }
    expect(written).toBeGreaterThan(ROUNDS)
    expect(await checkState(file)).toMatchObject({ kind: 'valid', notices: [] })
    console.log(`kill -9: ${ROUNDS} rounds, ${written} accounts were answered for, none is missing`)
  },
  30_000 + ROUNDS * 15_000,
)
