import type { WebhookDelivery } from '../../domain/webhook.ts'
import { firstWhere } from './rows-in-order.ts'
import type { Index } from './table.ts'

/** Deliveries in their order: one queue for each webhook and account, in which every delivery waits for those before it. */
export class DeliveryQueues implements Index<WebhookDelivery> {
  /** The queues that have changed since somebody looked. */
  readonly changed = new Set<string>()
  readonly #queues = new Map<string, WebhookDelivery[]>()

  get(key: string): readonly WebhookDelivery[] {
    return this.#queues.get(key) ?? NONE
  }

  update(before: WebhookDelivery | undefined, after: WebhookDelivery | undefined): void {
    const row = after ?? before
    if (!row) return
    const key = queueOf(row)
    this.changed.add(key)
    const queue = this.#queues.get(key) ?? []
    const at = firstWhere(queue, ({ sequence }) => sequence >= row.sequence)
    queue.splice(at, before ? 1 : 0, ...(after ? [after] : []))
    if (queue.length > 0) this.#queues.set(key, queue)
    else this.#queues.delete(key)
  }
}

const NONE: readonly never[] = Object.freeze([])

export function queueOf({ webhook, account_id }: WebhookDelivery): string {
  return `${webhook}/${account_id}`
}
