import type { Account } from '../../model/domain/account.ts'
import type { EventType, Webhook, WebhookDelivery } from '../../model/domain/webhook.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import { type Environment, type EventSender, now } from '../../state/environment.ts'
import type { Cause } from '../../state/model/model.ts'
import type { Change } from '../../state/model/table.ts'
import { type WebhookEvent, eventBody, accountEventsOf } from './account-events.ts'
import { Deliveries, type DeliveryParts } from './deliveries.ts'

const SEQUENCE = 'webhook_deliveries'

/** Deliveries that wait in one environment. Beyond that the oldest is given up. */
export const MAX_WAITING = 20_000

interface WebhooksOptions extends DeliveryParts {
  /** Those of the configuration file, which every environment has. */
  readonly ofServer: readonly Webhook[]
  /** Whether no event is sent (`--documented-only`). */
  readonly isOff: boolean
  readonly warn: (message: string) => void
}

/** The webhooks of every environment: the events of its accounts become rows with their changes, and are then sent (G68). */
export class Webhooks implements EventSender {
  readonly #options: WebhooksOptions
  readonly #ofServer: ReadonlyMap<string, Webhook>
  /** Environments whose queue is full, as a warning has said. */
  readonly #full = new WeakSet<Environment>()
  readonly #deliveries = new Map<Environment, Deliveries>()
  #isSending = false

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#ofServer = new Map(options.ofServer.map((webhook) => [webhook.id, webhook]))
  }

  /** Begins to send; what was not acknowledged before the last stop comes first. */
  start(): void {
    this.#isSending = true
    for (const environment of this.#options.registry.environments()) this.committed(environment)
  }

  /** Stops sending; what is not acknowledged stays in the state. */
  close(): void {
    this.#isSending = false
    for (const deliveries of this.#deliveries.values()) deliveries.close()
  }

  get isOff(): boolean {
    return this.#options.isOff
  }

  /** Those of an environment; of one name its own counts. */
  of({ model }: Environment): Webhook[] {
    const rows = [...model.tables.webhooks.values()].map((webhook) => [webhook.id, webhook] as const)
    return [...new Map([...this.#ofServer, ...rows]).values()]
  }

  named({ model }: Environment, name: string): Webhook | undefined {
    return model.tables.webhooks.get(name) ?? this.#ofServer.get(name)
  }

  addEvents(environment: Environment, changes: readonly Change[], cause: Cause): void {
    if (this.isOff || !this.#hasWebhooks(environment)) return
    for (const event of accountEventsOf(environment.model, changes, cause))
      this.#addDeliveries(environment, event, cause.request)
  }

  committed(environment: Environment): void {
    let deliveries = this.#deliveries.get(environment)
    if (!deliveries && this.#isSending && !this.isOff && this.#hasWebhooks(environment)) {
      deliveries = new Deliveries(environment, this.#options, (name) => this.named(environment, name))
      for (const each of this.#deliveries.keys()) if (each.isRemoved) this.#deliveries.delete(each)
      this.#deliveries.set(environment, deliveries)
    }
    deliveries?.wake()
  }

  /** Sends an event that has not come about. @returns its deliveries; none where no webhook gets it */
  send(environment: Environment, type: EventType, account: Account, cause: string | undefined): WebhookDelivery[] {
    const old_status = account.status === 'ACTIVE' ? 'PENDING_AUTH' : 'ACTIVE'
    const isMove = type === 'connected_account.status_updated'
    const event: WebhookEvent = isMove ? { type, account, old_status } : { type, account }
    return environment.model.transact(() => this.#addDeliveries(environment, event, cause))
  }

  /** What waits at once, else what the journal has. Undefined for an unknown id. */
  resend(
    environment: Environment,
    id: string,
    { entries, cause }: { entries: readonly StoredEntry[]; cause: string | undefined },
  ): WebhookDelivery[] | undefined {
    const { model } = environment
    const { webhook_deliveries: table } = model.tables
    const delivered = entries.flatMap(({ webhook }) =>
      webhook?.event_id === id ? [[webhook.id, webhook] as const] : [],
    )
    const waiting = [...table.values()].filter(({ event_id }) => event_id === id)
    const due_at = now(environment)
    const deliveries = [...new Map([...delivered, ...waiting.map((row) => [row.id, row] as const)]).values()]
    if (deliveries.length === 0) return undefined
    const rows = deliveries.filter(({ webhook }) => this.named(environment, webhook))
    return model.transact(() => {
      for (const row of rows) {
        if (table.get(row.id)) table.put({ ...row, due_at })
        else table.put({ ...row, due_at, attempts: 0, sequence: model.count(SEQUENCE), cause: cause ?? null })
      }
      return rows
    })
  }

  #hasWebhooks({ model: { tables } }: Environment): boolean {
    return tables.webhooks.size + tables.webhook_deliveries.size + this.#ofServer.size > 0
  }

  /** Only inside a transaction. */
  #addDeliveries(environment: Environment, event: WebhookEvent, cause: string | undefined): WebhookDelivery[] {
    const webhooks = this.of(environment).filter(({ types }) => types.includes(event.type))
    if (webhooks.length === 0) return []
    const { ids, model } = environment
    const { webhook_deliveries: table } = model.tables
    const at = environment.clock.instant()
    const event_id = ids.id('evt')
    const body = eventBody(environment, event, { id: event_id, at })
    const { id: account_id, connector, identifier } = event.account
    return webhooks.map(({ id: webhook }) => {
      const [oldest] = table.size < MAX_WAITING ? [] : table.values()
      if (oldest) {
        if (!this.#full.has(environment))
          this.#options.warn(
            `${MAX_WAITING} events wait for webhooks in environment ${environment.name}; ${oldest.id} is given up, and so is the oldest for each further event`,
          )
        this.#full.add(environment)
        table.remove(oldest.id)
      } else if (table.size < MAX_WAITING / 2) this.#full.delete(environment)
      const row: WebhookDelivery = {
        id: `${event_id}/${webhook}`,
        event_id,
        webhook,
        type: event.type,
        account_id,
        connector,
        identifier,
        body,
        sequence: model.count(SEQUENCE),
        attempts: 0,
        due_at: at,
        cause: cause ?? null,
      }
      table.put(row)
      return row
    })
  }
}
