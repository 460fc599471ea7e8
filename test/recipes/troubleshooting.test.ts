import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { createToolmock } from '../../src/index.ts'
import { ToolmockProgram } from '../app/cli/toolmock-process.ts'
import { createAccount } from '../support/accounts.ts'
import { withToolmock } from '../support/toolmock.ts'
import { codeBlocks, sections } from './markdown.ts'

const PAGE = 'docs/troubleshooting.md'
const toolmock = ToolmockProgram.forThisFile()

/** A program that sends a field which the contract does not have. */
const CARELESS = codeBlocks('docs/reports.md', 'Your first verdict', 'js').join('')

/** A program that signs in with a wrong secret, and goes on with a token of another server. */
const ELSEWHERE = `
const { TOOLMOCK_URL, TOOLMOCK_CLIENT_ID: client_id } = process.env
const form = { client_id, client_secret: 'of another server', grant_type: 'client_credentials' }
await fetch(TOOLMOCK_URL + '/oauth/token', { method: 'POST', body: new URLSearchParams(form) })
await fetch(TOOLMOCK_URL + '/api/v1/connections', { headers: { Authorization: 'Bearer of-another-server' } })
`

/** A request whose Host can be chosen, which `fetch` does not allow. */
function post(url: string, path: string, body: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: 'POST', headers }, (answer) => void text(answer).then(resolve, reject))
    sent.on('error', reject).end(body)
  })
}

/** What a user sees, by the heading of the page; each is produced as users produce it. */
const SYMPTOMS: Readonly<Record<string, () => Promise<string>>> = {
  '404 for an account that I created': async () => {
    let seen = ''
    await withToolmock({}, async (before) => {
      const { id } = await createAccount(before)
      await withToolmock({}, async ({ api }) => {
        seen = (await api.get('/connected_accounts/details', { id })).text
      })
    })
    return (JSON.parse(seen) as { message: string }).message
  },
  'My seed was not applied': async () => {
    const [state, seed] = [toolmock.path('kept.json'), toolmock.path('seed.yaml')]
    writeFileSync(seed, 'accounts: [{ connector: mail, identifier: ada@example.com }]\n')
    await (await toolmock.start(['--state', state])).stop()
    const again = await toolmock.start(['--state', state, '--seed', 'bundled', '--seed', seed])
    return (await again.stop()).stderr
  },
  '401 in the middle of a run': async () => {
    let seen = ''
    await withToolmock({}, async ({ api, time }) => {
      expect((await api.get('/connected_accounts')).status).toBe(200)
      time.advance('25h')
      seen = (await api.get('/connected_accounts')).text
    })
    return seen
  },
  'The port is in use': async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { code, stderr } = await toolmock.run(['start', '--in-memory', '--port', String(port)])
    taken.close()
    expect(code).toBe(2)
    return stderr
  },
  'Nothing is in the request journal': async () => {
    const { code, stderr } = await toolmock.run(['run', '--', process.execPath, '-e', '0'])
    expect(code).toBe(3)
    return stderr
  },
  'Nothing was judged': async () => {
    const program = toolmock.path('elsewhere.mjs')
    writeFileSync(program, ELSEWHERE)
    const { code, stderr } = await toolmock.run(['run', '--', process.execPath, program])
    expect(code).toBe(3)
    return stderr
  },
  'The verdict fails, and all tests pass': async () => {
    const program = toolmock.path('connect.mjs')
    writeFileSync(program, CARELESS)
    const { code, stderr } = await toolmock.run(['run', '--', process.execPath, program])
    expect(code).toBe(3)
    expect(stderr).toContain(codeBlocks('docs/reports.md', 'Your first verdict', 'text').join('').trim())
    writeFileSync(program, CARELESS.replace('user_verify_ulr', 'user_verify_url'))
    expect(await toolmock.run(['run', '--', process.execPath, program])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('the contract was kept'),
    })
    return stderr
  },
  'The state file is refused': async () => {
    const state = toolmock.path('damaged.json')
    writeFileSync(state, '{"version": 3, oops')
    const { code, stderr } = await toolmock.run(['start', '--port', '0', '--state', state])
    expect(code).toBe(2)
    return stderr
  },
  'The certificate is not trusted': async () => {
    await using mock = await createToolmock({ tls: true })
    const failure: unknown = await fetch(mock.url).catch((error: unknown) => error)
    return (failure as { cause: { code: string } }).cause.code
  },
  'A link leads to a name that my browser does not know': async () => {
    await using mock = await createToolmock()
    const form = { client_id: mock.clientId, client_secret: mock.clientSecret, grant_type: 'client_credentials' }
    const token = await post(mock.url, '/oauth/token', String(new URLSearchParams(form)), {
      'Content-Type': 'application/x-www-form-urlencoded',
    })
    const account = JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' })
    const { access_token } = JSON.parse(token) as { access_token: string }
    return await post(mock.url, '/api/v1/connected_accounts/magic_link', account, {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${access_token}`,
      Host: 'toolmock:8665',
    })
  },
  'The control API refuses the host': async () => {
    let seen = ''
    await withToolmock({}, async ({ http }) => {
      seen = (await http('get', '/_mock/requests').set('Host', 'mock.example.com')).text
    })
    return (JSON.parse(seen) as { error: { message: string } }).error.message
  },
  'A bundled program does not start the mock': async () => {
    const outfile = toolmock.path('program.cjs')
    const contents = "import { createToolmock } from './src/index.ts'; void createToolmock()"
    // jsonc-parser's main file is UMD, which no bundler can follow.
    const alias = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' }
    const stdin = { contents, resolveDir: ROOT }
    await build({ bundle: true, platform: 'node', logLevel: 'error', stdin, outfile, alias })
    return spawnSync(process.execPath, [outfile], { encoding: 'utf8' }).stderr
  },
}

describe(PAGE, () => {
  it('has the symptoms that are produced here', () => {
    expect(sections(PAGE)).toEqual(Object.keys(SYMPTOMS))
  })

  it.each(Object.entries(SYMPTOMS))('%s', { timeout: 120_000 }, async (title, produce) => {
    const [shown = ''] = codeBlocks(PAGE, title, 'text')
    expect(shown).not.toBe('')
    expect(await produce()).toContain(shown.trim())
  })
})
