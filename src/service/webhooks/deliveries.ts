import { once } from 'node:events'
// Fake timers of a test replace the global function, and a server in its process still sends.
import { setImmediate } from 'node:timers'
import { MAX_TIMER_MS } from '../../model/domain/duration.ts'
import { type Instant, instant, milliseconds } from '../../model/domain/instant.ts'
import { parsedJson } from '../../model/domain/json.ts'
import { RequestTrace } from '../../model/domain/request-trace.ts'
import { RETRY_AFTER, type Webhook, type WebhookDelivery } from '../../model/domain/webhook.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import { eventMistakesOf } from '../../journal/request-journal/findings.ts'
import type { Journals } from '../../journal/request-journal/journal.ts'
import type { RequestEntries } from '../../journal/request-journal/request-entries.ts'
import { actBefore } from '../../scenarios/delivery.ts'
import type { ScenarioRegistry } from '../../scenarios/environment-scenarios.ts'
import type { MatchedFault, WebhookPlan } from '../../scenarios/faults/fault.ts'
import type { Pauses } from '../../scenarios/pauses.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import type { Environment } from '../../state/environment.ts'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'
import { LOST, sendEvent } from './attempt.ts'

export interface DeliveryParts {
  readonly registry: EnvironmentRegistry
  readonly journals: Journals
  readonly entries: RequestEntries
  readonly scenarios: ScenarioRegistry
  readonly pauses: Pauses
  readonly realTime: () => number
  /** How long an answer is waited for, in real milliseconds. */
  readonly timeout: number
}

/** Attempts that are under way at one webhook. */
const MAX_SENDING = 16
/** How long an event waits for those that a fault puts in front of it, in real milliseconds. */
const REORDER_WAIT = 5000

/** What the rules that fired make of the sending of an event. */
interface Rules {
  readonly trace: RequestTrace
  readonly faults: readonly MatchedFault[]
  readonly plan: WebhookPlan
}

const PLAIN: WebhookPlan = { lost: false, twice: false, signs: 'all', stale: false, after: 0 }

/** Once its commit is durable; those of one account to one webhook one after another. All that is here may be lost. */
export class Deliveries {
  readonly #environment: Environment
  readonly #parts: DeliveryParts
  readonly #webhook: (name: string) => Webhook | undefined
  /** Attempts under way, by webhook and account. */
  readonly #sending = new Map<string, { readonly row: WebhookDelivery; readonly over: AbortController }>()
  /** By id those that wait for later events of their account, with how many. */
  readonly #held = new Map<string, { readonly rules: Rules; after: number }>()
  /** Acknowledged ones: the disk may refuse that they are removed. */
  readonly #done = new WeakSet<WebhookDelivery>()
  #timer: NodeJS.Timeout | undefined
  #isScheduled = false
  #isClosed = false

  constructor(environment: Environment, parts: DeliveryParts, webhook: (name: string) => Webhook | undefined) {
    this.#environment = environment
    this.#parts = parts
    this.#webhook = webhook
  }

