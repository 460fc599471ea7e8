import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { checkState } from '../../src/state/state-report.ts'
import { type Serving, ToolmockProcess } from '../app/cli/toolmock-process.ts'

const MANY = 5000

const toolmock = ToolmockProcess.forThisFile()
const fileOf = (name: string): string => toolmock.path(`${name}/state.json`)

/** Starts a server on what is left of a state, which has one of these numbers of accounts. */
async function restarted(name: string, accounts: readonly number[]): Promise<Serving> {
  expect(await checkState(fileOf(name))).toMatchObject({ kind: 'valid' })
  const server = await toolmock.start(['--state', fileOf(name)])
  expect(accounts).toContain(await accountsOf(server))
  return server
}

async function accountsOf({ url }: Serving): Promise<number | undefined> {
  const answer = await fetch(`${url}/_mock/environments`)
  const { environments } = (await answer.json()) as { environments: { accounts: number }[] }
  return environments[0]?.accounts
}

function seed({ url }: Serving, accounts: number, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ generate: [{ accounts, connector: 'mail' }] })
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/_mock/seed`, { method: 'POST', headers, body, ...(signal && { signal }) })
}

/** The status of an answer; undefined when the server was killed before it. */
function statusOf(answer: Promise<Response>): Promise<number | undefined> {
  return answer.then(
    ({ status }) => status,
    () => undefined,
  )
}

/** Other requests that are answered, one after the other, with all the accounts or with those of before. */
async function others(server: Serving, count: number, accounts: readonly number[] = [0, MANY]): Promise<void> {
  for (let each = 0; each < count; each++) expect(accounts).toContain(await accountsOf(server))
}

/** Resolves once the log has grown by so many bytes, or the request is answered. A commit of so many accounts takes several MB. */
async function writing(name: string, bytes: number, answer: Promise<unknown>): Promise<void> {
  const answered = { yet: false }
  void answer.then(() => (answered.yet = true))
  const log = `${fileOf(name)}.wal.0`
  const { size } = await stat(log)
  while (!answered.yet && (await stat(log)).size < size + bytes);
}

it.each([1, 8])(
  'of which kill -9 after %i other answers leaves all or nothing',
  async (count) => {
    const name = `killed-${count}`
    const server = await toolmock.start(['--state', fileOf(name)])
    const answer = statusOf(seed(server, MANY))
    await others(server, count)
    await server.stop('SIGKILL')
    const again = await restarted(name, (await answer) === 200 ? [MANY] : [0, MANY])
    await again.stop()
  },
  60_000,
)

it.each([100_000, 2_500_000])(
  'of which kill -9 after %i bytes leaves all or nothing',
  async (bytes) => {
    const name = `written-${bytes}`
    const server = await toolmock.start(['--state', fileOf(name)])
    // This answer waits until everything before the seed is written.
    await others(server, 1)
    const answer = statusOf(seed(server, MANY))
    await writing(name, bytes, answer)
    await server.stop('SIGKILL')
    const again = await restarted(name, (await answer) === 200 ? [MANY] : [0, MANY])
    await again.stop()
  },
  60_000,
)

it('is all there after a kill -9 right after its answer, and a reset brings back all of it or nothing', async () => {
  const server = await toolmock.start(['--state', fileOf('reset')])
  expect((await seed(server, MANY)).status).toBe(200)
  await server.stop('SIGKILL')
  const left = [MANY, MANY + 1]
  for (const kill of ['early', 'late'] as const) {
    const again = await restarted('reset', left)
    // A link makes an account, which a reset takes away.
    const body = JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${again.url}/_mock/links`, { method: 'POST', headers, body })).status).toBe(201)
    expect(await accountsOf(again)).toBe(MANY + 1)
    const answer = statusOf(fetch(`${again.url}/_mock/reset`, { method: 'POST' }))
    await (kill === 'early' ? others(again, 2, left) : writing('reset', 100_000, answer))
    await again.stop('SIGKILL')
    const last = await restarted('reset', (await answer) === 200 ? [MANY] : left)
    await last.stop('SIGKILL')
  }
}, 60_000)

it('is added although its client goes away', async () => {
  const server = await toolmock.start(['--state', fileOf('left')])
  const client = new AbortController()
  const answer = seed(server, MANY, client.signal)
  await others(server, 4)
  client.abort()
  await expect(answer).rejects.toThrow('aborted')
  expect((await seed(server, 1)).status).toBe(200)
  expect(await accountsOf(server)).toBe(MANY + 1)
  await server.stop()
}, 60_000)

it('is there as a whole or not at all when the server stops meanwhile', async () => {
  const server = await toolmock.start(['--state', fileOf('stopped')])
  const answer = statusOf(seed(server, 4 * MANY))
  await others(server, 4, [0, 4 * MANY])
  expect(await server.stop()).toMatchObject({ code: 0 })
  const again = await restarted('stopped', (await answer) === 200 ? [4 * MANY] : [0, 4 * MANY])
  await again.stop()
}, 60_000)
