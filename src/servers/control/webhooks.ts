import { mayBeCalled } from '../../model/domain/base-url.ts'
import { maskUrl } from '../../model/domain/masking.ts'
import { quote, thereAre } from '../../model/domain/text.ts'
import { EVENT_TYPES, WEBHOOK_NAME, WEBHOOK_NAME_RULE, type WebhookDelivery } from '../../model/domain/webhook.ts'
import type { AppServices } from './app-services.ts'
import { accountWith } from './accounts.ts'
import { changeReply, type ControlHandlers, type ControlReply, type EnvironmentCall } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'

export const webhookHandlers = {
  list_webhooks: ({ services, environment }) => {
    const waiting = [...environment.model.tables.webhook_deliveries.values()]
    const webhooks = services.webhooks.of(environment).map(({ id: name, url, types }) => {
      const ofWebhook = waiting.filter(({ webhook }) => webhook === name)
      return {
        name,
        url: maskUrl(url),
        types,
        waiting: ofWebhook.length,
        next_attempts: ofWebhook.slice(0, MAX_SHOWN).map(deliveryView),
      }
    })
    return { body: { webhooks } }
  },

  put_webhook: (call) => {
    const { services, environment, path, body } = call
    if (!WEBHOOK_NAME.test(path.name)) {
      const message = `${quote(path.name)} is not a name for a webhook; a name has ${WEBHOOK_NAME_RULE}`
      throw new ControlError('INVALID_NAME', message)
    }
    refuseSwitchedOff(services)
    if (!mayBeCalled(body.url, services.documentChecks.allowOutbound ?? false)) {
      const allowed = 'a server on loopback; --allow-outbound allows others'
      throw invalidInput('INVALID_BODY', [{ path: ['url'], found: quote(maskUrl(body.url)), allowed }])
    }
    const { types = [...EVENT_TYPES] } = body
    const { tables } = environment.model
    environment.model.transact(() => tables.webhooks.put({ id: path.name, ...body, types }))
    return changeReply(`the webhook ${path.name} was put`)
  },

  /** What waits for it ends. */
  delete_webhook: (call) => {
    const { environment, path } = call
    const { webhooks, webhook_deliveries } = environment.model.tables
    if (!webhooks.get(path.name)) {
      if (!call.services.webhooks.named(environment, path.name)) throw noWebhook(call, `webhook ${quote(path.name)}`)
      const message = `the webhook ${quote(path.name)} is one of the configuration file, which every environment has; remove it there`
      throw new ControlError('WEBHOOK_NOT_FOUND', message)
    }
    environment.model.transact(() => {
      webhooks.remove(path.name)
      for (const { id, webhook } of [...webhook_deliveries.values()])
        if (webhook === path.name) webhook_deliveries.remove(id)
    })
    return changeReply(`the webhook ${path.name} was deleted`)
  },

  send_event: (call) => {
    const { services, environment, body, trace } = call
    const { type } = body
    refuseSwitchedOff(services)
    const newest = [...environment.model.tables.accounts.values()].at(-1)
    const account = body.account === undefined ? newest : accountWith(environment, body.account)
    if (!account)
      throw new ControlError('ACCOUNT_NOT_FOUND', 'there is no connected account that the event could be of')
    trace.account = account
    const deliveries = services.webhooks.send(environment, type, account, trace.request)
    if (deliveries.length === 0) throw noWebhook(call, `webhook that gets ${type}`)
    return sentReply(call, deliveries)
  },

  resend_event: (call) => {
    const { services, environment, journal, path, trace } = call
    refuseSwitchedOff(services)
    const deliveries = services.webhooks.resend(environment, path.id, {
      entries: journal.entries(),
      cause: trace.request,
    })
    if (deliveries && deliveries.length > 0) return sentReply(call, deliveries)
    if (deliveries) throw noWebhook(call, `webhook that got ${quote(path.id)}`)
    const message = `the request journal has no event ${quote(path.id)}; ids begin with evt_: npx toolmock logs shows them`
    throw new ControlError('EVENT_NOT_FOUND', message)
  },
} satisfies Partial<ControlHandlers>

/** @throws ControlError with `--documented-only`, which sends no event */
function refuseSwitchedOff({ webhooks }: AppServices): void {
  if (!webhooks.isOff) return
  const mistake = 'sent to a server with --documented-only'
  throw invalidInput('INVALID_BODY', [
    { path: [], found: mistake, allowed: 'a server without: the document has no events' },
  ])
}

/** Deliveries that a list shows of each webhook. */
const MAX_SHOWN = 20

function deliveryView({ event_id: event, type, account_id: account, attempts, due_at: at }: WebhookDelivery): object {
  return { event, type, account, attempt: attempts + 1, at }
}

type SendCall = EnvironmentCall<'send_event'> | EnvironmentCall<'resend_event'>

function sentReply(call: SendCall, deliveries: readonly WebhookDelivery[]): ControlReply {
  const [event = '', type = ''] = deliveries.map(({ event_id, type }) => [event_id, type]).flat()
  const webhooks = deliveries.map(({ webhook }) => webhook)
  return changeReply(`${type} (${event}) is sent to ${webhooks.join(', ')}`, { body: { event, type, webhooks } })
}

function noWebhook(call: Pick<SendCall, 'services' | 'environment'>, what: string): ControlError {
  const names = call.services.webhooks.of(call.environment).map(({ id }) => id)
  const there = thereAre(names, 'none was put yet (PUT /_mock/webhooks/{name})')
  return new ControlError('WEBHOOK_NOT_FOUND', `there is no ${what}; ${there}`)
}
