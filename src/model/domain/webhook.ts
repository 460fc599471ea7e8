export type { Webhook, WebhookDelivery } from './generated/tables.ts'

/** The events of accounts that an application can get (G68). */
export const EVENT_TYPES = [
  'connected_account.created',
  'connected_account.updated',
  'connected_account.status_updated',
  'connected_account.deleted',
  'connected_account.magic_link_generated',
  'connected_account.oauth_tokens_fetched',
  'connected_account.oauth_succeeded',
  'connected_account.token_refresh_succeeded',
  'connected_account.token_refresh_failed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** How long after each failed attempt the next one is made, in milliseconds of the environment's clock. */
export const RETRY_AFTER = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const

export const WEBHOOK_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/
export const WEBHOOK_NAME_RULE = '1 to 64 letters, digits, ".", "_" and "-", a dot not first'

const SECRET = /^whsec_(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
export const SECRET_RULE = 'whsec_ and a key in base64'

export function isWebhookSecret(text: string): boolean {
  return SECRET.test(text)
}

export const WEBHOOK_URL_RULE = 'an http or https URL without user name and fragment'
