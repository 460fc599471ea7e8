import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { checkState } from '../../src/state/state-report.ts'
import { type Serving, ToolmockProcess } from '../cli/toolmock-process.ts'
import { accountOf, type Caller, signIn } from './client.ts'

/** `npm run test:crash` kills 200 times; the short form in `npm test` ten times. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 10)
const WRITERS = 8

const toolmock = ToolmockProcess.forThisFile()

/** What is known of an account: the last change that was answered, and the one after it that may have happened as well. */
interface Known {
  id: string
  identifier: string
  /** Undefined once it has been deleted. */
  version: number | undefined
  /** A change whose answer never came: `deleted`, or the next version. */
  pending: number | 'deleted' | undefined
}

/** Creates, updates and deletes until the connection breaks; every answer that came counts. */
async function write(caller: Caller, name: string, known: Known[]): Promise<void> {
  try {
    for (let each = 0; ; each++) {
      const identifier = `${name}-${each}@example.com`
      const created = await caller.send('POST', '/connected_accounts', {
        connector: 'mail',
        identifier,
        connected_account: { api_config: { version: 0 } },
      })
      expect(created.status).toBe(201)
      const account: Known = { id: accountOf(created).id, identifier, version: 0, pending: undefined }
      known.push(account)
      await change(caller, account, each)
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

async function change(caller: Caller, account: Known, each: number): Promise<void> {
  const { id } = account
  account.pending = 1
  const updated = await caller.send('PUT', '/connected_accounts', {
    id,
    connected_account: { api_config: { version: 1 } },
  })
  expect(updated.status).toBe(200)
  account.version = 1
  account.pending = undefined
  if (each % 3 !== 0) return
  account.pending = 'deleted'
  const deleted = await caller.send('POST', '/connected_accounts:delete', { id })
  expect(deleted.status).toBe(200)
  account.version = undefined
  account.pending = undefined
}

async function expectThere(caller: Caller, { id, identifier, version, pending }: Known): Promise<void> {
  const found = await caller.send('GET', `/connected_accounts/details?id=${id}`)
  if (version === undefined || (pending === 'deleted' && found.status === 404)) {
    expect(found.status, identifier).toBe(404)
    return
  }
  expect(found.status, identifier).toBe(200)
  const { api_config, identifier: stored } = accountOf(found)
  expect(stored).toBe(identifier)
  expect([version, pending]).toContain(api_config['version'])
}

/** Kills in the middle of writing; in every fifth round in the middle of a clean stop. */
async function writeAndKill(server: Serving, round: number, known: Known[]): Promise<void> {
  const caller = await signIn(server.url)
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(caller, `r${round}-w${writer}`, known))
  // The moment moves through the life of a commit from round to round.
  await pause(100 + ((round * 37) % 250))
  if (round % 5 === 4) {
    server.child.kill('SIGTERM')
    await pause((round * 7) % 40)
  }
  await server.stop('SIGKILL')
  await Promise.all(writers)
}

describe('kill -9 in the middle of concurrent writes', () => {
  it(
    `loses nothing that was answered, ${ROUNDS} times, and leaves a sound file`,
    async () => {
      const file = toolmock.path('killed/state.json')
      let earlier: Known[] = []
      let written = 0
      for (let round = 0; round <= ROUNDS; round++) {
        if (round > 0) expect(await checkState(file)).toMatchObject({ kind: 'sound' })
        const server = await toolmock.start(['--state', file])
        const caller = await signIn(server.url)
        // Everything of the last round, and some of each earlier one.
        for (const account of earlier) await expectThere(caller, account)
        const known: Known[] = []
        if (round < ROUNDS) await writeAndKill(server, round, known)
        else await server.stop()
        written += known.length
        earlier = [...known, ...earlier.filter((_, at) => at % 7 === 0).slice(0, 100)]
      }
      expect(written).toBeGreaterThan(ROUNDS)
      expect(await checkState(file)).toMatchObject({ kind: 'sound', notices: [] })
      console.log(`kill -9: ${ROUNDS} rounds, ${written} accounts were answered for, none is missing`)
    },
    30_000 + ROUNDS * 15_000,
  )
})
