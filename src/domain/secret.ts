import { hash, timingSafeEqual } from 'node:crypto'

/** Whether a secret that was sent is the expected one; takes the same time whatever was sent, its length included. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