  /** Looks at what has changed, in a later turn of the event loop. */
  wake(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#startDue()
    })
  }

  /** Ends the attempts under way. Their deliveries stay in the state, for the next start. */
  close(): void {
    this.#isClosed = true
    this.#stopDeliveries()
  }

  #stopDeliveries(): void {
    clearTimeout(this.#timer)
    for (const { over } of this.#sending.values()) over.abort()
  }

  #startDue(): void {
    if (this.#isClosed) return
    // It is there again when the disk refuses its removal.
    if (this.#environment.isRemoved) {
      this.#stopDeliveries()
      return
    }
    for (const { row, over } of this.#sending.values()) if (!this.#isCurrent(row)) over.abort()
    const { clock, model } = this.#environment
    const now = clock.instant()
    let next: Instant | undefined
    for (const [name, queues] of model.deliveryQueues.all()) {
      let free = MAX_SENDING - [...this.#sending.values()].filter(({ row }) => row.webhook === name).length
      for (const [account, queue] of queues) {
        if (free <= 0) break
        const key = `${name}/${account}`
        const row = queue.find(({ id }) => (this.#held.get(id)?.after ?? 0) === 0)
        if (!row || this.#sending.has(key)) continue
        if (row.due_at > now) next = next === undefined || row.due_at < next ? row.due_at : next
        else {
          free -= 1
          this.#beginDelivery(key, row)
        }
      }
    }
    this.#setTimer(next)
  }

  #beginDelivery(key: string, row: WebhookDelivery): void {
    const over = new AbortController()
    this.#sending.set(key, { row, over })
    void this.#deliver(row, over.signal).finally(() => {
      this.#sending.delete(key)
      this.wake()
    })
  }

  /** For the next attempt, and for what falls due: no request comes by which the end of a token would be noticed. */
  #setTimer(attempt: Instant | undefined): void {
    clearTimeout(this.#timer)
    const { clock, model } = this.#environment
    const next = [attempt, model.due.next].filter((at) => at !== undefined).sort()[0]
    if (clock.frozen || next === undefined) return
    const fire = (): void => {
      if (this.#environment.isRemoved) return
      applyDueEvents(this.#environment, new RequestTrace())
      this.wake()
    }
    this.#timer = setTimeout(fire, Math.min(Math.max(milliseconds(next) - clock.now(), 1), MAX_TIMER_MS)).unref()
  }

  #queueOf(row: WebhookDelivery): readonly WebhookDelivery[] {
    return this.#environment.model.deliveryQueues.of(row)
  }

  /** Whether a delivery is still to be made: not after a reset, a rollback, or the end of its webhook or environment. */
  #isCurrent(row: WebhookDelivery): boolean {
    const { isRemoved, model } = this.#environment
    return !this.#isClosed && !isRemoved && model.tables.webhook_deliveries.get(row.id) === row
  }

  async #deliver(row: WebhookDelivery, signal: AbortSignal): Promise<void> {
    // A commit that the disk refuses takes its row back.
    await this.#parts.registry.flushed()?.catch(() => undefined)
    if (!this.#isCurrent(row)) return
    const webhook = this.#webhook(row.webhook)
    if (!webhook || this.#done.has(row)) {
      this.#storeDelivery(row, undefined)
      return
    }
    const rules = this.#held.get(row.id)?.rules ?? this.#matchRules(row)
    if (!this.#held.delete(row.id) && this.#holdEvent(row, rules)) return
    await this.#waitForFaults(rules, signal)
    if (!this.#isCurrent(row)) return
    const isDone = await this.#sendEvent(webhook, row, rules, signal)
    if (isDone) this.#done.add(row)
    if (!this.#isCurrent(row)) return
    const delay = isDone ? undefined : RETRY_AFTER[row.attempts]
    if (delay === undefined) this.#storeDelivery(row, undefined)
    else {
      const due_at = instant(this.#environment.clock.now() + delay)
      this.#storeDelivery(row, { ...row, attempts: row.attempts + 1, due_at })
    }
    if (isDone) this.#releaseHeld(row)
  }

  #storeDelivery(row: WebhookDelivery, next: WebhookDelivery | undefined): void {
    const { model } = this.#environment
    const table = model.tables.webhook_deliveries
    model.transact(() => (next ? table.put(next) : table.remove(row.id)))
  }

  #matchRules(row: WebhookDelivery): Rules {
    const scenarios = this.#parts.scenarios.of(this.#environment)
    const { account_id: id, connector, identifier } = row
    const trace = new RequestTrace()
    const account = (trace.account = this.#environment.model.tables.accounts.get(id))
    const about = { connector, account, locator: { id, connector, identifier }, body: parsedJson(row.body) }
    const request = { at: 'webhook', ...about, query: {}, headers: {}, trace } as const
    const faults = (scenarios.active ? scenarios.match(request)?.faults : undefined) ?? []
    const plans = faults.map(({ fault, params }) => (fault.phase === 'webhook' ? fault.plan(params) : {}))
    return { trace, faults, plan: Object.assign({}, PLAIN, ...plans) as WebhookPlan }
  }

  /** Lets later events of the account go first. One event of an account waits at a time. */
  #holdEvent(row: WebhookDelivery, rules: Rules): boolean {
    const { after } = rules.plan
    if (after === 0 || this.#queueOf(row).some(({ id }) => this.#held.has(id))) return false
    const held = { rules, after }
    this.#held.set(row.id, held)
    void this.#parts.pauses.wait(REORDER_WAIT).then(() => {
      held.after = 0
      this.wake()
    })
    return true
  }

  /** An event was delivered for which another one may wait. */
  #releaseHeld(row: WebhookDelivery): void {
    for (const { id } of this.#queueOf(row)) {
      const held = this.#held.get(id)
      if (held && held.after > 0) held.after -= 1
    }
  }

  async #waitForFaults({ faults, trace }: Rules, signal: AbortSignal): Promise<void> {
    const { pauses, scenarios } = this.#parts
    const random = (): number => scenarios.of(this.#environment).random()
    await Promise.race([actBefore(faults, { pauses, trace, random }), once(signal, 'abort')])
  }

  /** Makes an attempt, or the two of an event that is sent twice. @returns whether the event is acknowledged */
  async #sendEvent(webhook: Webhook, row: WebhookDelivery, rules: Rules, signal: AbortSignal): Promise<boolean> {
    const journal = this.#parts.journals.of(this.#environment)
    const started = journal.appended
    const isDone = await this.#makeAttempt(webhook, row, rules, signal)
    if (!rules.plan.twice || rules.plan.lost || signal.aborted) return isDone
    const first = journal.since(started)
    const isRepeated = await this.#makeAttempt(webhook, row, rules, signal, isDone ? first : [])
    return isDone || isRepeated
  }

  /** @param before what came with the first of two attempts */
  async #makeAttempt(
    webhook: Webhook,
    row: WebhookDelivery,
    rules: Rules,
    signal: AbortSignal,
    before: readonly StoredEntry[] = [],
  ): Promise<boolean> {
    const { entries, journals, timeout } = this.#parts
    const { plan, trace } = rules
    const entry = { ...entries.begin('webhook', 'control'), trace, environment: this.#environment }
    const started = journals.of(this.#environment).appended
    const sending = { now: entry.startedAt / 1000, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) }
    const attempt = plan.lost ? LOST : await sendEvent(webhook, row, plan, sending)
    const { status, headers, receivedHeaders: responseHeaders, receivedBody: response, failure } = attempt
    if (signal.aborted && status === 0) return false
    const isDone = status >= 200 && status < 300
    const since = journals.of(this.#environment).since(started)
    const eventMistakes = eventMistakesOf({ plan, accountId: row.account_id, status, before, since })
    await entries.end(entry, () => ({
      facts: {
        method: 'POST',
        url: webhook.url,
        requestHeaders: Object.entries(headers).flat(),
        requestBody: row.body,
        status,
        responseHeaders,
        responseBody: response,
        eventMistakes,
        failure,
        webhook: row,
      },
    }))
    return isDone
  }
}
