import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Response } from 'supertest'
import { describe, expect, vi } from 'vitest'
import { DESCRIPTORS } from '../rpc/fixture.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { it } from '../../support/mock-fixture.ts'
import { withDirectory } from '../../support/registry.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { until } from '../../support/until.ts'

/** Requests of every kind that is no operation, and of one that is. */
const REQUESTS: readonly (readonly ['get' | 'post' | 'patch', string])[] = [
  ['get', '/api/v1/connections'],
  ['patch', '/api/v1/connections'],
  ['get', '/nowhere'],
  ['get', '/magic/unknown'],
  ['get', '/connect/success'],
  ['post', '/connect/success'],
  ['get', '/third-party/mail/authorize'],
  ['get', '/third-party/mail/api/messages'],
  ['get', '/third-party/none/api/x'],
  ['get', '/.well-known/oauth-authorization-server'],
  ['get', '/_mock/ui'],
  ['get', '/_mock/state'],
  ['get', '/_mock/version'],
  ['get', '/_mock/nowhere'],
]

interface Committing extends TestToolmock {
  /** Resolves once a request waits for the disk too. */
  readonly waits: () => Promise<void>
}

/** Runs `work` while a commit waits for the disk; `end` lets the disk go on, and refuse or not. */
function whileCommitting(work: (mock: Committing, end: (refuses: boolean) => void) => Promise<void>): Promise<void> {
  return withDirectory((directory) => {
    const disk = new MemoryDisk()
    return withToolmock({ state: join(directory, 'state.json'), fileSystem: disk }, async (mock) => {
      let open = (): void => undefined
      disk.gate = new Promise((resolve) => (open = resolve))
      mock.environment.configure({ consent: 'approve' })
      const ending = vi.spyOn(mock.app.services.entries, 'end')
      const waits = (): Promise<void> => until(() => ending.mock.calls.length > 0)
      await work({ ...mock, waits }, (refuses) => {
        disk.fails = () => (refuses ? new Error('ENOSPC: no space left') : undefined)
        open()
      })
      disk.fails = () => undefined
    })
  })
}

describe.each(REQUESTS)('the answer to %s %s', (method, path) => {
  it('waits until everything that the model shows is durable', () =>
    whileCommitting(async ({ http, waits }, end) => {
      let status = 0
      const answering = http(method, path).then((answer) => (status = answer.status))
      await waits()
      // An answer that was sent would arrive before this one, which waits for nothing.
      await http('get', '/_mock/health')
      expect(status).toBe(0)
      end(false)
      expect(await answering).not.toBe(503)
    }))

  it('is 503 when the disk refuses what the model showed', () =>
    whileCommitting(async ({ http, waits }, end) => {
      const answer = http(method, path).then((response) => response)
      await waits()
      end(true)
      const { status, text, headers } = await answer
      expect(headers['x-request-id']).toMatch(/^req_/)
      expect([status, text]).toEqual([503, expect.stringMatching(/no space left|STORAGE_UNAVAILABLE/)])
    }))
})

it.each(['/third-party/mail/api/messages', '/.well-known/oauth-authorization-server', '/nowhere'])(
  'GET %s that the disk refuses is one entry of the journal, the 503',
  (path) =>
    whileCommitting(async ({ app, environment, http, waits }, end) => {
      const answer = http('get', path).then(({ status }) => status)
      await waits()
      end(true)
      expect(await answer).toBe(503)
      const entries = app.services.journals
        .of(environment)
        .query()
        .filter((entry) => entry.path === path)
      expect(entries.map(({ status }) => status)).toEqual([503])
    }),
)

/** The path and query of a link whose consent waits. */
async function pathOfLink({ api }: TestToolmock): Promise<string> {
  const { body } = await api.post('/connected_accounts/magic_link', {
    connector: 'mail',
    identifier: 'grace@example.com',
  })
  return new URL((body as { link: string }).link).pathname
}

