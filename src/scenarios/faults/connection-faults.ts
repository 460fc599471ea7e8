import { once } from 'node:events'
import { isEncrypted } from '../../model/domain/request-headers.ts'
import { faultWithoutParameters } from './fault.ts'

/** Never answers: the connection stays open until the client gives up. */
export const timeout = faultWithoutParameters(
  'No answer ever; nothing is carried out.',
  'never answers and leaves the connection open until the client gives up',
  {
    phase: 'connection',
    end: async ({ response, pauses }) => {
      await pauses.start(undefined, response).over
      response.socket?.destroy()
    },
  },
)

/** RST instead of an answer. */
export const resetConnection = faultWithoutParameters(
  'The connection is reset (RST); nothing is carried out.',
  'resets the connection without an answer',
  {
    phase: 'connection',
    end: ({ response: { socket } }) => {
      // Only a plain socket can send RST by itself; a TLS connection is closed without a close_notify.
      if (socket && isEncrypted(socket)) socket.destroy()
      else socket?.resetAndDestroy()
      return Promise.resolve()
    },
  },
)

/** FIN instead of an answer: the connection ends where the client expects a status line. */
export const emptyResponse = faultWithoutParameters(
  'The connection is closed without an octet; nothing is carried out.',
  'closes the connection without a single octet of an answer',
  {
    phase: 'connection',
    end: async ({ response: { socket } }) => {
      if (!socket || socket.destroyed) return
      const closed = once(socket, 'close')
      socket.destroySoon()
      await closed.catch(() => undefined)
    },
  },
)
