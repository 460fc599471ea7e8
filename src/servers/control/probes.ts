import type { ControlReply, ServerCall } from './call.ts'

/** What every process that waits for the server asks, at once and without the admin token. */
export const PROBES = {
  get_health: (): ControlReply => ({ body: { status: 'ok' } }),

  get_ready: ({ services }: Pick<ServerCall<'get_ready'>, 'services'>): ControlReply => {
    if (services.defaultEnvironment()) return { body: { status: 'ready' } }
    return { status: 503, body: { status: 'starting' } }
  },
}
