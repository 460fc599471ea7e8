import { expect, it } from 'vitest'
import { withToolmock } from '../support/toolmock.ts'

it.each([
  ['get', '/magic/none', 'page'],
  ['delete', '/magic/none', 'page'],
  ['get', '/connect/callback', 'page'],
  ['get', '/connect/success', 'page'],
  ['get', '/third-party/mail/authorize', 'page'],
  ['post', '/third-party/mail/authorize', 'page'],
  ['get', '/magic', 'request'],
  ['get', '/magic/', 'request'],
  ['get', '/magic/none/more', 'request'],
  ['get', '/magic/%zz', 'request'],
  ['get', '/connect/none', 'request'],
  ['get', '/connect/success/', 'request'],
  ['put', '/third-party/mail/authorize', 'request'],
  ['get', '/third-party/mail/authorize/', 'request'],
] as const)('are one for %s %s, a %s', (method, path, kind) =>
  withToolmock({}, async ({ app, http }) => {
    // The first entry is the token request of the mock's client.
    const answer = await http(method, path)
    const { journals, defaultEnvironment } = app.services
    const entries = journals.of(defaultEnvironment()!).query().slice(1)
    expect(entries).toMatchObject([{ kind, id: answer.headers['x-request-id'], status: answer.status }])
  }),
)
