import type { FaultMaker } from './fault.ts'

/** The body comes in pieces over some time; a server that closes sends the rest at once. */
export const slowBody: FaultMaker<'slow_body'> = ({ over, pieces }) => ({
  kind: 'slow_body',
  sentence: `sends the body in ${pieces} pieces over ${over} ms`,
  deliver: async ({ response, pauses }, { status, headers, body }) => {
    const whole = Buffer.from(body)
    response.writeHead(status, { ...headers, 'Content-Length': whole.length })
    response.flushHeaders()
    for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
      if (piece > 0) await pauses.wait(over / (pieces - 1), response)
      const [from, to] = [piece, piece + 1].map((at) => Math.floor((whole.length * at) / pieces))
      response.write(whole.subarray(from, to))
    }
    response.end()
  },
})
