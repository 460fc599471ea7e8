import type { components } from '../../model/contract/generated/control-types.ts'
import { shorten } from '../../model/domain/text.ts'
import type { EntryDocument } from './entry.ts'

type Step = components['schemas']['RequestStep']
type Rule = EntryDocument['rules'][number]
type Upstream = EntryDocument['upstream'][number]
type Transition = EntryDocument['transitions'][number]

/**
 * What a request caused, in order. The journal has lists of calls, renewals, moves and rules, each in its own order. A rule names
 * the call on which it fired. A renewal belongs to a call of the token endpoint, and a move to the rule that forced it.
 */
export function requestSteps(request: EntryDocument): Step[] {
  const { rules, upstream, refreshes } = request
  const moves: Moves = { due: [...request.due], transitions: [...request.transitions] }
  const shared = refreshes.filter((refresh) => refresh.shared)
  const firstRefreshes = refreshes.filter((refresh) => !refresh.shared)
  const isCaused = (move: Transition): boolean =>
    request.kind === 'clock' || rules.some((rule) => isCauseOf(rule, move, request))
  const steps: Step[] = [
    ...takeMoves(moves.due, (move) => !isCaused(move)).map((move) => moveStep(move, 'by the clock')),
    requestStep(request),
  ]
  const addRules = (isWanted: (rule: Rule) => boolean): void => {
    for (const rule of rules.filter(isWanted)) steps.push(ruleStep(rule), ...movesBy(rule, moves, request))
  }
  addRules(({ call }) => call === null)
  for (const [index, call] of upstream.entries()) {
    const isToken = call.kind === 'token'
    const isRetry = !isToken && upstream.slice(0, index).some((before) => before.kind === 'api')
    steps.push(callStep(call, isRetry))
    addRules((rule) => rule.call === index)
    steps.push(answerStep(call))
    const renewal = isToken && call.grant !== 'authorization_code' ? firstRefreshes.shift() : undefined
    if (!renewal) continue
    steps.push(renewalStep(renewal))
    if (renewal.outcome === 'refused')
      steps.push(
        ...takeMoves(moves.transitions, (move) => move.event === 'refresh_refused').map((move) => moveStep(move)),
      )
  }
  steps.push(...shared.map(renewalStep), ...firstRefreshes.map(renewalStep))
  // A call that was aborted is not in the list.
  addRules(({ call }) => call !== null && call >= upstream.length)
  steps.push(...moves.due.map((move) => moveStep(move, 'by the clock')))
  steps.push(...moves.transitions.map((move) => moveStep(move)))
  if (request.kind !== 'clock' && request.kind !== 'control') steps.push(replyStep(request))
  return steps
}

/** The moves that are not among the steps yet. */
interface Moves {
  readonly due: Transition[]
  readonly transitions: Transition[]
}

/** Removes the moves that a rule caused from the lists and returns their steps. */
function movesBy(rule: Rule, { due, transitions }: Moves, request: EntryDocument): Step[] {
  return [
    ...takeMoves(transitions, (move) => isCauseOf(rule, move, request)).map((move) => moveStep(move)),
    ...takeMoves(due, (move) => isCauseOf(rule, move, request)).map((move) => moveStep(move, 'by the clock')),
  ]
}

/** The faults that move an account, and the events of those moves. */
const EVENTS_OF_FAULTS: Readonly<Record<string, string>> = {
  expire_account: 'expired_manually',
  disconnect: 'disconnected',
}

/** Whether a rule caused the move of an account: it forced the move, or made it due. */
function isCauseOf(
  { do: faults }: Rule,
  { account_id, event, forced, at }: Transition,
  request: EntryDocument,
): boolean {
  if (forced === true)
    return faults.some((fault) => Object.keys(fault).some((kind) => EVENTS_OF_FAULTS[kind] === event))
  return faults.some(({ expire_access_token, advance_clock }) => {
    if (expire_access_token !== undefined) return event === 'token_expired' && account_id === request.account
    // The entry has the time after the clock was moved.
    const before = Date.parse(request.at) - request.duration_ms - parseInt(String(advance_clock), 10)
    return advance_clock !== undefined && Date.parse(at) > before
  })
}

