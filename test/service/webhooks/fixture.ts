import type { AppOptions } from '../../../src/app/app.ts'
import { type ControlMock, withControl } from '../../servers/control/control-mock.ts'
import { Receiver, SECRET } from './receiver.ts'
import { itWith } from '../../support/mock-fixture.ts'

export interface WebhookMock extends ControlMock {
  readonly receiver: Receiver
  readonly url: string
  /** Calls the service as the default client. */
  readonly service: (method: 'get' | 'post' | 'put', path: string, body?: object) => ReturnType<ControlMock['api']>
  /** Resolves once the journal has so many attempts. */
  readonly attempted: (times: number) => Promise<void>
  /** The attempts in the journal. */
  readonly attempts: () => Promise<Attempt[]>
  /** How many deliveries wait. */
  readonly waiting: () => Promise<number>
}

export interface Attempt {
  readonly id: string
  readonly status: number
  readonly failure: string | null
  readonly account: string | null
  readonly webhook: {
    readonly name: string
    readonly event: string
    readonly type: string
    readonly attempt: number
    readonly cause: string | null
  }
  readonly rules: { readonly rule: string; readonly sentence: string }[]
}

/** A mock with the webhook `app` at a receiver, whose clock is frozen. */
export async function withWebhook(options: AppOptions, work: (mock: WebhookMock) => Promise<void>): Promise<void> {
  const receiver = new Receiver()
  const url = await receiver.listen()
  try {
    await withControl(options, async (mock) => {
      const bearer = await mock.token('test_client', 'test_secret')
      if (options.documentedOnly !== true) await mock.call('put', '/webhooks/app', { url, secret: SECRET })
      await work({
        ...mock,
        receiver,
        url,
        service: (method, path, body) => mock.api(bearer, method, path, body),
        attempted: async (times) => {
          const match = { kind: 'webhook' }
          const answer = await mock.call('post', '/requests/wait', { match, times, timeout_ms: 50_000 })
          if (answer.status !== 200) throw new Error(answer.text)
        },
        attempts: async () => {
          const answer = await mock.call('get', '/requests?kind=webhook&limit=10000')
          return (answer.body as { requests: Attempt[] }).requests
        },
        waiting: async () => {
          const { webhooks } = (await mock.call('get', '/webhooks')).body as { webhooks: { waiting: number }[] }
          return webhooks[0]?.waiting ?? 0
        },
      })
    })
  } finally {
    await receiver.close()
  }
}

export const it = itWith(withWebhook, {})

export const ADA = { connector: 'mail', identifier: 'ada@example.com' }
export const TOKEN = { authorization_details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } } }
