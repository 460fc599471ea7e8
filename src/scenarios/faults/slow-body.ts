import { writeHead } from '../delivery.ts'
import { defineFault } from './fault.ts'

const DEFAULTS = { over: 3000, pieces: 10 }

/** The body comes in pieces over some time; a server that closes sends the rest at once. */
export const slowBody = defineFault({
  parameters: ({ wholeNumber, strict, wait }) =>
    strict({
      over: wait.prefault('3s').describe('How long the body takes.'),
      pieces: wholeNumber(2, 1000).default(DEFAULTS.pieces).describe('In how many pieces it is sent.'),
    })
      .nullable()
      .transform((parameters) => parameters ?? DEFAULTS),
  description: 'The body of the answer comes in pieces, slowly.',
  sentence: ({ over, pieces }) => `sends the body in ${pieces} pieces over ${over} ms`,
  phase: 'delivery',
  deliver: async ({ response, pauses }, wireResponse, { over, pieces }) => {
    const whole = Buffer.from(wireResponse.body)
    writeHead(response, wireResponse, whole.length)
    response.flushHeaders()
    for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
      if (piece > 0) await pauses.wait(over / (pieces - 1), response)
      const [from, to] = [piece, piece + 1].map((at) => Math.floor((whole.length * at) / pieces))
      response.write(whole.subarray(from, to))
    }
    response.end()
  },
})
