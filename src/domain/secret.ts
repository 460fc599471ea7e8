import { hash, timingSafeEqual } from 'node:crypto'

/** Whether a secret that was sent is the expected one; takes the same time whatever was sent, its length included. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

export const ADMIN_TOKEN_RULE = 'visible ASCII characters, without blanks at its ends'

/** Whether a header can carry a text as the admin token. */
export function isAdminToken(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
}
