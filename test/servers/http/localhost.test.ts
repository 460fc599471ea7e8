import { createServer } from 'node:http'
import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { servingOf } from '../../../src/servers/http/server.ts'
import { freePort } from '../../support/free-port.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'))
const ADDRESSES = ['localhost', '127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]

it('a server on localhost answers at each address of that name, and its URL names it', async () => {
  const app = await createApp({})
  const { url, port } = await app.listen({ host: 'localhost', port: await freePort() })
  expect(url).toBe(`http://localhost:${port}`)
  for (const address of ADDRESSES)
    expect([address, (await fetch(`http://${address}:${port}/_mock/health`)).status]).toEqual([address, 200])
  await app.close()
  for (const address of ADDRESSES) await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow('fetch failed')
})

it('a server on another host listens there alone', async () => {
  const server = createServer((_, response) => response.end())
  const serving = servingOf(server, 'http', 1000)
  const { port } = await serving.listen({ host: '127.0.0.1', port: await freePort() })
  await expect(fetch(`http://[::1]:${port}/`)).rejects.toThrow('fetch failed')
  await serving.close()
})
