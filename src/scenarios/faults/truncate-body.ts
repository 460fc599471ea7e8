import { writeHead } from '../delivery.ts'
import { defineFault } from './fault.ts'

/** The connection ends before the body has the length that its header names. An answer without a body stays whole. */
export const truncateBody = defineFault({
  parameters: ({ wholeNumber, strict }) =>
    strict({ bytes: wholeNumber(0).optional().describe('How many bytes are sent. Absent: half of the body.') })
      .nullable()
      .transform((parameters) => ({ bytes: parameters?.bytes ?? null })),
  description: 'The answer ends before its Content-Length.',
  sentence: ({ bytes }) => `ends the connection after ${bytes === null ? 'half of' : `${bytes} octets of`} the body`,
  phase: 'delivery',
  deliver: ({ response }, wireResponse, { bytes }) =>
    new Promise((resolve) => {
      const whole = Buffer.from(wireResponse.body)
      writeHead(response, wireResponse, whole.length)
      if (whole.length === 0) {
        response.end(resolve)
        return
      }
      const { socket } = response
      socket?.once('close', () => {
        resolve()
      })
      // The head has to be sent also when nothing of the body is.
      response.flushHeaders()
      const length = Math.min(bytes ?? Math.floor(whole.length / 2), whole.length - 1)
      if (length === 0) socket?.destroySoon()
      else response.write(whole.subarray(0, length), () => socket?.destroySoon())
    }),
})
