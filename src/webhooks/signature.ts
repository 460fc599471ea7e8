import { createHmac } from 'node:crypto'

/** `webhook-signature` of a body (`v1`): a HMAC over id, timestamp and body with the key that is in the secret. */
export function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