/** Requests that change the state, with what has to be there before. */
const CHANGES: readonly (readonly [string, (mock: TestToolmock) => Promise<() => PromiseLike<Response>>, number])[] = [
  [
    'an operation',
    async ({ api }) => {
      const { body } = await api.post('/custom-providers', { display_name: 'App' })
      const { identifier } = (body as { provider: { identifier: string } }).provider
      return () => api.delete(`/custom-providers/${identifier}`)
    },
    200,
  ],
  ['a control call', ({ http }) => Promise.resolve(() => http('put', '/_mock/clock').send({ advance: '1h' })), 200],
  [
    'a link',
    async (mock) => {
      const path = await pathOfLink(mock)
      return () => mock.http('get', `${path}?decision=approve`)
    },
    302,
  ],
  [
    'a consent',
    async (mock) => {
      const { headers } = await mock.http('get', await pathOfLink(mock))
      const { pathname, search } = new URL(String(headers['location']))
      const form = `${search.slice(1)}&decision=approve&person=ada`
      return () => mock.http('post', pathname).type('form').send(form)
    },
    303,
  ],
  [
    'a gRPC call',
    async ({ http, signIn }) => {
      const token = await signIn()
      const call = http('post', '/acme.tools.v1.ConnectedAccounts/CreateAccount').auth(token, { type: 'bearer' })
      return () => call.send({ connector: 'mail', identifier: 'grace@example.com' })
    },
    200,
  ],
  [
    'a tool of a virtual MCP server',
    async ({ api, http, signIn }) => {
      const account = { connector: 'mail', identifier: 'ada@example.com' }
      const authorization_details = { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } }
      await api.post('/connected_accounts', { ...account, connected_account: { authorization_details } })
      const call = http('post', '/mcp/v3/connections/mail').auth(await signIn(), { type: 'bearer' })
      const params = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }
      const headers = { Accept: 'application/json, text/event-stream', identifier: account.identifier }
      return () => call.set(headers).send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    },
    200,
  ],
  [
    'a path of an extension',
    async ({ http, signIn }) => {
      const token = await signIn()
      return () => http('post', '/api/v1/archive').auth(token, { type: 'bearer' }).send({ id: 'a_1' })
    },
    201,
  ],
]

const ARCHIVE = `
extension: archive
collections: { archived: {} }
responders:
  - name: archive
    on: { method: POST, path: /api/v1/archive }
    steps: [{ create: archived, item: { id: '{{request.body.id}}' } }]
    respond: { status: 201, body: {} }
`

it.for(CHANGES)(
  'the answer to %s that is stored does not change when the disk refuses a later commit',
  async ([_, prepare, status], { directory }) => {
    const disk = new MemoryDisk()
    const extension = join(directory, 'archive.yaml')
    await writeFile(extension, ARCHIVE)
    const stored = { state: join(directory, 'state.json'), fileSystem: disk }
    const served = { mcp: true, descriptors: [DESCRIPTORS], extensions: [extension] }
    return withToolmock({ ...stored, ...served }, async (mock) => {
      const send = await prepare(mock)
      let open = (): void => undefined
      disk.gate = new Promise((resolve) => (open = resolve))
      const ending = vi.spyOn(mock.app.services.entries, 'end')
      const answering = Promise.resolve(send())
      await until(() => ending.mock.calls.length > 0)
      mock.environment.configure({ consent: 'deny' })
      let isStored = false
      disk.fails = (_, name) => {
        if (isStored) return new Error('ENOSPC: no space left')
        isStored = name.startsWith('datasync')
        return undefined
      }
      open()
      const { status: answered, text } = await answering
      disk.fails = () => undefined
      expect([answered, text]).toEqual([status, expect.not.stringContaining('STORAGE_UNAVAILABLE')])
    })
  },
)

it.each(['/_mock/health', '/_mock/ready'])('GET %s answers while the disk is busy', (path) =>
  whileCommitting(async ({ http }, end) => {
    expect((await http('get', path)).status).toBe(200)
    end(false)
  }),
)
