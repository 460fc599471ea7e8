import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { ThirdPartyHttpClient } from '../../../src/service/third-party/http-messages.ts'

it.each([101, 600, 999])('%s is refused at once', async (status) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(`HTTP/1.1 ${status} Odd\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n`))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const http = new ThirdPartyHttpClient()
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const request = { method: 'GET', origin, path: '/', query: [], headers: {}, body: '' }
    const received = await http.send(request, 60_000, false)
    const message = `the status ${status} is not one of an answer (200 to 599)`
    expect(received).toEqual({ kind: 'failed', status: null, message, arrived: true })
  } finally {
    http.close()
    server.close()
  }
})
