import { shorten } from '../domain/text.ts'
import type { Request } from './api.ts'
import { tookOf } from './format.ts'

/** Who takes part in a request. */
export type Lane = 'caller' | 'service' | 'third party'

/** One thing that took place: a message from one to another, or something within one of them. */
export interface Step {
  readonly from: Lane
  /** Equal to `from` for what takes place within one. */
  readonly to: Lane
  readonly text: string
  /** More of it, in smaller letters. */
  readonly detail?: string
  readonly tone?: 'success' | 'info' | 'warning' | 'error'
}

type Rule = Request['rules'][number]
type Upstream = Request['upstream'][number]
type Transition = Request['transitions'][number]

/**
 * What a request caused, in order. The journal has lists of calls, renewals, moves and rules, each in its own order; where they
 * belong among each other follows from what they are: a renewal belongs to the call of the token endpoint, a rule to its place.
 */
export function storyOf(request: Request): Step[] {
  const { rules, due, upstream, refreshes, transitions } = request
  const pending = [...transitions]
  const shared = refreshes.filter((refresh) => refresh.shared)
  const own = refreshes.filter((refresh) => !refresh.shared)
  const steps: Step[] = [...due.map((move) => moveStep(move, 'by the clock')), askStep(request)]
  steps.push(...rulesAt(rules, 'service'), ...rulesAt(rules, 'consent'))
  const told = new Set<Rule['at']>()
  const tellOnce = (at: Rule['at']): void => {
    if (!told.has(at)) steps.push(...rulesAt(rules, at))
    told.add(at)
  }
  for (const [index, call] of upstream.entries()) {
    const isToken = call.kind === 'token'
    const isRetry = !isToken && upstream.slice(0, index).some((before) => before.kind === 'api')
    steps.push(callStep(call, isRetry))
    tellOnce(isToken ? 'token_refresh' : 'third_party')
    steps.push(answerStep(call))
    const renewal = isToken && call.grant !== 'authorization_code' ? own.shift() : undefined
    if (!renewal) continue
    steps.push(renewalStep(renewal))
    if (renewal.outcome === 'refused') steps.push(...take(pending, (move) => move.event === 'refresh_refused'))
  }
  steps.push(...shared.map(renewalStep), ...own.map(renewalStep))
  tellOnce('token_refresh')
  tellOnce('third_party')
  steps.push(...pending.map((move) => moveStep(move)))
  if (['request', 'page', 'third_party'].includes(request.kind)) steps.push(replyStep(request))
  return steps
}

function askStep({ kind, method, path, operation, tool }: Request): Step {
  if (kind === 'clock' || kind === 'control')
    return { from: 'caller', to: 'service', text: shorten(path, 200), detail: 'control API' }
  const detail = [operation, tool].filter((part) => part !== null).join(' · ')
  return { from: 'caller', to: 'service', text: `${method} ${path}`, ...(detail === '' ? {} : { detail }) }
}

function replyStep({ status, error_code, duration_ms, injected }: Request): Step {
  const took = `after ${tookOf(duration_ms)}`
  if (status === 0)
    return { from: 'service', to: 'caller', text: 'no answer: the connection ended', detail: took, tone: 'error' }
  const detail = [error_code, injected ? 'injected by a scenario' : null, took]
    .filter((part) => part !== null)
    .join(' · ')
  return { from: 'service', to: 'caller', text: String(status), detail, tone: toneOf(status) }
}

function callStep({ kind, grant, method, url, connector, environment }: Upstream, isRetry: boolean): Step {
  const what = kind === 'token' ? `token endpoint, ${(grant ?? 'no grant').replaceAll('_', ' ')}` : connector
  const { pathname } = URL.canParse(url) ? new URL(url) : { pathname: url }
  // The third parties of the mock share one listener; where in it an application is says nothing new.
  const place = `/${environment}/${connector}/`
  const path = pathname.startsWith(place) ? pathname.slice(place.length - 1) : pathname
  return { from: 'service', to: 'third party', text: `${method} ${path}`, detail: isRetry ? `${what} · again` : what }
}

function answerStep({ status, ms, answer }: Upstream): Step {
  const from = 'third party'
  if (status === null)
    return {
      from,
      to: 'service',
      text: 'no answer',
      detail: `${shorten(answer, 120)} · after ${tookOf(ms)}`,
      tone: 'error',
    }
  const said = status >= 400 ? `${shorten(answer, 120)} · ` : ''
  return { from, to: 'service', text: String(status), detail: `${said}after ${tookOf(ms)}`, tone: toneOf(status) }
}

function renewalStep({ outcome, reason, shared }: Request['refreshes'][number]): Step {
  const tone = outcome === 'renewed' ? 'success' : 'error'
  const by = shared ? ' by another request, which this one waited for' : ''
  return {
    from: 'service',
    to: 'service',
    text: `credentials ${outcome}${by}`,
    tone,
    ...(reason === '' || reason === outcome ? {} : { detail: shorten(reason, 160) }),
  }
}

function rulesAt(rules: readonly Rule[], at: Rule['at']): Step[] {
  const lane: Lane = at === 'service' ? 'service' : 'third party'
  return rules
    .filter((rule) => rule.at === at)
    .map(({ scenario, rule, sentence }) => ({
      from: lane,
      to: lane,
      text: sentence,
      detail: `scenario ${scenario}, rule ${rule}`,
      tone: 'info',
    }))
}

function moveStep({ account_id, event, from, to, forced }: Transition, why = forced ? 'forced' : ''): Step {
  const moved = from === to ? `stays ${to}` : `${from} → ${to}`
  const detail = [account_id, event.replaceAll('_', ' '), why].filter(Boolean).join(' · ')
  const tone = to === 'ACTIVE' ? 'success' : to === 'EXPIRED' || to === 'DISCONNECTED' ? 'warning' : 'info'
  return { from: 'service', to: 'service', text: moved, detail, tone }
}

/** Takes the moves that `isWanted` out of the list. */
function take(moves: Transition[], isWanted: (move: Transition) => boolean): Step[] {
  const taken = moves.filter(isWanted)
  for (const move of taken) moves.splice(moves.indexOf(move), 1)
  return taken.map((move) => moveStep(move))
}

function toneOf(status: number): NonNullable<Step['tone']> {
  if (status >= 500) return 'error'
  if (status >= 400) return 'warning'
  return 'success'
}
