import type { FaultMaker } from './fault.ts'

/** FIN instead of an answer: the client finds the end where it expects a status line. */
export const emptyResponse: FaultMaker<'empty_response'> = () => ({
  kind: 'empty_response',
  sentence: 'closes the connection without a single octet of an answer',
  before: ({ response: { socket } }) =>
    new Promise((resolve) => {
      if (!socket || socket.destroyed) {
        resolve()
        return
      }
      socket.once('close', () => {
        resolve()
      })
      socket.destroySoon()
    }),
})
