import { expect } from 'vitest'
import type { Serving } from '../app/cli/toolmock-process.ts'
import { accountOf, type Caller } from './client.ts'

/** The known state of an account: its last answered change, and a later one that may have been written. */
export interface Known {
  id: string
  identifier: string
  /** Undefined once it has been deleted. */
  version: number | undefined
  /** A change whose answer never arrived: `deleted`, or the next version. */
  pending: number | 'deleted' | undefined
}

/** Creates, updates and deletes until the connection breaks; records every answer in `known`. */
export async function write(caller: Caller, name: string, known: Known[]): Promise<void> {
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

/**
 * Lets the writers of a round go on until another number of their changes is answered than in the round before; in every
 * fifth round a clean stop has begun by then.
 */
export async function untilAnotherMoment(
  server: Serving,
  round: number,
  { writers, known }: { writers: readonly Promise<void>[]; known: readonly Known[] },
): Promise<void> {
  const answered = 10 + ((round * 37) % 50)
  await expect.poll(() => known.length, { interval: 5, timeout: 60_000 }).toBeGreaterThan(answered)
  if (round % 5 !== 4) return
  server.child.kill('SIGTERM')
  await Promise.race(writers)
}

export async function expectThere(caller: Caller, { id, identifier, version, pending }: Known): Promise<void> {
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
