import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { ADA, createAccount, detailsOf, linkFor, verify } from '../../support/accounts.ts'
import { withToolmock } from '../../support/toolmock.ts'

it('no address of the calling application is ever called; only GET /_mock/events tells what changes (G51)', async () => {
  let connections = 0
  const application = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await once(application.listen(0, '127.0.0.1'), 'listening')
  const { port: outside } = application.address() as { port: number }
  const [url, secure] = [`http://127.0.0.1:${outside}/back`, `https://127.0.0.1:${outside}/`]
  let told = ''
  let stream: IncomingMessage | undefined
  const settings = { post_user_verify_redirect_url: url }
  try {
    await withToolmock({ seed: { settings } }, async (mock) => {
      const { api } = mock
      const { port } = await mock.app.listen({ host: '127.0.0.1', port: 0 })
      ;[stream] = (await once(get({ host: '127.0.0.1', port, path: '/_mock/events' }), 'response')) as [IncomingMessage]
      stream.setEncoding('utf8').on('data', (part: string) => (told += part))
      const fields = { display_name: 'Acme', icon_src: url, proxy_enabled: true, proxy_url: secure }
      const { provider } = (await api.post('/custom-providers', fields)).body
      const { id } = await createAccount(mock, { connected_account: { api_config: { webhook_url: url } } })
      const link = await linkFor(mock, { id, user_verify_url: url })
      const back = (await mock.follow(link, { decision: 'approve' })).headers['location'] ?? ''
      const request = new URL(back).searchParams.get('auth_request_id') ?? ''
      expect((await verify(mock, request)).body).toEqual({ post_user_verify_redirect_url: url })
      await api.post('/execute_tool', { ...ADA, tool_name: 'mail_list_messages' })
      await mock.http('post', `/_mock/accounts/${id}/expire`)
      expect((await detailsOf(mock, id)).status).toBe('EXPIRED')
      await api.put(`/custom-providers/${provider.identifier}`, { auth_patterns: [{ type: 'OAUTH' }] })
      await api.delete(`/custom-providers/${provider.identifier}`)
      await api.post('/connected_accounts:delete', { id })
    })
    if (stream && !stream.readableEnded) await once(stream, 'end')
    const moves = [...told.matchAll(/"event":"(\w+)","from":/g)].map(([, event]) => event)
    expect([...new Set(moves)]).toEqual([
      'created_without_credentials',
      'link_requested',
      'consent_approved_unverified',
      'verified',
      'expired_manually',
      'deleted',
    ])
    expect(connections).toBe(0)
  } finally {
    application.close()
  }
})
