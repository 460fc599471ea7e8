import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** An address that resolves to one server first, and to another one later (DNS rebinding). */
export interface Rebinding {
  readonly port: number
  /** Sends new connections to another server, and closes the open ones. */
  leadTo(url: string): void
  close(): Promise<void>
}

export async function startRebinding(url: string): Promise<Rebinding> {
  let target = url
  const sockets = new Set<Socket>()
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => sockets.delete(one) && other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (other) => {
      target = other
      drop()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        drop()
      }),
  }
}
