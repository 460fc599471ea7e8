import { defineFault } from './fault.ts'

/** RST instead of an answer. */
export const resetConnection = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The connection is reset (RST); nothing is carried out.',
  example: {},
  sentence: () => 'resets the connection without an answer',
  phase: 'connection',
  end: ({ response: { socket } }) => {
    // Only a plain socket can send RST by itself; a TLS connection is closed without a close_notify.
    if (socket && 'encrypted' in socket) socket.destroy()
    else socket?.resetAndDestroy()
    return Promise.resolve()
  },
})
