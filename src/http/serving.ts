import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** Connections that may wait to be taken on: a load test opens its thousand at once. */
const BACKLOG = 4096

/** How often connections that have become idle are looked for while the server closes. */
const SWEEP_MS = 20

/** A server's life: it listens once, and stops. */
export interface Serving {
  /** `port` 0 takes a free one. @throws what the operating system says about the address */
  listen(address: { host: string; port: number }): Promise<{ url: string; host: string; port: number }>
  /** Lets requests under way finish within a bound, and drops what is left. */
  close(): Promise<void>
}

/** @param closeTimeout how long requests under way may take to finish when serving ends, in milliseconds */
export function servingOf(server: Server, protocol: 'http' | 'https', closeTimeout: number): Serving {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port, host, backlog: BACKLOG }, () => {
          server.off('error', reject)
          const bound = (server.address() as AddressInfo).port
          resolve({ url: `${protocol}://${urlHost(host)}:${bound}`, host, port: bound })
        })
      }),
    close: () => closed(server, open, closeTimeout),
  }
}

/** Idle connections are not waited for, and whoever is answered from now on is not to ask again. */
async function closed(server: Server, open: ReadonlySet<Socket>, closeTimeout: number): Promise<void> {
  if (!server.listening) return
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  const sweep = setInterval(() => {
    server.closeIdleConnections()
  }, SWEEP_MS)
  const drop = setTimeout(() => {
    for (const socket of open) socket.destroy()
  }, closeTimeout)
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeIdleConnections()
    // Browsers open connections that they may never use.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  })
  clearInterval(sweep)
  clearTimeout(drop)
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
