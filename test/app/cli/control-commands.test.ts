import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Receiver, SECRET } from '../../service/webhooks/receiver.ts'
import { freePort } from '../../support/free-port.ts'
import { type Serving, ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

const CREDENTIALS = { access_token: 'a', refresh_token: 'r' }
const SEED = `
settings: { consent: ask }
accounts:
  - { connector: mail, identifier: ada@example.com, authorization_details: { oauth_token: ${JSON.stringify(CREDENTIALS)} } }
  - { connector: mail, identifier: grace@example.com, user_id: user_1 }
  - { connector: mail, identifier: grace@example.com, user_id: user_2 }
`

/** Each test runs commands against an environment of its own. */
describe('a command about a running server', () => {
  let serving: Serving
  let number = 0
  beforeAll(async () => {
    serving = await toolmock.start(['--in-memory', '--clock', '2026-01-31T12:00:00Z', '--freeze'])
  })
  afterAll(() => serving.stop())

  interface CommandMock {
    readonly environment: string
    readonly bearer: string
    /** The output of a command that has to succeed. */
    readonly ok: (...args: readonly string[]) => Promise<string>
    readonly json: <T>(...args: readonly string[]) => Promise<T>
    readonly run: (...args: readonly string[]) => ReturnType<typeof toolmock.run>
    readonly post: (path: string, body: object) => Promise<Response>
    readonly get: (path: string) => Promise<Response>
  }

  /** Creates an environment, so that tests do not affect each other. */
  async function mock(): Promise<CommandMock> {
    const environment = `test-${(number += 1)}`
    const send = (path: string, body: string, headers: Record<string, string>) =>
      fetch(`${serving.url}${path}`, { method: 'POST', body, headers })
    const clock = { now: '2026-01-31T12:00:00Z', frozen: true }
    const made = await send('/_mock/environments', JSON.stringify({ name: environment, clock }), {
      'Content-Type': 'application/json',
    })
    const { client_id, client_secret } = (await made.json()) as { client_id: string; client_secret: string }
    await send(`/_mock/seed?environment=${environment}`, SEED, { 'Content-Type': 'application/yaml' })
    const form = new URLSearchParams({ client_id, client_secret, grant_type: 'client_credentials' })
    const token = await fetch(`${serving.url}/oauth/token`, { method: 'POST', body: form })
    const { access_token: bearer } = (await token.json()) as { access_token: string }
    const run = ([command = '', ...args]: readonly string[]) =>
      toolmock.run([command, '--environment', environment, ...args], { TOOLMOCK_URL: serving.url })
    const ok = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    return {
      environment,
      bearer,
      ok,
      json: async <T>(...args: readonly string[]) => JSON.parse(await ok(...args, '--json')) as T,
      run: (...args) => run(args),
      get: (path) => fetch(`${serving.url}/api/v1${path}`, { headers: { Authorization: `Bearer ${bearer}` } }),
      post: (path, body) =>
        send(`/api/v1${path}`, JSON.stringify(body), {
          Authorization: `Bearer ${bearer}`,
          'Content-Type': 'application/json',
        }),
    }
  }

  describe('accounts', () => {
    it('lists the accounts with connector, identifier, status and the time until their token expires', async () => {
      const { ok } = await mock()
      const [titles, ...rows] = (await ok('accounts')).trimEnd().split('\n')
      expect(titles).toMatch(/^CONNECTOR +IDENTIFIER +STATUS +TOKEN EXPIRES +ACCOUNT$/)
      expect(rows).toEqual([
        expect.stringMatching(/^mail +ada@example\.com +ACTIVE +in 1h +ca_\w+$/),
        expect.stringMatching(/^mail +grace@example\.com +ACTIVE +in 1h +ca_\w+$/),
        expect.stringMatching(/^mail +grace@example\.com +ACTIVE +in 1h +ca_\w+$/),
      ])
    })

    it('lists as many as --limit and those that --query selects, and prints them without credentials as JSON', async () => {
      const { ok, json } = await mock()
      expect(await ok('accounts', '--limit', '1')).toMatch(
        /\n1 of 3 accounts; --limit N shows more, --query TEXT selects\n$/,
      )
      expect(await ok('accounts', '--query', 'nobody')).toBe('no account matches\n')
      const found = await json<{ accounts: object[]; total_size: number }>('accounts', '--query', 'ADA')
      expect(found).toMatchObject({ accounts: [{ identifier: 'ada@example.com' }], total_size: 1 })
      expect(JSON.stringify(found)).not.toMatch(/access_token|refresh_token/)
    })

    it('applies an event to the account of an id or of an identifier, and refuses an ambiguous one', async () => {
      const { ok, run, json } = await mock()
      expect(await ok('accounts', 'expire', 'ada@example.com')).toMatch(
        /^expire: account ca_\w+ of ada@example\.com at mail is EXPIRED\n$/,
      )
      const { accounts } = await json<{ accounts: [{ id: string }, { id: string }] }>('accounts')
      expect(await json('accounts', 'disconnect', accounts[1].id)).toMatchObject({
        account: { status: 'DISCONNECTED' },
      })
      const several = await run('accounts', 'expire', 'grace@example.com')
      expect(several).toMatchObject({ code: 1, stdout: '' })
      expect(several.stderr).toMatch(
        /"grace@example\.com" is the identifier of 2 accounts; name one by its id: ca_\w+ \(mail\), ca_\w+ \(mail\)\n/,
      )
      const illegal = await run('accounts', 'expire', accounts[1].id)
      expect(illegal).toMatchObject({ code: 1, stdout: '' })
      expect(illegal.stderr).toMatch(/^toolmock: .*DISCONNECTED/)
      expect(await run('accounts', 'expire', 'ca_nobody')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'toolmock: there is no connected account with the id or the identifier "ca_nobody"\n',
      })
    })
  })

  describe('links', () => {
    const link = (identifier: string) => ({
      connector: 'mail',
      identifier,
      user_verify_url: 'http://localhost:3000/done',
    })

    it('lists the links that can be followed, with the time that is left', async () => {
      const { ok, post } = await mock()
      expect(await ok('links')).toBe('no magic link can be followed\n')
      await post('/connected_accounts/magic_link', link('ada@example.com'))
      expect((await ok('links')).trimEnd().split('\n')).toEqual([
        expect.stringMatching(/^CONNECTOR +IDENTIFIER +EXPIRES +LINK$/),
        expect.stringMatching(/^mail +ada@example\.com +in 15m +http:\/\/127\.0\.0\.1:\d+\/magic\/\S+$/),
      ])
    })

    it('approves with fewer scopes than are asked for, and refuses others', async () => {
      const { ok, run, post } = await mock()
      await post('/connected_accounts/magic_link', link('ada@example.com'))
      const refused = await run('links', 'approve', '--scopes', 'mail.read,mail.wirte')
      expect(refused.stderr).toContain('"mail.wirte"; allowed: mail.read, mail.send')
      expect((await run('links', 'deny', '--scopes', 'mail.read')).stderr).toContain('--scopes goes with links approve')
      expect(await ok('links', 'approve', '--scopes', 'mail.read')).toMatch(/^approved the link/)
    })

    it('approves the only link, or the named one, and prints the URL of the redirect', async () => {
      const { ok, run, json, post } = await mock()
      await post('/connected_accounts/magic_link', link('ada@example.com'))
      expect(await ok('links', 'approve')).toMatch(
        /^approved the link of ada@example\.com at mail\. A browser would go to http:\/\/localhost:3000\/done\?\S+\n$/,
      )
      await post('/connected_accounts/magic_link', link('new@example.com'))
      await post('/connected_accounts/magic_link', link('other@example.com'))
      const { code, stderr } = await run('links', 'deny')
      expect(code).toBe(1)
      expect(stderr).toMatch(/2 magic links can be followed; name one of them:\n {2}\S+ {2}mail new@example\.com\n/)
      expect(await json('links', 'deny', 'other@example.com')).toMatchObject({
        redirect_url: expect.stringContaining('error=access_denied') as string,
      })
      expect((await run('links', 'approve', 'nobody')).stderr).toMatch(
        /no magic link nobody can be followed in environment/,
      )
    })

    it('opens a link with the program that BROWSER names, and prints it', async () => {
      const { post, environment } = await mock()
      await post('/connected_accounts/magic_link', link('ada@example.com'))
      const opened = toolmock.path(`opened-by-${environment}`)
      const browser = toolmock.path(`browser-of-${environment}`)
      writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`, {
        mode: 0o755,
      })
      const variables = { TOOLMOCK_URL: serving.url, BROWSER: browser }
      const { code, stdout } = await toolmock.run(['links', 'open', '--environment', environment], variables)
      expect(code).toBe(0)
      await expect.poll(() => existsSync(opened)).toBe(true)
      expect(`${readFileSync(opened, 'utf8')}\n`).toBe(stdout)
      const none = { TOOLMOCK_URL: serving.url, BROWSER: toolmock.path('no-such-browser') }
      const alone = await toolmock.run(['links', 'open', '--environment', environment], none)
      expect(alone).toEqual({
        code: 0,
        stdout: `${stdout}no browser could be started: open the link yourself\n`,
        stderr: '',
      })
    })
  })

  it('clock shows, moves, stops and runs the clock', async () => {
    const { ok, json } = await mock()
    expect(await ok('clock')).toBe('2026-01-31T12:00:00.000Z, frozen\n')
    expect(await ok('clock', 'advance', '2h')).toBe('2026-01-31T14:00:00.000Z, frozen\n')
    expect(await json('clock', 'set', '2026-03-01T00:00:00+01:00')).toMatchObject({
      before: '2026-01-31T14:00:00.000Z',
      now: '2026-02-28T23:00:00.000Z',
      frozen: true,
      passed: [{ at: '2026-02-01T11:59:59.000Z', effect: 'its last bearer token expires' }],
    })
    expect(await ok('clock', 'run')).toMatch(/^2026-02-28T23:00:0\d\.\d{3}Z, running\n$/)
    expect(await ok('clock', 'freeze')).toMatch(/, frozen\n$/)
  })

  it('scenario lists the scenarios, starts and stops one, and shows how often its rules fired', async () => {
    const { ok, json, run, post } = await mock()
    expect(await ok('scenario')).toMatch(/^rate-limited +The third party limits the rate/m)
    expect(await ok('scenario', 'start', 'token-dies-mid-run?identifier=a/b.yaml')).toMatch(
      /^token-dies-mid-run is running/,
    )
    expect(await ok('scenario', 'start', 'rate-limited')).toBe(
      'rate-limited is running: The third party limits the rate of the first two calls.\n',
    )
    await post('/execute_tool', { connector: 'mail', identifier: 'ada@example.com', tool_name: 'mail_list_messages' })
    expect(await ok('scenario', 'list', 'rate-limited')).toMatch(
      /^RULE +AT +MATCHED +FIRED +WHAT IT DOES\n.* third_party +1 +1 /m,
    )
    expect(await ok('scenario')).toMatch(/^rate-limited +running +1 /m)
    const list = { connector: 'mail', identifier: 'ada@example.com', tool_name: 'mail_list_messages' }
    await post('/execute_tool', list)
    expect(await ok('scenario')).toMatch(/^rate-limited +spent +2 /m)
    expect(await json('scenario', 'stop', 'rate-limited')).toMatchObject({ scenario: { running: false } })
    expect((await run('scenario', 'start', 'rate-limitd')).stderr).toMatch(
      /^toolmock: there is no scenario "rate-limitd"/,
    )
    expect((await run('scenario', 'list', 'rate-limitd')).stderr).toMatch(
      /^toolmock: there is no scenario "rate-limitd" \(did you mean rate-limited\?\); there are /,
    )
    expect((await run('scenario', 'list', 'nothing')).stderr).toMatch(
      /^toolmock: there is no scenario "nothing"; there are /,
    )
  })

  it('scenario leaves out a description that the scenario does not have', async () => {
    const { environment, ok } = await mock()
    const document = { name: 'plain', rules: [{ name: 'slow', at: 'service', do: [{ latency: '1ms' }] }] }
    const put = { method: 'PUT', body: JSON.stringify(document), headers: { 'Content-Type': 'application/json' } }
    await fetch(`${serving.url}/_mock/scenarios/plain?environment=${environment}`, put)
    expect(await ok('scenario', 'start', 'plain')).toBe('plain is running\n')
    expect(await ok('scenario', 'list', 'plain')).toMatch(/^plain \(running\)\n\nRULE /)
  })

  it('reset takes another seed, with the connectors beside it, for every later reset too', async () => {
    const { ok, run, json } = await mock()
    const folder = toolmock.path('rooms')
    mkdirSync(join(folder, 'connectors'), { recursive: true })
    writeFileSync(
      join(folder, 'seed.yaml'),
      'connectors: [rooms]\naccounts:\n  - { connector: rooms, identifier: lena@example.com }\n',
    )
    writeFileSync(join(folder, 'connectors/rooms.yaml'), 'connector: rooms\nauthorization_type: NO_AUTH\n')
    const seed = join(folder, 'seed.yaml')
    expect(await ok('reset', '--seed', seed)).toMatch(
      /^environment test-\d+ is at the seed .*seed\.yaml, and every later reset goes back to it\n$/,
    )
    const accounts = () => json<{ accounts: object[] }>('accounts')
    expect(await accounts()).toMatchObject({ accounts: [{ connector: 'rooms', identifier: 'lena@example.com' }] })
    await ok('accounts', 'disconnect', 'lena@example.com')
    await ok('reset')
    expect(await accounts()).toMatchObject({ accounts: [{ identifier: 'lena@example.com', status: 'ACTIVE' }] })
    writeFileSync(seed, 'accounts:\n  - { connector: rooms }\n')
    const refused = await run('reset', '--seed', seed)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('seed.yaml:2:')
    expect(await accounts()).toMatchObject({ accounts: [{ identifier: 'lena@example.com' }] })
  })

  it('snapshot saves, lists, restores and deletes; reset restores the seed', async () => {
    const { ok, run } = await mock()
    expect(await ok('snapshot')).toBe('there is no snapshot\n')
    expect(await ok('snapshot', 'save', 'before')).toBe('saved snapshot before as of 2026-01-31T12:00:00.000Z\n')
    expect(await ok('snapshot')).toMatch(/^NAME +TAKEN AT\nbefore +2026-01-31T12:00:00\.000Z\n$/)
    await ok('accounts', 'expire', 'ada@example.com')
    await ok('snapshot', 'restore', 'before')
    expect(await ok('accounts')).toMatch(/ada@example\.com +ACTIVE/)
    await ok('snapshot', 'delete', 'before')
    expect(await run('snapshot', 'restore', 'before')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('there is no snapshot "before"; none is saved (') as string,
    })
    await ok('accounts', 'expire', 'ada@example.com')
    expect(await ok('reset')).toMatch(/^environment test-\d+ is back at its seed\n$/)
    expect(await ok('accounts')).toMatch(/ada@example\.com +ACTIVE/)
  })

  describe('logs', () => {
    const details = '/connected_accounts/details?connector=mail&identifier='
    const line = (identifier: string, status: number) =>
      new RegExp(
        `^2026-01-31T12:00:00\\.000Z \\[test-\\d+\\] GET +get_connected_account_details +${status} +\\d+ms mail ${identifier}\\b`,
      )

    it('shows the latest requests, those of an operation or status, or the last few', async () => {
      const { ok, run, get } = await mock()
      await get(`${details}ada@example.com`)
      await get(`${details}zoe@example.com`)
      const lines = (await ok('logs')).trimEnd().split('\n').slice(-2)
      expect(lines).toEqual([
        expect.stringMatching(line('ada@example.com', 200)),
        expect.stringMatching(line('zoe@example.com', 404)),
      ])
      expect(await ok('logs', '--status', '4*')).toBe(`${lines[1]}\n`)
      expect(await ok('logs', '--limit', '1')).toBe(`${lines[1]}\n`)
      expect(await run('logs', '--status', '5*')).toEqual({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/^toolmock: no request matches in environment test-\d+\n$/) as string,
      })
      expect(await run('logs', '--status', 'abc')).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'toolmock: status must be a status from 100 to 599, 0 for no answer, or a glob such as 4*; found "abc"\n',
      })
      expect(await ok('logs', '--operation', 'create_token')).toMatch(
        /^\S+ \[test-\d+\] POST +create_token +200 [^\n]*\n$/,
      )
    })

    it('shows the same effects of a request as the line of the server', async () => {
      const { ok, post } = await mock()
      await post('/execute_tool', {
        connector: 'mail',
        identifier: 'ada@example.com',
        tool_name: 'mail_list_messages',
        tool_input: {},
      })
      expect(await ok('logs', '--operation', 'execute_tool')).toMatch(
        / mail ada@example\.com mail_list_messages → GET mail \/v1\/messages 200\n$/,
      )
    })

    it('prints one whole journal entry a line with --json', async () => {
      const { ok, get } = await mock()
      await get(`${details}ada@example.com`)
      const entries = (await ok('logs', '--json', '--status', '200')).trimEnd().split('\n')
      expect(JSON.parse(entries.at(-1) ?? '')).toMatchObject({
        operation: 'get_connected_account_details',
        request: { headers: {} },
      })
    })

    it('prints each new request, and ends with the server', async () => {
      const own = await toolmock.start(['--in-memory'])
      const lines = toolmock.lines(['logs', '-f', '--status', '401'], { TOOLMOCK_URL: own.url })
      // The first request may arrive before the list is read, or after: it is shown once.
      const ask = () => fetch(`${own.url}/api/v1/connections`)
      await ask()
      expect(await lines.next()).toMatch(
        /^\S+ violation: Authorization is required GET +list_connections +401 .*UNAUTHENTICATED req_\w+$/,
      )
      await fetch(`${own.url}/api/v1/nothing`)
      await ask()
      expect(await lines.next()).toMatch(/ list_connections +401 /)
      await own.stop()
      expect(await lines.end).toEqual({
        code: 0,
        stderr: 'toolmock: the server has ended the stream of requests\n',
        rest: [],
      })
    })

    it('ends once the reader of a new request is gone, as in | head -1', async () => {
      const own = await toolmock.start(['--in-memory'])
      const ask = () => fetch(`${own.url}/api/v1/connections`)
      const { child } = toolmock.begin(['logs', '-f'], { variables: { TOOLMOCK_URL: own.url } })
      await Promise.all([once(child.stdout!, 'data'), ask()])
      child.stdout?.destroy()
      await expect.poll(() => ask().then(() => child.exitCode)).toBe(0)
      await own.stop()
    })
  })

  it('explain prints why a request got its answer', async () => {
    const { ok, get, run, json } = await mock()
    const answer = await get('/connected_accounts/details?connector=mail&identifier=zoe@example.com')
    const id = answer.headers.get('x-request-id') ?? ''
    expect(await ok('explain', id)).toMatch(
      /^GET \/api\/v1\/connected_accounts\/details\S* \(get_connected_account_details\) .* 404 ACCOUNT_NOT_FOUND\.\n/,
    )
    expect(await json('explain', id)).toMatchObject({ id, cause: expect.any(Array) as unknown[], findings: [] })
    expect(await run('explain', 'req_nothing')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^toolmock: the request journal has no request "req_nothing"/) as string,
    })
  })

  it('webhooks lists where events are sent, sends one and sends it again', async () => {
    const { environment, ok, json, run } = await mock()
    const receiver = new Receiver()
    const url = await receiver.listen()
    expect(await ok('webhooks')).toMatch(/^there is no webhook/)
    await fetch(`${serving.url}/_mock/webhooks/app?environment=${environment}`, {
      method: 'PUT',
      body: JSON.stringify({ url, secret: SECRET }),
      headers: { 'Content-Type': 'application/json' },
    })
    const sent = await ok('webhooks', 'send', 'token_refresh_failed', 'ada@example.com')
    const [, event = ''] = /^(evt_\w+) \(connected_account\.token_refresh_failed\) is sent to app\n$/.exec(sent) ?? []
    await receiver.answered(1)
    while ((await json<{ webhooks: { waiting: number }[] }>('webhooks')).webhooks[0]?.waiting !== 0);
    expect(await ok('webhooks')).toMatch(/^NAME +URL +EVENTS +WAITING +NEXT ATTEMPT\napp +http:\S+ +9 +0 *\n$/)
    await ok('webhooks', 'resend', event)
    await receiver.answered(2)
    expect(receiver.events.map(({ id }) => id)).toEqual([event, event])
    expect(await run('webhooks', 'send', 'refreshed')).toMatchObject({ code: 2, stdout: '' })
    expect(await run('webhooks', 'resend', 'evt_x')).toMatchObject({ code: 1, stdout: '' })
    await receiver.close()
  })

  it('webhooks says now of an attempt that is due, however long it takes', async () => {
    const { environment, ok } = await mock()
    const receiver = new Receiver()
    let answer = (_status: number): void => undefined
    receiver.answer = () => new Promise((resolve) => (answer = resolve))
    await fetch(`${serving.url}/_mock/webhooks/app?environment=${environment}`, {
      method: 'PUT',
      body: JSON.stringify({ url: await receiver.listen(), secret: SECRET }),
      headers: { 'Content-Type': 'application/json' },
    })
    await ok('webhooks', 'send', 'created', 'ada@example.com')
    await ok('clock', 'advance', '5s')
    expect(await ok('webhooks')).toMatch(/ 1 +now\n$/)
    answer(200)
    await receiver.close()
  })

  it('explain prints what a part of the document says', async () => {
    const { code, stdout } = await toolmock.run(['explain', 'document:4.9'])
    expect(code).toBe(0)
    expect(stdout).toContain(
      '- search_connected_accounts: Accounts whose identifier, provider or connector contains the text, in upper or lower case',
    )
    expect(stdout).toContain('- search_connected_accounts: query: type string, minLength 3\n')
    const unknown = await toolmock.run(['explain', 'document:99'])
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no rule document:99; there are G1'),
    })
  })

  it.each([
    [
      'ACCOUNT_NOT_ACTIVE',
      /^ACCOUNT_NOT_ACTIVE, Errors\n- 400: Tools run only with ACTIVE accounts[\s\S]* new magic link/,
    ],
    [
      'invalid_client',
      /^invalid_client, Errors\n- The client id or the client secret is wrong: the id chooses the environment/,
    ],
    ['link_expired', /^LINK_EXPIRED, Errors\n- /],
  ])('explain %s says what the error means, without a server', async (code, text) => {
    expect(await toolmock.run(['explain', code])).toMatchObject({ code: 0, stdout: expect.stringMatching(text) })
  })

  it.each<[readonly string[], string]>([
    [['clock', 'advanse', '2h'], 'clock advanse is not known. Did you mean advance? See npx toolmock clock --help.'],
    [['clock', 'advance'], 'clock advance takes one DURATION, such as 90s or 2h. See npx toolmock clock --help.'],
    ...['-2h', '-PT5M', '-90'].map((back): [string[], string] => [
      ['clock', 'advance', back],
      `clock advance ${back} would go back: clock set INSTANT takes the clock to an earlier time. See npx toolmock clock --help.`,
    ]),
    [['scenario', 'start', 'mine.yaml'], 'scenario start takes the name of a scenario, and mine.yaml is a file: PUT '],
    [['accounts', 'explode', 'x'], 'accounts explode is not known. Actions are list, expire, disconnect, '],
    [['accounts', 'expire', 'a', 'b'], 'accounts expire takes one ACCOUNT. See npx toolmock accounts --help.'],
    [['links', '--as', 'ada'], '--as goes with links approve and links deny. See npx toolmock links --help.'],
    [['reset', 'all'], 'reset takes no all. See npx toolmock reset --help.'],
    [['snapshot', 'save'], 'snapshot save takes one NAME. See npx toolmock snapshot --help.'],
    [['webhooks', 'send'], 'webhooks send takes one TYPE, and may take one ACCOUNT. See npx toolmock webhooks --help.'],
    [['webhooks', 'resend'], 'webhooks resend takes one EVENT. See npx toolmock webhooks --help.'],
    [['scenario', 'start'], 'scenario start takes one NAME. See npx toolmock scenario --help.'],
  ])('%j is refused with exit code 2 and what is allowed', async (args, message) => {
    const { code, stdout, stderr } = await toolmock.run(args, { TOOLMOCK_URL: serving.url })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`toolmock: ${message}`)
  })

  it('reports what is wrong with an argument that the server refuses, and which environments exist', async () => {
    const { run } = await mock()
    const bad = await run('clock', 'advance', 'soon')
    expect(bad).toMatchObject({ code: 2, stdout: '' })
    expect(bad.stderr).toMatch(/^toolmock: .*advance.*90s, 15m, 2h/)
    const nowhere = await toolmock.run(['clock', '--environment', 'nowhere'], { TOOLMOCK_URL: serving.url })
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toMatch(/^toolmock: there is no environment "nowhere"; there are default, /)
  })
})

const COMMANDS = [
  ['logs'],
  ['logs', '-f'],
  ['explain', 'x'],
  ['links'],
  ['accounts'],
  ['clock'],
  ['scenario'],
  ['snapshot'],
  ['reset'],
  ['webhooks'],
]

describe('without a server', () => {
  it.each(COMMANDS)('%s %s reports that no server listens there, what to do, and ends with 2', async (...args) => {
    const url = `http://127.0.0.1:${await freePort()}`
    expect(await toolmock.run([...args, '--url', url])).toEqual({
      code: 2,
      stdout: '',
      stderr: `toolmock: ${url} is not served. Start a server with \`npx toolmock start\`, or name one: --url URL or TOOLMOCK_URL.\n`,
    })
  })

  it('reports when another server answers', async () => {
    const other = createServer((_request, response) => response.end('<html>')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const { code, stderr } = await toolmock.run(['clock', '--url', url])
    expect(code).toBe(2)
    expect(stderr).toMatch(/not as toolmock's control API does; is the URL that of a toolmock server\?/)
    other.close()
  })
})

it('needs the admin token, and works with it', async () => {
  const serving = await toolmock.start(['--in-memory', '--admin-token', 's3cret'])
  const { port } = new URL(serving.url)
  const missing = await toolmock.run(['accounts'], { TOOLMOCK_PORT: port })
  expect(missing).toEqual({
    code: 2,
    stdout: '',
    stderr: `toolmock: ${serving.url} asks for the admin token: give it by --admin-token or TOOLMOCK_ADMIN_TOKEN\n`,
  })
  expect((await toolmock.run(['accounts', '--admin-token', 'x'], { TOOLMOCK_PORT: port })).stderr).toMatch(
    /takes another admin token than the one of/,
  )
  const variables = { TOOLMOCK_PORT: port, TOOLMOCK_ADMIN_TOKEN: 's3cret' }
  expect(await toolmock.run(['accounts'], variables)).toEqual({ code: 0, stdout: 'there is no account\n', stderr: '' })
  await serving.stop()
})
