import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { factsOfEntry, requestLine } from '../../../src/app/cli/request-line.ts'
import type { JournalEntry } from '../../../src/app/library/types.ts'
import { RETRY_AFTER } from '../../../src/model/domain/webhook.ts'
import { signatureOf } from '../../../src/service/webhooks/attempt.ts'
import { SILENT } from '../../../src/servers/http/log.ts'
import { MAX_WAITING } from '../../../src/service/webhooks/webhooks.ts'
import { type ControlMock, expectControlError, withControl } from '../../servers/control/control-mock.ts'
import { createTestApp } from '../../support/create-app.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { it, type WebhookMock, withWebhook } from './fixture.ts'
import { Receiver, SECRET } from './receiver.ts'
import { until } from '../../support/until.ts'
import { freePort } from '../../support/free-port.ts'

const account = (name: string | number) => ({ connector: 'mail', identifier: `${name}@example.com` })
const CREATED = ['connected_account.created' as const]

describe('an attempt to send an event', () => {
  it('is repeated by the clock of the environment after 5 s, 30 s, 2 min, 10 min and 1 h, and then given up', async ({
    mock: { call, service, receiver, attempted, attempts, waiting },
  }) => {
    const answers = [500, 302, 404, 410, 503, 429]
    receiver.answer = () => answers[receiver.answers.length] ?? 200
    await service('post', '/connected_accounts', account('ada'))
    await attempted(1)
    for (const [at, after] of RETRY_AFTER.entries()) {
      expect(await waiting()).toBe(1)
      await call('put', '/clock', { advance: `${after / 1000 - 1}s` })
      await call('get', '/webhooks')
      expect(await attempts(), `before attempt ${at + 2}`).toHaveLength(at + 1)
      await call('put', '/clock', { advance: '1s' })
      await attempted(at + 2)
    }
    await until(async () => (await waiting()) === 0)
    expect((await attempts()).map(({ status, webhook }) => [status, webhook.attempt])).toEqual(
      answers.map((status, at) => [status, at + 1]),
    )
  })

  /** The only attempt, with the id of the request that caused it. */
  const refusedAttempt = async ({ service, receiver, attempted, attempts }: WebhookMock) => {
    receiver.answer = () => 418
    const created = await service('post', '/connected_accounts', account('ada'))
    await attempted(1)
    const [attempt] = await attempts()
    return { attempt: attempt!, cause: String(created.headers['x-request-id']) }
  }

  it('is in the journal with its answer and the request that caused it', async ({ mock }) => {
    const { attempt, cause } = await refusedAttempt(mock)
    expect(attempt).toMatchObject({ status: 418, webhook: { name: 'app', attempt: 1, cause } })
    expect((await mock.call('get', `/requests?cause=${cause}`)).body).toMatchObject({ requests: [attempt] })
    const explained = await mock.call('get', `/requests/${attempt.id}/explain`)
    expect((explained.body as { text: string }).text).toContain('the application answered 418')
  })

  it('is a line with the id of its event, which resend takes', async ({ mock }) => {
    const { attempt } = await refusedAttempt(mock)
    expect(requestLine(factsOfEntry(attempt as unknown as JournalEntry), undefined)).toContain(
      `ada@example.com connected_account.created ${attempt.webhook.event}`,
    )
  })

  it('is no part of a scenario that reproduces a run', async ({ mock }) => {
    const { attempt, cause } = await refusedAttempt(mock)
    const exported = await mock.call('post', `/requests/${cause}/scenario`)
    expect([exported.status, exported.text.includes('/events')]).toEqual([200, false])
    expect((await mock.call('post', `/requests/${attempt.id}/scenario`)).status).toBe(404)
  })

  it('says so when nobody listens, and is made when the application is back', async ({
    mock: { call, service, attempted, attempts },
  }) => {
    const port = await freePort()
    await call('put', '/webhooks/app', { url: `http://127.0.0.1:${port}/`, secret: SECRET })
    await service('post', '/connected_accounts', account('ada'))
    await attempted(1)
    expect((await attempts())[0]).toMatchObject({
      status: 0,
      failure: expect.stringContaining('ECONNREFUSED') as unknown,
    })
    const again = new Receiver()
    await again.listen(port)
    await call('put', '/clock', { advance: '5s' })
    await again.answered(1)
    expect(again.types).toEqual(['created'])
    await again.close()
  })

  it('ends after a time when the application does not answer, and others go on', async ({ startMock }) => {
    const { service, receiver, attempted, attempts } = await startMock({ webhookTimeout: 2000 })
    receiver.answer = ({ data }) => (data['identifier'] === 'slow@example.com' ? new Promise(() => undefined) : 200)
    await service('post', '/connected_accounts', account('slow'))
    await service('post', '/connected_accounts', account('ada'))
    await attempted(2)
    const failures = (await attempts()).map(({ failure }) => failure).filter((failure) => failure !== null)
    expect(failures).toEqual([expect.stringContaining('timeout')])
    expect(receiver.events.map(({ data }) => data['identifier'])).toEqual(['ada@example.com'])
  })
})

