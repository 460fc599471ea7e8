import type { Account } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import type { Instant } from '../../model/domain/instant.ts'
import { equalValues } from '../../model/domain/value-match.ts'
import { jsonText, type JsonValue, TEXT_WITH_COLON } from '../../model/domain/json.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { wireWord } from '../../model/domain/vocabulary.ts'
import type { EventType } from '../../model/domain/webhook.ts'
import type { Environment } from '../../state/environment.ts'
import type { Cause, Model } from '../../state/model/model.ts'
import type { Change } from '../../state/model/table.ts'

export interface WebhookEvent {
  readonly type: EventType
  readonly account: Account
  readonly old_status?: Account['status']
}

/** The events that the changes of one transaction cause, in their order (G68). */
export function accountEventsOf({ tables }: Model, changes: readonly Change[], cause: Cause): WebhookEvent[] {
  // By account, because one transaction can change all accounts of a provider.
  const noted = new Map<string, Noted[]>()
  for (const each of [...cause.transitions, ...cause.changes]) {
    const words = noted.get(each.account_id) ?? []
    noted.set(each.account_id, words)
    words.push('event' in each ? each.event : each.by)
  }
  return changes.flatMap(({ table, id, before, after }): WebhookEvent[] => {
    if (table === 'accounts')
      return accountEvents(before as Account | undefined, after as Account | undefined, noted.get(id) ?? [])
    const account = table === 'magic_links' && !before && tables.accounts.get((after as MagicLink).account_id)
    return account ? [{ type: 'connected_account.magic_link_generated', account }] : []
  })
}

type Noted = Cause['transitions'][number]['event'] | Cause['changes'][number]['by']

function accountEvents(before: Account | undefined, after: Account | undefined, noted: Noted[]): WebhookEvent[] {
  if (!after) return before ? [{ type: 'connected_account.deleted', account: before }] : []
  if (!before) return [{ type: 'connected_account.created', account: after }]
  const isConsent = TRAITS[after.authorization_type].source === 'consent'
  const isLive = noted.includes('consent_approved')
  const event = (name: string, isCaused: boolean): WebhookEvent[] =>
    isCaused ? [{ type: `connected_account.${name}` as EventType, account: after }] : []
  return [
    ...event('oauth_tokens_fetched', isConsent && (isLive || noted.includes('consent_approved_unverified'))),
    ...event('oauth_succeeded', isConsent && (isLive || noted.includes('verified'))),
    ...event('token_refresh_succeeded', noted.includes('renewal')),
    ...event('token_refresh_failed', noted.includes('refresh_refused')),
    ...event('updated', noted.includes('update') && !equalValues(asJson(before), asJson(after))),
    ...event('status_updated', before.status !== after.status).map((each) => ({ ...each, old_status: before.status })),
  ]
}

function asJson({ updated_at: _at, ...account }: Account): JsonValue {
  return account as unknown as JsonValue
}

/** A blank after each colon, none after a comma: a receiver that verifies what it parsed and rewrote fails (G68). */
export function eventBody(
  { name, settings }: Environment,
  { account, old_status, type }: WebhookEvent,
  { id, at }: { id: string; at: Instant },
): string {
  const word = (text: string): string => wireWord(settings.vocabulary, text)
  const data = {
    id: account.id,
    identifier: account.identifier,
    connection_id: account.connection_id,
    connection_name: account.connector,
    provider: account.provider,
    status: word(account.status),
    authorization_type: word(account.authorization_type),
    token_expires_at: account.token_expires_at,
    last_used_at: account.last_used_at,
    ...(old_status && { old_status: word(old_status) }),
  }
  const text = jsonText({
    spec_version: '1',
    id,
    type,
    object: 'ConnectedAccount',
    // In nanoseconds, of which the clock knows the milliseconds.
    occurred_at: at.replace('Z', '000000Z'),
    environment_id: `env_${name}`,
    ...(account.organization_id !== '' && { organization_id: account.organization_id }),
    data: Object.fromEntries(Object.entries(data).map(([field, value]) => [word(field), value])),
  })
  return text.replaceAll(TEXT_WITH_COLON, (token, colon?: string) => (colon === undefined ? token : `${token} `))
}
