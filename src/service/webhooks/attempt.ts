import { createHmac } from 'node:crypto'
import { failureReason, HttpClient } from '../../platform/http-client.ts'
import type { Webhook, WebhookDelivery } from '../../model/domain/webhook.ts'
import type { WebhookPlan } from '../../scenarios/faults/fault.ts'

/** What was sent, and what came back. */
export interface Attempt {
  readonly headers: Readonly<Record<string, string>>
  /** 0 without an answer. */
  readonly status: number
  readonly receivedHeaders: Readonly<Record<string, string | readonly string[]>>
  readonly receivedBody: Buffer | string
  /** Why there is no answer. */
  readonly failure?: string
}

export const LOST: Attempt = {
  headers: {},
  status: 0,
  receivedHeaders: {},
  receivedBody: '',
  failure: 'it was lost on the way, as a rule of a scenario wants it',
}

/** Bytes of an answer that are read. */
const MAX_ANSWER = 16 * 1024
/** Verification allows five minutes. */
const STALE_SECONDS = 600
const OTHER_KEY = `whsec_${Buffer.from('not the key of this webhook').toString('base64')}`

/** `now`: real seconds, by which receivers check the timestamp. */
export async function sendEvent(
  webhook: Webhook,
  { event_id: id, body }: WebhookDelivery,
  { signs, stale }: Pick<WebhookPlan, 'signs' | 'stale'>,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Attempt> {
  const { url, secret, secrets = secret === undefined ? [] : [secret] } = webhook
  const keys = { all: secrets, oldest: secrets.slice(-1), none: [OTHER_KEY] }[signs]
  const timestamp = String(Math.floor(now) - (stale ? STALE_SECONDS : 0))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'toolmock',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => signatureOf(key, id, timestamp, body)).join(' '),
  }
  const attempt = { headers, status: 0, receivedHeaders: {}, receivedBody: '' }
  try {
    const response = await new HttpClient(url).open({ method: 'POST', path: url, headers, body, signal })
    attempt.status = response.statusCode ?? 0
    const responseHeaders = Object.entries(response.headers).filter(([, value]) => value !== undefined)
    attempt.receivedHeaders = Object.fromEntries(responseHeaders)
    // The status is the acknowledgement: however the body ends.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      attempt.receivedBody += chunk.toString('latin1', 0, MAX_ANSWER - attempt.receivedBody.length)
      if (attempt.receivedBody.length >= MAX_ANSWER) break
    }
  } catch (error) {
    if (attempt.status === 0) return { ...attempt, failure: failureReason(signal.aborted ? signal.reason : error) }
  }
  return { ...attempt, receivedBody: Buffer.from(attempt.receivedBody, 'latin1') }
}

/** `webhook-signature` of a body (`v1`): a HMAC over id, timestamp and body with the key that is in the secret. */
export function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
