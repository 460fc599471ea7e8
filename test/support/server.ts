import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Runs `work` with a server of the test, for the `base_url` of a connector. */
export async function withServer<R>(listener: RequestListener, work: (base_url: string) => Promise<R>): Promise<R> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
