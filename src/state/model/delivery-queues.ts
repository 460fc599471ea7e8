import type { WebhookDelivery } from '../../model/domain/webhook.ts'
import { firstWhere } from './rows-in-order.ts'
import type { Index } from './table.ts'

/** Deliveries in their order: one queue for each webhook and account, in which every delivery waits for those before it. */
export class DeliveryQueues implements Index<WebhookDelivery> {
  readonly #ofWebhook = new Map<string, Map<string, WebhookDelivery[]>>()

  /** By webhook; those from which nothing was taken for the longest time come first. */
  all(): Iterable<readonly [webhook: string, queues: ReadonlyMap<string, readonly WebhookDelivery[]>]> {
    return this.#ofWebhook
  }

  of({ webhook, account_id }: WebhookDelivery): readonly WebhookDelivery[] {
    return this.#ofWebhook.get(webhook)?.get(account_id) ?? []
  }

  update(before: WebhookDelivery | undefined, after: WebhookDelivery | undefined): void {
    const row = after ?? before
    if (!row) return
    const queues = this.#ofWebhook.get(row.webhook) ?? new Map<string, WebhookDelivery[]>()
    this.#ofWebhook.set(row.webhook, queues)
    const queue = queues.get(row.account_id) ?? []
    const at = firstWhere(queue, ({ sequence }) => sequence >= row.sequence)
    queue.splice(at, before ? 1 : 0, ...(after ? [after] : []))
    if (before) queues.delete(row.account_id)
    if (queue.length > 0) queues.set(row.account_id, queue)
  }
}
