import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { connect, createToolmock, type Toolmock, ToolmockError } from '../../../src/index.ts'
import { ADA, clientOf } from './client.ts'
import { rejection } from './with-mock.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmock-library-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('createToolmock', () => {
  it('starts several servers, each with a state of its own', async () => {
    await using one = await createToolmock()
    await using two = await createToolmock()
    await (await clientOf(one)).account({})
    expect(one.url).not.toBe(two.url)
    expect((await (await clientOf(two)).get('/connected_accounts')).body).toMatchObject({ total_size: 0 })
  })

  it('starts clocks at the given time, and repeats ids', async () => {
    const ids = async (clock: string | Date) => {
      await using mock = await createToolmock({ clock, freeze: true, idSeed: 7 })
      return [await mock.clock.now(), await (await clientOf(mock)).account({})]
    }
    const first = await ids('2026-01-01T02:00:00+02:00')
    expect(first[0]).toBe('2026-01-01T00:00:00.000Z')
    expect(await ids(new Date('2026-01-01T00:00:00Z'))).toEqual(first)
  })

  it('keeps its model in a state file, when one is given', async () => {
    const state = join(folder, 'state.json')
    const before = await createToolmock({ state })
    const id = await (await clientOf(before)).account({})
    await before.close()
    await before.close()
    expect(await rejection(before.clock.now())).toMatchObject({ code: 'CLOSED' })
    await using after = await createToolmock({ state })
    expect((await (await clientOf(after)).get(`/connected_accounts/details?id=${id}`)).status).toBe(200)
  })

  it('accepts seed files, several scenarios, strictness and a base URL', async () => {
    const seed = join(folder, 'seed.yaml')
    await writeFile(seed, 'accounts:\n  - { connector: mail, identifier: seeded@example.com }\n')
    const scenarios = ['token-dies-mid-run', 'consent-denied']
    await using mock = await createToolmock({
      seeds: ['bundled', seed],
      scenarios,
      strict: true,
      documentedOnly: true,
      baseUrl: 'https://m.test/',
    })
    const client = await clientOf(mock)
    expect((await client.get('/connected_accounts')).body).toMatchObject({ total_size: 1 })
    expect((await client.get('/tools')).status).toBe(404)
    const running = (await mock.scenarios.list()).filter((scenario) => scenario.running)
    expect(running.map(({ name }) => name)).toEqual(scenarios)
    const link = { ...ADA, user_id: 'u_1', user_verify_url: 'http://localhost:3000/verify' }
    expect((await client.post('/connected_accounts/magic_link', link)).body['link']).toMatch(/^https:\/\/m\.test\//)
  })

  describe('in a folder with a configuration file', () => {
    beforeEach(async () => {
      await writeFile(join(folder, 'seed.yaml'), 'accounts:\n  - { connector: mail, identifier: seeded@example.com }\n')
      const text = `seed: [bundled, seed.yaml]
scenario: [rate-limited]
strict: true
clock: 2026-01-31T09:00:00Z
freeze: true
port: 9
host: 192.0.2.1
state: state.json
journal: journal.jsonl
tls_cert: none.pem
tls_key: none.pem
admin_token: a-token-of-the-file
`
      await writeFile(join(folder, 'toolmock.config.yaml'), text)
      process.chdir(folder)
    })
    afterEach(() => process.chdir(ROOT))

    const undefinedScenario = { scenario: undefined } as object
    const accountCount = async (mock: Toolmock) =>
      (await (await clientOf(mock)).get('/connected_accounts')).body['total_size']

    it('takes from it what the mock is, and neither where it listens nor what it writes', async () => {
      await using mock = await createToolmock()
      expect(await accountCount(mock)).toBe(1)
      expect((await mock.scenarios.list()).filter(({ running }) => running).map(({ name }) => name)).toEqual([
        'rate-limited',
      ])
      expect(await mock.clock.get()).toMatchObject({ now: '2026-01-31T09:00:00.000Z', frozen: true })
      expect((await (await clientOf(mock)).get('/connected_accounts?colour=red')).status).toBe(400)
      expect(mock.url).toMatch(/^http:\/\/(localhost|127\.0\.0\.1):\d{2,}$/)
      expect(await readdir(folder)).toEqual(['seed.yaml', 'toolmock.config.yaml'])
      expect((await fetch(`${mock.url}/_mock/clock`)).status).toBe(200)
    })

    it('lets options win over it, reads another file that is named, and none with false', async () => {
      await using options = await createToolmock({ seeds: ['bundled'], strict: false, ...undefinedScenario })
      expect(await accountCount(options)).toBe(0)
      expect((await (await clientOf(options)).get('/connected_accounts?colour=red')).status).toBe(200)
      expect((await options.clock.get()).frozen).toBe(true)
      await writeFile(join(folder, 'other.json'), '{"clock": "2027-01-01"}')
      await using other = await createToolmock({ config: 'other.json' })
      expect(await other.clock.now()).toMatch(/^2027-01-01T00:00/)
      await using none = await createToolmock({ config: false })
      expect([(await none.clock.get()).frozen, await accountCount(none)]).toEqual([false, 0])
    })

    it('says what is wrong with it', async () => {
      await writeFile(join(folder, 'toolmock.config.yaml'), 'seeds: [bundled]\n')
      expect(await rejection(createToolmock())).toMatchObject({
        code: 'NOT_STARTED',
        message: expect.stringMatching(/toolmock\.config\.yaml:1:1: `seeds`.*did you mean seed/) as string,
      })
    })
  })

  it('serves extensions', async () => {
    await using mock = await createToolmock({ extensions: ['organizations'] })
    const { status } = await (await clientOf(mock)).post('/organizations', { display_name: 'Acme' })
    expect(status).toBe(201)
    expect(await mock.collections.get('extension.organizations', 'organizations')).toMatchObject([
      { display_name: 'Acme' },
    ])
  })

  it('serves HTTPS with a temporary authority, which is among the variables', async () => {
    await using mock = await createToolmock({ tls: true })
    expect(mock.url).toMatch(/^https:/)
    expect(await mock.journal.count()).toBe(0)
    const ca = await readFile(mock.env.NODE_EXTRA_CA_CERTS ?? '', 'utf8')
    const [answer] = (await once(get(`${mock.url}/_mock/health`, { ca, agent: false }), 'response')) as [
      IncomingMessage,
    ]
    expect(await text(answer)).toContain('ok')
    await using other = await connect(mock.url, { ca })
    expect(await other.clock.get()).toMatchObject({ frozen: false })
    expect(await rejection(connect(mock.url))).toMatchObject({ code: 'UNREACHABLE' })
  })

  it.each([
    ['a scenario that there is not', { scenario: 'nonesuch' }, 'nonesuch'],
    ['a seed that cannot be read', { seeds: ['/nowhere/seed.yaml'] }, '/nowhere/seed.yaml'],
  ])('reports what is wrong with %s', async (_, options, words) => {
    const error = await rejection(createToolmock(options))
    expect(error).toBeInstanceOf(ToolmockError)
    expect(error).toMatchObject({ code: 'NOT_STARTED', status: 0, message: expect.stringContaining(words) })
  })

  it.each([
    [
      { seed: 'a.yaml' },
      /^createToolmock has no option "seed" \(did you mean seeds\?\); it has scenario, scenarios, seeds, extensions, with, /,
    ],
    [{ memory: true }, /^createToolmock has no option "memory"; it has scenario, /],
    [{ extensions: 'organizations' }, /extensions is "organizations"; allowed: a list of texts/],
    [{ constructor: 1 }, /no option "constructor"/],
    [null, /^createToolmock takes an object with scenario, .*; found null$/],
    ['token-dies-mid-run', /; found "token-dies-mid-run"$/],
    [{ clock: '2026-01-01T00:00:00' }, /clock is "2026-01-01T00:00:00"; allowed: an instant .* with its time zone/],
    [{ clock: '2026-02-30T00:00:00Z' }, /clock is "2026-02-30T00:00:00Z"; allowed: /],
    [{ clock: 5 }, /clock is 5; allowed: /],
    [{ clock: new Date(Number.NaN) }, /clock is Invalid Date; allowed: /],
    [{ scenarios: 'rate-limited' }, /scenarios is "rate-limited"; allowed: a list of texts/],
    [{ with: { tool: 5 }, scenario: 's' }, /with is { tool: 5 }; allowed: an object of tool, connector and identifier/],
    [{ with: { identifier: '*' } }, /with goes with scenario$/],
    [{ config: true }, /config is true; allowed: the name of a file, or false$/],
    [{ port: '8665' }, /port is "8665"; allowed: a whole number from 0 to 65535$/],
    [{ port: null }, /port is null; /],
    [{ idSeed: Number.NaN }, /idSeed is NaN; allowed: a whole number from 0 to 999999999$/],
    [{ strict: 'no' }, /strict is "no"; allowed: true or false$/],
    [{ documentedOnly: 1 }, /documentedOnly is 1; allowed: true or false$/],
    [{ durability: 'lax' }, /durability is "lax"; allowed: one of strict, relaxed$/],
    [
      { baseUrl: 'm.test' },
      /baseUrl is "m.test"; allowed: an http or https URL without user name, query and fragment$/,
    ],
    [{ baseUrl: 'http://ada:hunter22@x' }, /baseUrl is "http:\/\/\*\*\*\w*@x"; allowed/],
    [{ tls: { cert: 'a.pem' } }, /tls is { cert: 'a.pem' }; allowed: true, or { cert, key }/],
  ])('refuses %j, which the compiler would reject, before it starts a server', async (options, message) => {
    const error = await rejection(createToolmock(options as object))
    expect(error).toMatchObject({
      name: 'ToolmockError',
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    })
  })

  it('treats undefined options as absent', async () => {
    const undefinedOptions = { scenario: undefined, port: undefined, clock: undefined, tls: undefined } as object
    await using mock = await createToolmock(undefinedOptions)
    expect(await mock.journal.count()).toBe(0)
  })

  it('reports that a port is in use, and leaves no server running', async () => {
    await using mock = await createToolmock()
    const port = Number(new URL(mock.url).port)
    expect(await rejection(createToolmock({ port }))).toMatchObject({
      code: 'NOT_STARTED',
      message: expect.stringContaining('EADDRINUSE'),
    })
  })

  it('rejects a pending wait for the journal when it closes', async () => {
    const mock = await createToolmock()
    const waiting = rejection(mock.journal.wait({ operation: 'verify_user' }, { timeoutMs: 60_000 }))
    await mock.journal.count()
    await mock.close()
    expect(await waiting).toBeInstanceOf(ToolmockError)
  })

  it('is not disturbed by a test that replaces fetch', async () => {
    await using mock = await createToolmock()
    const real = globalThis.fetch
    globalThis.fetch = () => Promise.reject(new Error('replaced'))
    try {
      expect(await mock.journal.count()).toBe(0)
    } finally {
      globalThis.fetch = real
    }
  })
})
