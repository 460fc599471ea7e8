import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'

// `npx tsx bench/request-path.ts` counts the files and functions of `src/` that one warm request runs, and the syncs of the disk
// that end before its answer. `--list` prints the files, each with the number of its functions.

/** Starts a server with a state file and calls `onSync` after each sync. Only this function uses the internals of `src/`. */
async function start(state: string, onSync: () => void): Promise<{ url: string; close: () => Promise<void> }> {
  // Imported here, because V8 counts only functions that are loaded after the count has started.
  const { createApp } = await import('../src/app/app.ts')
  const { nodeFileSystem: disk } = await import('../src/state/wal/file-system.ts')
  const watched = async (opened: ReturnType<typeof disk.create>): ReturnType<typeof disk.create> => {
    const file = await opened
    return { ...file, sync: () => file.sync().then(onSync), datasync: () => file.datasync().then(onSync) }
  }
  const fileSystem: typeof disk = {
    ...disk,
    create: (path) => watched(disk.create(path)),
    createNew: (path) => watched(disk.createNew(path)),
    reopen: (path) => watched(disk.reopen(path)),
    syncDirectory: (path) => disk.syncDirectory(path).then(onSync),
  }
  const app = await createApp({ state, seeds: ['bundled'], fileSystem })
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, close: () => app.close() }
}

/** Requests of a case before the measured one. */
const WARM_UP = 8
/** The work that a request leaves for after its answer is finished after this pause. */
const REST_MS = 50
const SOURCES = fileURLToPath(new URL('../src/', import.meta.url))

interface Case {
  title: string
  /** Restores the state in which the request has the same effect again. */
  prepare?: () => Promise<unknown>
  request: (round: number) => Promise<Response>
  status: number
}

/** `files` has the number of functions that run in each file. */
type Measured = Pick<Case, 'title'> & { files: Map<string, number>; syncs: number }

const { values: flags } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'toolmock-request-path-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

// V8 does not count a function that the optimizer has inlined.
for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag)
const profiler = new Session()
profiler.connect()
await profiler.post('Profiler.enable')
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

let syncs = 0
const server = await start(join(folder, 'state.json'), () => syncs++)
const all: Measured[] = []
for (const each of await casesOf(await client(server.url))) all.push(await measure(each))
await server.close()
report(all)

type Send = (request: `${'POST' | 'PUT' | 'DELETE'} /${string}`, body?: object) => Promise<Response>

/** Sends requests as the first client of the bundled seed. */
async function client(url: string): Promise<Send> {
  const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const token = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await token.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  return async (request, body = {}) => {
    const [method = '', path = ''] = request.split(' ')
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    assert(answer.ok || !path.startsWith('/_mock'), `${request} answers ${answer.status}`)
    return answer
  }
}

async function casesOf(send: Send): Promise<Case[]> {
  const create = (connector: string, name: string | number, authorization_details: object): Promise<Response> => {
    const account = { connector, identifier: `${name}@example.com`, connected_account: { authorization_details } }
    return send('POST /api/v1/connected_accounts', account)
  }
  const apiKey = { static_auth: { details: { api_key: 'key_1' } } }
  const oauth = { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['mail.read', 'mail.send'] } }
  const ada = (await (await create('mail', 'ada', oauth)).json()) as { connected_account: { id: string } }
  const tool_input = { to: 'grace@example.com', subject: 'Lunch', body: 'On Friday?' }
  const call = { connector: 'mail', identifier: 'ada@example.com', tool_name: 'mail_send_message', tool_input }
  const execute = (): Promise<Response> => send('POST /api/v1/execute_tool', call)
  const expire = (): Promise<Response> => send(`POST /_mock/accounts/${ada.connected_account.id}/expire_access_token`)
  const expireSlowly = async (): Promise<void> => {
    const rules = [{ name: 'slow', at: 'third_party', do: [{ latency: '100ms' }] }]
    await send('PUT /_mock/scenarios/slow', { name: 'slow', rules })
    await send('POST /_mock/scenarios/slow/start')
    await expire()
  }
  // This bundled scenario answers two calls with 429; the second one is measured.
  const limitTwice = (): Promise<Response> =>
    send('DELETE /_mock/scenarios')
      .then(() => send('POST /_mock/scenarios/rate-limited/start'))
      .then(execute)
  const limitAll = async (): Promise<void> => {
    const rules = [{ name: 'busy', at: 'service', do: [{ respond: { status: 429 } }] }]
    await send('DELETE /_mock/scenarios')
    await send('PUT /_mock/scenarios/busy', { name: 'busy', rules })
    await send('POST /_mock/scenarios/busy/start')
  }
  return [
    { title: 'create, API key', request: (round) => create('weather', round, apiKey), status: 201 },
    { title: 'create, OAuth tokens', request: (round) => create('mail', round, oauth), status: 201 },
    { title: 'execute, token is refreshed', prepare: expire, request: execute, status: 200 },
    { title: 'the same, answered after 100 ms', prepare: expireSlowly, request: execute, status: 200 },
    { title: 'execute, 429 at third party', prepare: limitTwice, request: execute, status: 429 },
    { title: 'create, 429 at service', prepare: limitAll, request: () => create('weather', 0, apiKey), status: 429 },
  ]
}

async function measure({ title, prepare, request, status }: Case): Promise<Measured> {
  for (let round = 1; ; round++) {
    await prepare?.()
    await rest(REST_MS)
    await counted()
    const before = syncs
    const answer = await request(round)
    const waitedFor = syncs - before
    assert.equal(answer.status, status, await answer.text())
    await rest(REST_MS)
    if (round > WARM_UP) return { title, files: await counted(), syncs: waitedFor }
  }
}

/** The number of functions of each file of `src/` that have run since the last call. The top level of a module does not count. */
async function counted(): Promise<Map<string, number>> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage')
  const files = new Map<string, number>()
  for (const { url, functions } of result) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : ''
    // esbuild adds a function `__name` to each file, and V8 names the initializers of class fields `<…>`.
    const named = functions.filter(({ functionName: name }) => name !== '__name' && !name.startsWith('<'))
    const ran = named.filter(({ ranges: [whole] }) => whole && whole.count > 0 && whole.startOffset > 0)
    if (path.startsWith(SOURCES) && ran.length > 0) files.set(relative(SOURCES, path), ran.length)
  }
  return files
}

function report(all: readonly Measured[]): void {
  const line = (title: string, cells: readonly (string | number)[]): string =>
    title.padEnd(32) + cells.map((cell) => String(cell).padStart(11)).join('')
  console.log(line('one warm request', ['files', 'functions', 'syncs']))
  for (const { title, files, syncs: waitedFor } of all) {
    const functions = [...files.values()].reduce((sum, count) => sum + count, 0)
    console.log(line(title, [files.size, functions, waitedFor]))
  }
  if (!flags.list) return
  for (const { title, files } of all) {
    console.log(`\n${title}`)
    for (const [file, count] of [...files].sort()) console.log(`  ${file} (${count})`)
  }
}
