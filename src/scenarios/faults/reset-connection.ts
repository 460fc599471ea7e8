import type { FaultMaker } from './fault.ts'

/** RST instead of an answer. */
export const resetConnection: FaultMaker<'reset_connection'> = () => ({
  kind: 'reset_connection',
  sentence: 'resets the connection without an answer',
  before: ({ response: { socket } }) => {
    // Only a plain socket can send RST by itself; over TLS the connection is broken off without a close_notify.
    if (socket && 'encrypted' in socket) socket.destroy()
    else socket?.resetAndDestroy()
    return Promise.resolve()
  },
})
