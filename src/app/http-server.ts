import type { RequestListener } from 'node:http'
import { refuseExpectation } from '../servers/http/refusal.ts'
import { type FastExpress, serverLimits, servingOf } from '../servers/http/server.ts'
import type { ServiceParts } from '../servers/http/services.ts'
import { respondToUnreadable } from '../servers/http/unreadable-request.ts'
import { systemTime } from '../state/model/time-and-ids.ts'
import type { AppOptions } from './options.ts'

/** HTTPS with `--tls`, HTTP/2 on the same port with descriptors; `services` are undefined while a replica stands by. */
export async function createHttpServer(
  options: AppOptions,
  { createFastServer }: FastExpress,
  listener: RequestListener,
  services: () => ServiceParts | undefined,
) {
  const limits = serverLimits(options.limits)
  const tls = await tlsCredentials(options)
  const hasRpc = options.descriptors !== undefined && options.descriptors.length > 0
  const protocols = hasRpc && { ALPNProtocols: ['h2', 'http/1.1'] }
  const server = await createFastServer(listener, limits, tls && { ...tls, ...protocols })
  server.on('clientError', respondToUnreadable(services))
  server.on('checkExpectation', refuseExpectation(services))
  // Loaded only where there are descriptors: without them nothing of HTTP/2 is there.
  const http2 = hasRpc ? (await import('../servers/rpc/one-port.ts')).serveHttp2(server, limits) : undefined
  const serving = servingOf(server, tls ? 'https' : 'http', limits.closeTimeout)
  return {
    listen: (address: { host: string; port: number }) => serving.listen(address),
    authorityFile: tls?.authorityFile,
    trust: tls?.trust ?? {},
    close: async (): Promise<void> => {
      http2?.close()
      await serving.close()
      await tls?.release()
    },
  }
}

/** Certificates are checked by clients in real time, so the mock's own clock has no part in them. */
async function tlsCredentials({ tls }: AppOptions) {
  if (!tls) return undefined
  const { serverCredentials } = await import('../servers/tls/server-credentials.ts')
  return serverCredentials(tls, systemTime())
}
