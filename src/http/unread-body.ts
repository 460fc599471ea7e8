import type { ServerResponse } from 'node:http'
import { isUninvited } from './expectation.ts'

/** How much of a body that nobody reads is taken and thrown away, and for how long, so that its client gets to read the answer. */
const MOST_TAKEN = 64 * 1024 * 1024
const LONGEST_TAKEN_MS = 3000

/** Whether an answer is given before the request's body has come in whole. */
export function isUnread(response: ServerResponse): boolean {
  const { complete, headers } = response.req
  if (complete || isUninvited(response)) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Answers at once, and ends the answer when the rest of the body has come; a body without an end costs the connection. */
export function takeRest(response: ServerResponse, head: () => void, text: string): void {
  const request = response.req
  if (Number(request.headers['content-length'] ?? 0) > MOST_TAKEN) response.shouldKeepAlive = false
  head()
  response.flushHeaders()
  response.write(text)
  const drop = setTimeout(() => response.destroy(), LONGEST_TAKEN_MS)
  let left = MOST_TAKEN
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) response.destroy()
  })
  request.on('end', () => response.end())
  request.on('error', () => undefined)
  response.on('close', () => {
    clearTimeout(drop)
  })
  request.resume()
}