function requestStep({ kind, method, path, operation, tool, webhook }: EntryDocument): Step {
  if (webhook) return step('service', 'caller', `${method} ${path}`, [`${webhook.type}, attempt ${webhook.attempt}`])
  if (kind === 'clock' || kind === 'control') return step('caller', 'service', shorten(path, 200), ['control API'])
  return step('caller', 'service', `${method} ${path}`, [operation, tool])
}

function replyStep({ status, error_code, duration_ms, injected, webhook }: EntryDocument): Step {
  // An application that gets events is the one that calls the service.
  const [from, to] = webhook ? (['caller', 'service'] as const) : (['service', 'caller'] as const)
  if (status === 0) return step(from, to, 'no answer: the connection ended', [], 'error', duration_ms)
  return step(
    from,
    to,
    String(status),
    [error_code, injected && 'injected by a scenario'],
    statusTone(status),
    duration_ms,
  )
}

function callStep({ kind, grant, method, url, connector, environment }: Upstream, isRetry: boolean): Step {
  const what = kind === 'token' ? `token endpoint, ${plainWords(grant ?? 'no grant')}` : connector
  const pathname = url.replaceAll(/^\w+:\/\/[^/]*|\?.*/g, '')
  // All third parties of the mock share one listener, so the prefix of the application is left out.
  const place = `/${environment}/${connector}/`
  const path = pathname.startsWith(place) ? pathname.slice(place.length - 1) : pathname
  return step('service', 'third party', `${method} ${path}`, [what, isRetry && 'again'])
}

function answerStep({ status, ms, answer }: Upstream): Step {
  const isSuccess = status !== null && status < 400
  const details = [!isSuccess && shorten(answer, 120)]
  return step(
    'third party',
    'service',
    status === null ? 'no answer' : String(status),
    details,
    statusTone(status ?? 0),
    ms,
  )
}

function renewalStep({ outcome, reason, shared }: EntryDocument['refreshes'][number]): Step {
  const by = shared ? ' by another request, which this one waited for' : ''
  const details = [reason !== outcome && shorten(reason, 160)]
  return step('service', 'service', `credentials ${outcome}${by}`, details, outcome === 'renewed' ? 'success' : 'error')
}

function ruleStep({ at, scenario, rule, sentence }: Rule): Step {
  const lane = at === 'third_party' || at === 'token_refresh' ? 'third party' : 'service'
  return step(lane, lane, sentence, [`scenario ${scenario}, rule ${rule}`], 'info')
}

function moveStep({ account_id, event, from, to, forced }: Transition, why = forced ? 'forced' : ''): Step {
  const moved = from === to ? `stays ${to}` : `${from} → ${to}`
  const tone = to === 'ACTIVE' ? 'success' : to === 'EXPIRED' || to === 'DISCONNECTED' ? 'warning' : 'info'
  return step('service', 'service', moved, [account_id, plainWords(event), why], tone)
}

function step(
  from: Step['from'],
  to: Step['to'],
  text: string,
  details: readonly (string | false | null)[],
  tone: Step['tone'] = '',
  ms: number | null = null,
): Step {
  return { from, to, text, detail: details.filter(Boolean).join(' · '), tone, ms }
}

function statusTone(status: number): Step['tone'] {
  if (status === 0 || status >= 500) return 'error'
  return status >= 400 ? 'warning' : status >= 300 ? 'info' : 'success'
}

function plainWords(name: string): string {
  return name.replaceAll('_', ' ').toLowerCase()
}

/** Removes the moves that are wanted from the list and returns them. */
function takeMoves(moves: Transition[], isWanted: (move: Transition) => boolean): Transition[] {
  const taken = moves.filter(isWanted)
  for (const move of taken) moves.splice(moves.indexOf(move), 1)
  return taken
}
