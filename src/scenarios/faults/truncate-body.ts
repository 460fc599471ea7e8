import type { FaultMaker } from './fault.ts'

/** The connection ends before the body has the length that its header names. An answer without a body stays whole. */
export const truncateBody: FaultMaker<'truncate_body'> = ({ bytes }) => ({
  kind: 'truncate_body',
  sentence: `ends the connection after ${bytes === null ? 'half of' : `${bytes} octets of`} the body`,
  deliver: ({ response }, { status, headers, body }) =>
    new Promise((resolve) => {
      const whole = Buffer.from(body)
      response.writeHead(status, { ...headers, 'Content-Length': whole.length })
      if (whole.length === 0) {
        response.end(resolve)
        return
      }
      const { socket } = response
      socket?.once('close', () => {
        resolve()
      })
      // The head has to leave also when none of the body does.
      response.flushHeaders()
      const sent = Math.min(bytes ?? Math.floor(whole.length / 2), whole.length - 1)
      if (sent === 0) socket?.destroySoon()
      else response.write(whole.subarray(0, sent), () => socket?.destroySoon())
    }),
})
