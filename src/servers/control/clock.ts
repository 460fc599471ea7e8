import type { components } from '../../model/contract/generated/control-types.ts'
import { CLOCK_YEARS, type Instant, instant, isClockTime, milliseconds } from '../../model/domain/instant.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import { accountDue } from '../../state/model/deadlines.ts'
import { type Environment, now } from '../../state/environment.ts'
import { changeReply, type ControlHandlers } from './call.ts'
import { invalidInput } from './errors.ts'

export const clockHandlers = {
  get_clock: ({ environment }) => ({ body: clockView(environment) }),

  /** What the clock brings about when it gets there, earliest first. */
  list_due: ({ environment, query }) => {
    const time = now(environment)
    return { body: { due: dueBetween(environment, { after: time, most: query.limit }).earliest } }
  },

  /** Moves the clock and applies everything that falls due by then, in one commit. What was applied stays when time goes back. */
  put_clock: (call) => {
    const { environment, body: change, trace } = call
    const { clock } = environment
    const before = now(environment)
    const from = clock.now()
    const to = change.now === undefined ? from + (change.advance ?? 0) : milliseconds(change.now)
    // By advance, or because a running clock has passed the end of its range.
    if (!isClockTime(to)) {
      const mistake = `a step to ${instant(to)}`
      throw invalidInput('INVALID_BODY', [{ path: ['advance'], found: mistake, allowed: CLOCK_YEARS }])
    }
    const passed = dueBetween(environment, { after: before, until: instant(to), most: MAX_PASSED })
    environment.model.transact(() => {
      if (change.frozen === true) clock.freeze(to)
      else if (change.frozen === false) clock.run()
      if (to !== from) clock.set(to)
      applyDueEvents(environment, trace)
    })
    const moved = { before, passed: passed.earliest, passed_counts: passed.counts }
    const body = { ...clockView(environment), ...moved }
    const state = body.frozen ? 'frozen' : 'running'
    const sentence =
      to === from
        ? `the clock is ${state} at ${body.now}`
        : `the clock went from ${before} to ${body.now} and is ${state}`
    return changeReply(sentence, { body, kind: 'clock' })
  },
} satisfies Partial<ControlHandlers>

type Due = components['schemas']['DueItem']

/** As many of the events that a move of the clock has passed are listed; the others are counted. */
const MAX_PASSED = 50

/** What falls due in a range of time: the earliest events, and the number of each kind. */
function dueBetween(
  environment: Environment,
  { after, until = '9', most }: { readonly after: string; readonly until?: string; readonly most: number },
): { readonly earliest: Due[]; readonly counts: Partial<Record<Due['kind'], number>> } {
  const due = [...accountsDue(environment), ...linksDue(environment), ...tokensDue(environment)].filter(
    ({ at }) => at > after && at <= until,
  )
  const counts: Partial<Record<Due['kind'], number>> = {}
  for (const { kind } of due) counts[kind] = (counts[kind] ?? 0) + 1
  return { earliest: due.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(0, most), counts }
}

function* accountsDue({ model }: Environment): Generator<Due> {
  for (const account of model.tables.accounts.values()) {
    const { id, identifier, connector, status, token_expires_at: at, token_expired } = account
    if (at === undefined || token_expired || status !== 'ACTIVE') continue
    const subject = `${identifier} at ${connector}`
    if (accountDue(account) !== undefined) yield { at, kind: 'account', id, subject, effect: 'becomes EXPIRED' }
    else yield { at, kind: 'access_token', id, subject, effect: 'its access token is renewed at the next use' }
  }
}

function* linksDue({ model }: Environment): Generator<Due> {
  const subjectOf = (id: string): string => {
    const account = model.tables.accounts.get(id)
    return account ? `${account.identifier} at ${account.connector}` : id
  }
  for (const { id, account_id, expires_at: at, expired } of model.openLinks())
    if (!expired) yield { at, kind: 'magic_link', id, subject: subjectOf(account_id), effect: 'its link stops working' }
  for (const { account_id: id, expires_at: at, outcome } of model.tables.auth_requests.values())
    if (outcome === 'pending')
      yield { at, kind: 'auth_request', id, subject: subjectOf(id), effect: 'its auth request expires unverified' }
}

/** One for each client: those of a test run expire one after the other. */
function tokensDue({ model }: Environment): Due[] {
  const latest = new Map<string, Instant>()
  for (const { client_id: id, expires_at: at, expired, revoked_at } of model.tables.bearer_tokens.values())
    if (revoked_at === undefined && !expired && at > (latest.get(id) ?? '')) latest.set(id, at)
  return [...latest].map(([id, at]) => ({
    at,
    kind: 'bearer_token',
    id,
    subject: id,
    effect: 'its last bearer token expires',
  }))
}

export function clockView(environment: Environment) {
  return { now: now(environment), frozen: environment.clock.frozen }
}
