import fc from 'fast-check'
import request from 'supertest'
import { it } from 'vitest'
import type { AuthorizationType } from '../../../src/model/domain/authorization-type.ts'
import { tokensOf, setUp } from './fixture.ts'

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', 'constructor', '<script>', '{{x}}', '%zz', '../../..', '\r\nX: y', 'a[b]=c', '(.*)+$'),
)
const pair = fc.tuple(
  fc.oneof(hostile, fc.constantFrom('decision', 'as', 'state', 'code', 'error', 'username', 'password')),
  fc.oneof(hostile, fc.constantFrom('approve', 'deny', 'oauth-state', '')),
)
const pairs = fc.array(pair, { maxLength: 6 })
const encoded = (given: [string, string][]) =>
  given.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
const encode = (text: string) => encodeURIComponent(text.toWellFormed())

/** The statuses that pages and redirects may have. */
const EXPECTED = [200, 302, 400, 404, 405, 410]

it('gets a page or a redirect, without the markup that it sent', async () => {
  const type = fc.constantFrom<AuthorizationType>('OAUTH', 'BASIC', 'NO_AUTH', 'OAUTH_M2M')
  const path = fc.oneof(
    fc.constantFrom('/magic/link', '/connect/callback', '/connect/success'),
    hostile.map((text) => `/magic/${encode(text) || 'x'}`),
    fc.constantFrom('/magic/%', '/magic/%ff', '/magic/%00'),
  )
  await fc.assert(
    fc.asyncProperty(type, path, pairs, pairs, async (authorizationType, at, query, form) => {
      const { app } = setUp({ type: authorizationType, answer: () => tokensOf('x') })
      const get = await request(app).get(`${at}?${encoded(query)}`)
      const post = await request(app)
        .post(`${at}?${encoded(query)}`)
        .type('form')
        .send(encoded(form))
      for (const { status, text, headers } of [get, post]) {
        if (!EXPECTED.includes(status)) throw new Error(`status ${status}`)
        if (text.includes('<script')) throw new Error(text)
        if (headers['content-security-policy'] === undefined) throw new Error('no policy')
      }
    }),
    { numRuns: 60 },
  )
})
