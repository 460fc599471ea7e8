import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { SHORT, withServer } from './server.ts'

it('the target of a request: in absolute form is served under /_mock as on other paths, with its query', () =>
  withServer({}, async ({ port, open }) => {
    const client = await open()
    const at = (path: string) => `http://127.0.0.1:${port}${path}`
    const asked = ['/_mock/health', '/_mock/version', '/_mock/env?format=json', '/_mock/requests?status=404&limit=1']
    for (const path of asked) client.send(`GET ${at(path)} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`)
    client.send(`GET ${at('/_mock/env?nothing=1')} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`)
    const answers = await client.first(5)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400])
    expect(JSON.parse(answers[2]?.text ?? '')).toMatchObject({ TOOLMOCK_URL: `http://127.0.0.1:${port}` })
  }))

it('the target of a request: of an event stream is answered whole to HEAD', () =>
  withServer({}, async ({ open, head }) => {
    const client = await open()
    client.send(`HEAD /_mock/events HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)
    await expect.poll(() => client.ended).toBe(true)
  }))

it('a TLS handshake: that is not finished has the time limit of a request head', async () => {
  const app = await createApp({ tls: { hosts: ['127.0.0.1'] }, limits: SHORT })
  try {
    const { port } = await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await once(socket, 'close')
  } finally {
    await app.close()
  }
})
