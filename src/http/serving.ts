import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How long requests under way may take to finish when serving ends. */
const PATIENCE_MS = 2000

/** A server's life: it listens once, and stops. */
export interface Serving {
  /** `port` 0 takes a free one. @throws what the operating system says about the address */
  listen(address: { host: string; port: number }): Promise<{ url: string; host: string; port: number }>
  close(): Promise<void>
}

export function servingOf(server: Server, protocol: 'http' | 'https'): Serving {
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          const bound = (server.address() as AddressInfo).port
          resolve({ url: `${protocol}://${urlHost(host)}:${bound}`, host, port: bound })
        })
      }),
    close: () => closed(server),
  }
}

/** Lets requests under way finish; idle connections are not waited for. */
async function closed(server: Server): Promise<void> {
  if (!server.listening) return
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeIdleConnections()
    setTimeout(() => {
      server.closeAllConnections()
    }, PATIENCE_MS).unref()
  })
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