describe('the order of events', () => {
  it('is kept for each account while others go on', async ({ mock: { call, service, receiver, attempted } }) => {
    let isAway = true
    receiver.answer = ({ data }) => (isAway && data['identifier'] === 'a@example.com' ? 503 : 200)
    for (const name of ['a', 'b']) await service('post', '/connected_accounts', account(name))
    for (const name of ['a', 'b']) await service('post', '/connected_accounts:delete', account(name))
    // The first attempt for a, and both events of b.
    await attempted(3)
    expect(receiver.events.map(({ type, data }) => `${type} ${String(data['identifier'])}`)).toEqual([
      'connected_account.created b@example.com',
      'connected_account.deleted b@example.com',
    ])
    isAway = false
    await call('put', '/clock', { advance: '5s' })
    await attempted(5)
    expect(receiver.types.slice(2)).toEqual(['created', 'deleted'])
  })

  it('lets 16 attempts be under way at a webhook, and no more', async ({ mock: { call, receiver } }) => {
    let release = (): void => undefined
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    receiver.answer = () => isReleased.then(() => 200)
    const accounts = Array.from({ length: 100 }, (_, at) => account(at))
    await call('post', '/seed', { accounts })
    for (const { identifier } of accounts)
      await call('post', '/webhook-events', { type: 'connected_account.updated', account: identifier })
    await expect.poll(() => receiver.open).toBe(16)
    // More that were sent would have arrived by the answers of these.
    await Promise.all(Array.from({ length: 20 }, () => call('get', '/webhooks')))
    release()
    await receiver.answered(100)
    expect(receiver.mostOpen).toBe(16)
    expect(new Set(receiver.events.map(({ data }) => data['identifier'])).size).toBe(100)
  })
})

it(`of more than ${MAX_WAITING} deliveries that wait, the oldest is given up`, async () => {
  const warnings: string[] = []
  const log = { ...SILENT, warn: (message: string) => void warnings.push(message) }
  await withWebhook({ log }, async ({ app, call, service }) => {
    await service('post', '/connected_accounts', account('ada'))
    const { webhooks, defaultEnvironment } = app.services
    const environment = defaultEnvironment()
    const [ada] = environment?.model.tables.accounts.values() ?? []
    if (!environment || !ada) throw new Error('there is no account')
    const { webhook_deliveries: table } = environment.model.tables
    const sent = environment.model.transact(() =>
      Array.from(
        { length: MAX_WAITING + 3 },
        () => webhooks.send(environment, 'connected_account.updated', ada, undefined)[0],
      ),
    )
    expect(table.size).toBe(MAX_WAITING)
    expect([table.get(String(sent[2]?.id)), table.get(String(sent.at(-1)?.id))]).toEqual([undefined, sent.at(-1)])
    expect(warnings).toEqual([expect.stringContaining('is given up')])
    await call('post', '/reset')
  })
})

