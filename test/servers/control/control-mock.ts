import type { Response } from 'supertest'
import { expect } from 'vitest'
import { SILENT } from '../../../src/servers/http/log.ts'
import type { App, AppOptions } from '../../../src/app/app.ts'
import { createTestApp } from '../../support/create-app.ts'
import { type Method, type Requests, requestsTo } from '../../support/requests.ts'
import { judgeControlAnswer } from './control-spec.ts'
import { itWith } from '../../support/mock-fixture.ts'

export interface ControlMock {
  readonly app: App
  /** Calls the control API; the answer is checked against `spec/control.openapi.yaml`. */
  readonly call: (method: Method, path: string, body?: object) => Promise<Response>
  /** Sends any request, whose answer is not checked. */
  readonly http: Requests['http']
  /** Obtains a bearer token; returns the status when it is refused. */
  readonly token: (clientId: string, secret: string) => Promise<string | number>
  /** Calls the service with a bearer token. */
  readonly api: (token: string | number, method: Method, path: string, body?: object) => Promise<Response>
}

export const START = '2026-01-01T00:00:00.000Z'

/** Starts a mock whose clock is frozen at {@link START}, runs `work`, stops. */
export async function withControl(options: AppOptions, work: (mock: ControlMock) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  const log = { ...SILENT, error: (...fields: unknown[]) => void failures.push(fields) }
  const app = await createTestApp({ clock: START, freeze: true, log, ...options })
  const { http, close } = await requestsTo(app.listener)
  try {
    await work({
      app,
      http,
      call: async (method, path, body) => {
        const request = http(method, `/_mock${path}`)
        const answer = await (body === undefined ? request : request.send(body))
        judgeControlAnswer(method, path, answer)
        return answer
      },
      token: async (client_id, client_secret) => {
        const form = { grant_type: 'client_credentials', client_id, client_secret }
        const answer = await http('post', '/oauth/token').type('form').send(form)
        return answer.status === 200 ? (answer.body as { access_token: string }).access_token : answer.status
      },
      api: async (token, method, path, body) => {
        const request = http(method, `/api/v1${path}`).set('Authorization', `Bearer ${String(token)}`)
        return body === undefined ? request : request.send(body)
      },
    })
  } finally {
    await app.close()
    close()
  }
  if (failures.length > 0) throw new Error(`the mock logged failures: ${JSON.stringify(failures)}`)
}

export const it = itWith(withControl, {})

/** Asserts an error of the control API in its one shape, and returns it. */
export function expectControlError(answer: Response, status: number, code: string, of = answer.text): ControlError {
  const { error } = answer.body as { error?: ControlError }
  const expected = { code, message: expect.any(String), details: expect.any(Array) }
  expect({ status: answer.status, error }, of).toEqual({ status, error: expected })
  return error!
}

interface ControlError {
  readonly code: string
  readonly message: string
  readonly details: readonly object[]
}
