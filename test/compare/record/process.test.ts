import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { problemsIn } from './recording.ts'
import { freePort } from '../../support/free-port.ts'

const toolmock = ToolmockProcess.forThisFile()
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections()
})

/** A service that answers everything alike. */
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts the recorder; `stop` ends it by a signal. */
async function recording(upstream: string, folder: string, ...flags: string[]) {
  const { child, end } = toolmock.begin(['record', '--upstream', upstream, '--out', folder, ...flags])
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  const [, url = ''] = / at (http:\S+):/.exec(line) ?? []
  return {
    url,
    end,
    stop: async (signal: NodeJS.Signals = 'SIGINT') => {
      child.kill(signal)
      const { code, stdout, stderr } = await end
      return { code, stdout: stdout.toString(), stderr: stderr.toString() }
    },
  }
}

/** What a test of an application does: the whole way from a link to a tool, with what the service refuses. */
const CLIENT = `
const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
const { access_token } = await (await fetch(url + '/oauth/token', { method: 'POST', body: form })).json()
const headers = { authorization: 'Bearer ' + access_token, 'content-type': 'application/json' }
async function call(method, path, body) {
  const response = await fetch(url + '/api/v1' + path, { method, headers, body: body && JSON.stringify(body) })
  const text = await response.text()
  const json = text === '' ? {} : JSON.parse(text)
  const words = [json.details?.[0]?.error_code, json.connected_account?.status, JSON.stringify(json.data)]
  console.log([method, path.replace(/ca_\\w+/, 'ID'), response.status, ...words].join(' '))
  return json
}
await call('GET', '/connections')
await call('GET', '/tools?page_size=1000')
const name = { connector: 'mail', identifier: 'ada@example.com', organization_id: 'org_1' }
const { connected_account: { id } } = await call('POST', '/connected_accounts', name)
const run = (tool_name, tool_input) => call('POST', '/execute_tool', { connected_account_id: id, tool_name, tool_input })
await run('mail_list_messages', {})
const { link } = await call('POST', '/connected_accounts/magic_link', { id, user_verify_url: 'http://app.test/back' })
const redirect = await fetch(link + '?decision=approve', { redirect: 'manual' })
const auth_request_id = new URL(redirect.headers.get('location')).searchParams.get('auth_request_id')
const verify = (identifier) => call('POST', '/connected_accounts/user/verify', { auth_request_id, identifier })
await verify('eve@example.com')
await verify(name.identifier)
await verify(name.identifier)
await call('GET', '/connected_accounts/details?id=' + id)
await run('mail_send_message', { to: 'grace@example.com', subject: 'Hello' })
await run('mail_send_message', { to: 'grace@blocked.example', subject: 'Hello' })
await run('nobody_has_this', {})
await call('POST', '/connected_accounts:delete', { id })
await call('GET', '/connected_accounts/details?id=' + id)
`

const CREDENTIALS = { TOOLMOCK_CLIENT_ID: 'test_client', TOOLMOCK_CLIENT_SECRET: 'test_secret' }

/** What the client says at a URL. */
async function clientAt(url: string, file: string): Promise<string> {
  const { spawn } = await import('node:child_process')
  const { text } = await import('node:stream/consumers')
  const env = { ...process.env, ...CREDENTIALS, TOOLMOCK_URL: url }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}

async function withService<T>(work: (url: string) => Promise<T>): Promise<T> {
  const app = await createApp({})
  try {
    return await work((await app.listen({ host: '127.0.0.1', port: 0 })).url)
  } finally {
    await app.close()
  }
}

describe('toolmock record', () => {
  it('writes at Ctrl-C what the same client finds again in toolmock run, the verification of its user included', async () => {
    const [client, folder] = [toolmock.path('client.mjs'), toolmock.path('whole')]
    await writeFile(client, CLIENT)
    const [said, ended] = await withService(async (service) => {
      const { url, stop } = await recording(service, folder)
      return [await clientAt(url, client), await stop()]
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(said).toMatch(/verify 403 IDENTIFIER_MISMATCH[^]*verify 200[^]*verify 404 AUTH_REQUEST_NOT_FOUND/)
    expect(await problemsIn(folder)).toEqual([])
    expect(await readFile(join(folder, 'drift.txt'), 'utf8')).toMatch(/^0 findings/m)
    const run = ['run', '--seed', folder, '--scenario', 'recorded', '--', process.execPath, client]
    expect(await toolmock.run(run)).toMatchObject({ code: 0, stdout: said })
  })

  it.each([
    ['a folder that is not empty', (url: string) => [url, toolmock.path('package')], /is not empty: .*--force/],
    ['an address that is not loopback', () => ['https://service.example', 'new'], /--allow-outbound/],
    ['a service that does not answer', () => ['http://127.0.0.1:9', 'new'], /does not answer \(.*ECONNREFUSED/],
    ['a folder that is a file', (url: string) => [url, process.execPath], /is no folder that can be read \(ENOTDIR\)/],
  ] as const)('exits 2 with %s', async (_what, operands, message) => {
    const service = await serving((_request, response) => response.end())
    const [upstream = '', folder = ''] = operands(service)
    const { code, stdout, stderr } = await toolmock.run(['record', '--upstream', upstream, '--out', folder])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it.runIf(process.platform === 'linux')('exits 2 before it records when its folder cannot be written', async () => {
    const service = await serving((_request, response) => response.end())
    const { code, stdout, stderr } = await toolmock.run(['record', '--upstream', service, '--out', '/proc/recording'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/--out \/proc\/recording cannot be written \(E/)
  })

  it('exits 2 with an upstream that leads elsewhere, which it names', async () => {
    const service = await serving((_request, response) =>
      response.writeHead(308, { location: 'http://other.example/' }).end(),
    )
    const { code, stderr } = await toolmock.run(['record', '--upstream', service, '--out', 'new'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/redirects to http:\/\/other\.example/)
  })

  it('exits 2 with an upstream that is the recorder itself', async () => {
    const port = `${await freePort()}`
    const args = ['record', '--upstream', `http://127.0.0.1:${port}`, '--port', port, '--out', 'new']
    const { code, stderr } = await toolmock.run(args)
    expect(code).toBe(2)
    expect(stderr).toMatch(/is this recorder itself/)
  })

  it('with --force writes into a folder that is not empty, and leaves what is not its own', async () => {
    const folder = toolmock.path('forced')
    await mkdir(join(folder, 'connectors'), { recursive: true })
    await writeFile(join(folder, 'notes.txt'), 'mine')
    await withService(async (service) => {
      const { url, stop } = await recording(service, folder, '--force')
      await fetch(`${url}/api/v1/connections`)
      expect(await stop()).toMatchObject({ code: 0 })
    })
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine')
    expect(existsSync(join(folder, 'recording.har'))).toBe(true)
  })

  it('with --force removes what an earlier recording has there and the new one lacks', async () => {
    const folder = toolmock.path('again')
    const client = toolmock.path('again.mjs')
    await writeFile(client, CLIENT)
    const record = async (use: (url: string) => Promise<unknown>) =>
      withService(async (service) => {
        const { url, stop } = await recording(service, folder, '--force')
        await use(url)
        expect(await stop()).toMatchObject({ code: 0 })
      })
    await record((url) => clientAt(url, client))
    expect(await readdir(folder)).toEqual(['connectors', 'drift.txt', 'recording.har', 'scenarios', 'seed.yaml'])
    await record((url) => fetch(`${url}/of-no-operation`))
    const left = await readdir(folder, { recursive: true, withFileTypes: true })
    expect(left.filter((each) => each.isFile()).map(({ name }) => name)).toEqual(['recording.har'])
  })

  it('says that no request came, and writes nothing', async () => {
    const service = await serving((_request, response) => response.end())
    const { stop } = await recording(service, toolmock.path('none'))
    expect(await stop()).toMatchObject({ code: 0, stdout: expect.stringContaining('no request came') as string })
    expect(existsSync(toolmock.path('none'))).toBe(false)
  })

  it('with --mask-identifiers writes the identifier of no account', async () => {
    const folder = toolmock.path('masked')
    await withService(async (service) => {
      const client = toolmock.path('masked.mjs')
      await writeFile(client, CLIENT)
      const { url, stop } = await recording(service, folder, '--mask-identifiers')
      await clientAt(url, client)
      expect((await stop()).stdout).toMatch(/masked: .*identifier 2/)
    })
    const files = await readdir(folder, { recursive: true, withFileTypes: true })
    for (const file of files.filter((each) => each.isFile()))
      expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain('ada@example.com')
    expect(await problemsIn(folder)).toEqual([])
  })

  it('cuts an answer above 5 MB in its files, with a note', async () => {
    const folder = toolmock.path('long')
    const service = await serving((_request, response) => response.end(Buffer.alloc(6_000_000, 'a')))
    const { url, stop } = await recording(service, folder)
    expect((await (await fetch(`${url}/api/v1/connections`)).text()).length).toBe(6_000_000)
    await stop()
    const har = JSON.parse(await readFile(join(folder, 'recording.har'), 'utf8'))
    const { content } = har.log.entries[0].response
    expect(content).toMatchObject({ size: 6_000_000, comment: 'cut: the first 5242880 of 6000000 bytes' })
    expect(content.text.length).toBe(5 * 1024 * 1024)
  })

  it('leaves whole files, or none, when it is killed while it writes them', async () => {
    const client = toolmock.path('killed.mjs')
    await writeFile(client, CLIENT)
    for (const nth of [0, 1, 3, 8]) {
      const folder = toolmock.path(`killed-${nth}`)
      const { url, stop, end } = await withService(async (service) => {
        const recorder = await recording(service, folder)
        await clientAt(recorder.url, client)
        return recorder
      })
      expect(url).not.toBe('')
      expect(existsSync(folder)).toBe(false)
      const stopped = stop()
      const files = async (): Promise<string[]> => {
        const all = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
        return (
          all
            .map((each) => (each.isFile() ? join(each.parentPath, each.name) : ''))
            // What is not moved to its place yet.
            .filter((file) => file !== '' && !file.includes('.toolmock-'))
        )
      }
      const ended = end.then(() => true)
      const isRunning = async (): Promise<boolean> => !(await Promise.race([ended, Promise.resolve(false)]))
      while ((await files()).length < nth && (await isRunning()));
      await stop('SIGKILL')
      await stopped
      for (const file of (await files()).filter((each) => each.endsWith('.har')))
        expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ log: { version: '1.2' } })
      const written = (await files()).filter((each) => each.endsWith('.yaml'))
      if (written.length > 0) expect(await problemsIn(join(folder, 'connectors'))).toEqual([])
    }
  })
})
