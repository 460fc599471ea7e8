import { defineFault } from './fault.ts'

/** FIN instead of an answer: the connection ends where the client expects a status line. */
export const emptyResponse = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The connection is closed without an octet; nothing is carried out.',
  example: {},
  sentence: () => 'closes the connection without a single octet of an answer',
  phase: 'connection',
  end: ({ response: { socket } }) =>
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