describe('what is not sent', () => {
  it('is the event of a change that the disk has refused', async ({ directory }) => {
    const fileSystem = new MemoryDisk()
    await withWebhook({ state: join(directory, 'state.json'), fileSystem }, async ({ service, receiver, waiting }) => {
      fileSystem.fails = () => new Error('ENOSPC: no space left')
      const refused = await service('post', '/connected_accounts', account('refused'))
      fileSystem.fails = () => undefined
      expect(refused.status).toBe(503)
      expect(await waiting()).toBe(0)
      await service('post', '/connected_accounts', account('stored'))
      await receiver.answered(1)
      expect(receiver.events.map(({ data }) => data['identifier'])).toEqual(['stored@example.com'])
    })
  })

  it('is sent before the commit is on disk', async ({ directory }) => {
    const fileSystem = new MemoryDisk()
    await withWebhook({ state: join(directory, 'state.json'), fileSystem }, async ({ app, service, receiver, url }) => {
      let open = (): void => undefined
      fileSystem.gate = new Promise((resolve) => (open = resolve))
      const creating = service('post', '/connected_accounts', account('ada'))
      const { webhook_deliveries } = app.services.defaultEnvironment()?.model.tables ?? {}
      await until(() => webhook_deliveries?.size === 1)
      // An event that was sent would be answered before this request, which nobody has signed.
      await fetch(url, { method: 'POST', body: '{}' })
      expect(receiver.answers).toEqual([401])
      open()
      await receiver.answered(2)
      expect((await creating).status).toBe(201)
    })
  })

  it.for([
    ['a reset', 'post', '/reset'],
    ['the end of its webhook', 'delete', '/webhooks/app'],
  ] as const)(
    'is what waits at %s',
    async ([_title, method, path], { mock: { app, call, service, receiver, attempted } }) => {
      receiver.answer = () => 503
      await service('post', '/connected_accounts', account('ada'))
      await attempted(1)
      await call(method, path)
      expect(app.services.defaultEnvironment()?.model.tables.webhook_deliveries.size).toBe(0)
      await call('put', '/clock', { advance: '2h' })
      await call('put', '/webhooks/app', { url: 'http://127.0.0.1:9/', secret: SECRET })
      expect(receiver.answers).toEqual([503])
    },
  )

  it('is what waits at the end of an environment; an attempt under way ends', async ({
    mock: { call, token, api, url, receiver },
  }) => {
    let begun = (): void => undefined
    const beginning = new Promise<void>((resolve) => (begun = resolve))
    receiver.answer = () => {
      begun()
      return new Promise(() => undefined)
    }
    const made = await call('post', '/environments', { name: 'other' })
    const { client_id, client_secret } = made.body as Record<string, string>
    await call('put', '/webhooks/app?environment=other', { url, secret: SECRET })
    const bearer = await token(String(client_id), String(client_secret))
    await api(bearer, 'post', '/connected_accounts', account('ada'))
    await beginning
    await call('delete', '/environments/other')
    await until(() => receiver.open === 0)
    expect(receiver.answers).toEqual([])
  })
})

