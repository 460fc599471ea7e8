import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Response, Test } from 'supertest'
import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '../support/memory-disk.ts'
import { withDirectory } from '../support/registry.ts'
import { type TestToolmock, withToolmock } from '../support/toolmock.ts'

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

/** Runs `work` while a commit waits for the disk; `end` lets the disk go on, and refuse or not. */
function whileCommitting(work: (mock: TestToolmock, end: (refuses: boolean) => void) => Promise<void>): Promise<void> {
  return withDirectory((directory) => {
    const disk = new MemoryDisk()
    return withToolmock({ state: join(directory, 'state.json'), fileSystem: disk }, async (mock) => {
      let open = (): void => undefined
      disk.gate = new Promise((resolve) => (open = resolve))
      mock.environment.configure({ consent: 'approve' })
      await work(mock, (refuses) => {
        disk.fails = () => (refuses ? new Error('ENOSPC: no space left') : undefined)
        open()
      })
      disk.fails = () => undefined
    })
  })
}

function sent(request: Test, answered: () => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.end((error: Error | null, response) => {
      answered()
      if (error) reject(error)
      else resolve(response)
    })
  })
}

describe.each(REQUESTS)('the answer to %s %s', (method, path) => {
  it('waits until everything that the model shows is durable', () =>
    whileCommitting(async ({ http }, end) => {
      let isAnswered = false
      const answer = sent(http(method, path), () => (isAnswered = true))
      for (let turn = 0; turn < 50; turn++) await nextTurn()
      expect(isAnswered).toBe(false)
      end(false)
      expect((await answer).status).not.toBe(503)
    }))

  it('is 503 when the disk refuses what the model showed', () =>
    whileCommitting(async ({ http }, end) => {
      const answer = sent(http(method, path), () => undefined)
      for (let turn = 0; turn < 50; turn++) await nextTurn()
      end(true)
      const { status, text, headers } = await answer
      expect(headers['x-request-id']).toMatch(/^req_/)
      expect([status, text]).toEqual([503, expect.stringMatching(/no space left|STORAGE_UNAVAILABLE/)])
    }))
})

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
]

it.each(CHANGES)(
  'the answer to %s that is stored does not change when the disk refuses a later commit',
  (_, prepare, status) =>
    withDirectory((directory) => {
      const disk = new MemoryDisk()
      return withToolmock({ state: join(directory, 'state.json'), fileSystem: disk }, async (mock) => {
        const send = await prepare(mock)
        let open = (): void => undefined
        disk.gate = new Promise((resolve) => (open = resolve))
        const { commits } = mock.environment
        const answering = Promise.resolve(send())
        while (mock.environment.commits === commits) await nextTurn()
        for (let turn = 0; turn < 50; turn++) await nextTurn()
        mock.environment.configure({ consent: 'deny' })
        let isStored = false
        disk.fails = (_, name) => {
          if (isStored) return new Error('ENOSPC: no space left')
          isStored = name.startsWith('datasync')
          return undefined
        }
        open()
        expect((await answering).status).toBe(status)
        disk.fails = () => undefined
      })
    }),
)

it.each(['/_mock/health', '/_mock/ready'])('GET %s answers while the disk is busy', (path) =>
  whileCommitting(async ({ http }, end) => {
    expect((await http('get', path)).status).toBe(200)
    end(false)
  }),
)
