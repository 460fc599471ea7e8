import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'vitest'
import { admitRequest, type AdmissionRules } from '../../../src/servers/control/admission.ts'
import { ControlError } from '../../../src/servers/control/errors.ts'
import { expectControlError, it } from './control-mock.ts'

function verdict(headers: Record<string, string>, rules: AdmissionRules = {}, localAddress = '127.0.0.1'): string {
  const socket = new Socket()
  Object.defineProperty(socket, 'localAddress', { value: localAddress })
  const request = new IncomingMessage(socket)
  Object.assign(request.headers, headers)
  try {
    admitRequest(request, rules)
    return 'admitted'
  } catch (error) {
    return error instanceof ControlError ? error.code : String(error)
  }
}

it.each([
  ['localhost:8665'],
  ['app.localhost'],
  ['127.0.0.1:8665'],
  ['127.3.2.1'],
  ['[::1]:8665'],
  ['toolmock:8665'],
  ['host.docker.internal:8665'],
  ['LOCALHOST'],
])('Host %s is a name of the mock', (host) => {
  expect(verdict({ host })).toBe('admitted')
})

it.each([
  ['evil.example'],
  ['127.0.0.1.evil.example'],
  ['localhost.evil.example'],
  ['internal.evil.example'],
  ['evil.example:8665'],
  ['192.168.1.1'],
  ['[2001:db8::1]'],
  ['user@localhost'],
  ['localhost, evil.example'],
  [''],
])('Host %s could have been rebound, and is refused', (host) => {
  expect(verdict({ host })).toBe('HOST_REFUSED')
})

it('accepts the address that the call was sent to, the host of the base URL, and allowed hosts', () => {
  expect(verdict({ host: '192.168.1.1:8665' }, {}, '::ffff:192.168.1.1')).toBe('admitted')
  expect(verdict({ host: 'mock.example' }, { baseUrl: 'https://mock.example/base' })).toBe('admitted')
  const rules = { allowHosts: ['mock.test:8665', '*.ci.test'] }
  expect(['mock.test', 'a.ci.test:1', 'ci.test'].map((host) => verdict({ host }, rules))).toEqual([
    'admitted',
    'admitted',
    'HOST_REFUSED',
  ])
})

it.each([
  ['null', 'ORIGIN_REFUSED'],
  ['http://evil.example', 'ORIGIN_REFUSED'],
  ['http://localhost:3000', 'ORIGIN_REFUSED'],
  ['http://localhost:8665.evil.example', 'ORIGIN_REFUSED'],
  ['file://', 'ORIGIN_REFUSED'],
  ['http://localhost:8665', 'admitted'],
  ['https://localhost:8665', 'admitted'],
])('a page of origin %s: %s', (origin, expected) => {
  expect(verdict({ host: 'localhost:8665', origin })).toBe(expected)
})

it.each([
  ['cross-site', 'ORIGIN_REFUSED'],
  // A page of another port of the same host.
  ['same-site', 'ORIGIN_REFUSED'],
  ['same-origin', 'admitted'],
  // An address that a user has typed.
  ['none', 'admitted'],
])('what a page embeds of a mock that is %s: %s, and a navigation is admitted', (site, expected) => {
  const host = 'localhost:8665'
  expect(verdict({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe(expected)
  expect(verdict({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).toBe('admitted')
})

it.each([
  [{}, 'ADMIN_TOKEN_REQUIRED'],
  [{ authorization: 'Bearer wrong' }, 'ADMIN_TOKEN_REQUIRED'],
  [{ authorization: 'Basic czNjcmV0' }, 'ADMIN_TOKEN_REQUIRED'],
  [{ authorization: 'Bearer s3cret' }, 'admitted'],
  [{ 'x-toolmock-admin-token': 's3cret' }, 'admitted'],
  [{ authorization: 'Bearer s3cret', host: 'evil.example', origin: 'http://evil.example' }, 'admitted'],
])('with an admin token, %j: %s', (headers, expected) => {
  expect(verdict({ host: 'localhost', ...headers }, { adminToken: 's3cret' })).toBe(expected)
})

it('answers only health and readiness without the admin token', async ({ startMock }) => {
  const { call, http } = await startMock({ adminToken: 's3cret' })
  expect((await call('get', '/health')).status).toBe(200)
  expect((await http('get', '/_mock/ready').set('Host', 'evil.example')).status).toBe(200)
  const refused = await call('get', '/clock')
  expectControlError(refused, 401, 'ADMIN_TOKEN_REQUIRED')
  expect((await http('get', '/_mock/clock').set('X-Toolmock-Admin-Token', 's3cret')).status).toBe(200)
})

it('never sends a CORS header, and changes no data for a page of another origin', async ({ mock: { call, http } }) => {
  await call('put', '/snapshots/before')
  const refused = await http('post', '/_mock/connections/mail/disable').set('Origin', 'http://evil.example')
  expectControlError(refused, 403, 'ORIGIN_REFUSED')
  expect(Object.keys(refused.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  expect((await call('get', '/state/diff?snapshot=before')).body).toMatchObject({ changed: [] })
  const rebound = await http('post', '/_mock/reset').set('Host', 'evil.example')
  expectControlError(rebound, 403, 'HOST_REFUSED')
})

it.for([
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['multipart/form-data; boundary=x', 415],
  ['application/json; charset=latin1', 415],
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['application/yaml', 200],
  ['text/yaml', 200],
])('a body of type %s: %d', async ([type, status], { mock: { http } }) => {
  const answer = await http('put', '/_mock/clock').set('Content-Type', type).send('{"advance": "90s"}')
  expect(answer.status).toBe(status)
})