describe('events that are not acknowledged when the server stops', () => {
  it('are sent at the next start, those that wait for their next attempt when it is due', async ({ directory }) => {
    const state = join(directory, 'state.json')
    await withWebhook({ state }, async ({ service, receiver, attempted }) => {
      receiver.answer = () => 503
      await service('post', '/connected_accounts', account('ada'))
      await service('post', '/connected_accounts:delete', account('ada'))
      await attempted(1)
    })
    const receiver = new Receiver()
    const url = await receiver.listen()
    await withControl({ state }, async ({ call }) => {
      await call('put', '/webhooks/app', { url, secret: SECRET })
      expect(receiver.answers).toEqual([])
      await call('put', '/clock', { advance: '5s' })
      await receiver.answered(2)
      expect(receiver.types).toEqual(['created', 'deleted'])
    })
    await receiver.close()
  })

  it('are not sent by a start that fails, and the first attempt of the next one is in its journal file', async ({
    directory,
  }) => {
    const [state, journalFile] = [join(directory, 'state.json'), join(directory, 'journal.jsonl')]
    const receiver = new Receiver()
    const url = await receiver.listen()
    const hanging = new Promise<void>((begun) => {
      receiver.answer = () => {
        begun()
        return new Promise(() => undefined)
      }
    })
    await withControl({ state }, async ({ call, token, api }) => {
      await call('put', '/webhooks/app', { url, secret: SECRET })
      await api(await token('test_client', 'test_secret'), 'post', '/connected_accounts', account('ada'))
      await hanging
    })
    receiver.answer = () => 200
    await expect(createTestApp({ state, descriptors: [join(directory, 'missing')] })).rejects.toThrow('missing')
    await withControl({ state, journalFile }, async ({ call }) => {
      await call('post', '/requests/wait', { match: { kind: 'webhook' }, timeout_ms: 50_000 })
    })
    expect(receiver.types).toEqual(['created'])
    expect(JSON.parse(await readFile(journalFile, 'utf8'))).toMatchObject({ kind: 'webhook', status: 200 })
    await receiver.close()
  })

  it('do not keep the server from stopping while an application does not answer', async ({ directory }) => {
    const state = join(directory, 'state.json')
    let begun = (): void => undefined
    const beginning = new Promise<void>((resolve) => (begun = resolve))
    await withWebhook({ state }, async ({ service, receiver }) => {
      receiver.answer = () => {
        begun()
        return new Promise(() => undefined)
      }
      await service('post', '/connected_accounts', account('ada'))
      await beginning
    })
    await withControl({ state }, ({ app }) => {
      const [row] = app.services.defaultEnvironment()?.model.tables.webhook_deliveries.values() ?? []
      expect(row).toMatchObject({ type: CREATED[0], attempts: 0 })
      return Promise.resolve()
    })
  })
})

it('webhooks: of an environment go on when the disk refuses its removal', async ({ directory }) => {
  const fileSystem = new MemoryDisk()
  const options = { state: join(directory, 'state.json'), fileSystem }
  await withWebhook(options, async ({ call, token, api, receiver, url }) => {
    const made = await call('post', '/environments', { name: 'other' })
    const { client_id, client_secret } = made.body as Record<string, string>
    await call('put', '/webhooks/app?environment=other', { url, secret: SECRET })
    const bearer = await token(String(client_id), String(client_secret))
    fileSystem.fails = () => new Error('ENOSPC: no space left')
    expect((await call('delete', '/environments/other')).status).toBe(503)
    fileSystem.fails = () => undefined
    await api(bearer, 'post', '/connected_accounts', account('ada'))
    await receiver.answered(1)
    expect(receiver.types).toEqual(['created'])
  })
})

it('webhooks: of the configuration of the server are removed there', async () => {
  const ofServer = { id: 'server', url: 'http://127.0.0.1:9/', secret: SECRET, types: CREATED }
  await withControl({ webhooks: [ofServer] }, async ({ call }) => {
    const { message } = expectControlError(await call('delete', '/webhooks/server'), 404, 'WEBHOOK_NOT_FOUND')
    expect(message).toBe(
      'the webhook "server" is one of the configuration file, which every environment has; remove it there',
    )
  })
})

/** An environment with a webhook of the server's configuration for one type, and one of its seed for another. */
async function withServerAndSeed(
  work: (mock: ControlMock, types: string[], at: { receiver: Receiver; bearer: string | number }) => Promise<void>,
): Promise<void> {
  const receiver = new Receiver()
  const url = await receiver.listen()
  await withControl({ webhooks: [{ id: 'server', url, secret: SECRET, types: CREATED }] }, async (mock) => {
    const types = ['connected_account.deleted']
    const seed = { webhooks: [{ name: 'seeded', url, secret: SECRET, types }] }
    const made = await mock.call('post', '/environments', { name: 'other', seed })
    const { client_id, client_secret } = made.body as Record<string, string>
    const bearer = await mock.token(String(client_id), String(client_secret))
    await work(mock, types, { receiver, bearer })
  })
  await receiver.close()
}

it('webhooks: come from the configuration of the server, for every environment, and from its seed', () =>
  withServerAndSeed(async ({ call }, types) => {
    const listed = await call('get', '/webhooks?environment=other')
    expect((listed.body as { webhooks: object[] }).webhooks).toMatchObject([
      { name: 'server', types: CREATED },
      { name: 'seeded', types },
    ])
    expect(listed.text).not.toContain(SECRET)
  }))

it('webhooks: of the configuration and of the seed each get the events of their types', () =>
  withServerAndSeed(async ({ api }, _types, { receiver, bearer }) => {
    await api(bearer, 'post', '/connected_accounts', account('ada'))
    await api(bearer, 'post', '/connected_accounts:delete', account('ada'))
    await receiver.answered(2)
    expect(receiver.types.sort()).toEqual(['created', 'deleted'])
  }))

it('webhooks: of the configuration and of the seed are there after a reset', () =>
  withServerAndSeed(async ({ call }) => {
    await call('post', '/reset?environment=other')
    expect((await call('get', '/webhooks?environment=other')).body).toMatchObject({
      webhooks: [{ name: 'server' }, { name: 'seeded' }],
    })
  }))

it.each([
  ['an address that is not on loopback', { url: 'https://app.example/hooks', secret: SECRET }, '--allow-outbound'],
  ['an address that is none', { url: 'app', secret: SECRET }, 'an http or https URL'],
  ['a secret without its prefix', { url: 'http://127.0.0.1:9/', secret: 'c2VjcmV0' }, 'whsec_ and a key in base64'],
  [
    'a secret that is not base64',
    { url: 'http://127.0.0.1:9/', secret: 'whsec_secret!' },
    'whsec_ and a key in base64',
  ],
  ['an empty secret', { url: 'http://127.0.0.1:9/', secret: 'whsec_' }, 'whsec_ and a key in base64'],
  ['no secret', { url: 'http://127.0.0.1:9/' }, 'exactly one of secret and secrets'],
  [
    'one secret beside several',
    { url: 'http://127.0.0.1:9/', secret: SECRET, secrets: [SECRET] },
    'exactly one of secret and secrets',
  ],
  [
    'a wrong one of several secrets',
    { url: 'http://127.0.0.1:9/', secrets: [SECRET, 'whsec_'] },
    'whsec_ and a key in base64',
  ],
  [
    'a type that there is not',
    { url: 'http://127.0.0.1:9/', secret: SECRET, types: ['created'] },
    'connected_account.created',
  ],
  ['no type', { url: 'http://127.0.0.1:9/', secret: SECRET, types: [] }, 'types'],
  ['a type twice', { url: 'http://127.0.0.1:9/', secret: SECRET, types: [...CREATED, ...CREATED] }, 'each type once'],
])('webhooks are refused with %s, and nothing changes', async (_title, body, message) => {
  await withControl({}, async ({ call }) => {
    const refused = await call('put', '/webhooks/app', body)
    expect(expectControlError(refused, 400, 'INVALID_BODY').message).toContain(message)
    expect((await call('get', '/webhooks')).body).toEqual({ webhooks: [] })
  })
})

it('webhooks may be anywhere with --allow-outbound', async () => {
  await withControl({ allowOutbound: true }, async ({ call }) => {
    const put = await call('put', '/webhooks/app', {
      url: 'https://app.example/hooks',
      secret: SECRET,
      types: CREATED,
    })
    expect(put.status).toBe(200)
  })
})

it('the signature is that of the public test vector of the recipe', () => {
  const [id, timestamp, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}'] as const
  const signature = signatureOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', id, timestamp, body)
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
