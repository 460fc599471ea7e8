import type { components } from '../contract/generated/control-types.ts'
import { PROXY_REQUEST } from '../contract/shapes.ts'
import { errorTraits, isErrorCode, violationText } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import { objectAt, textAt } from '../domain/json.ts'
import type { Environment } from '../state/environment.ts'
import { RETRY_AFTER, type WebhookDelivery } from '../domain/webhook.ts'
import type { RecordedEntry } from './entry.ts'
import { accountFacts, answered, answerOf, type Cause, type Evidence, upstreamFacts } from './evidence.ts'
import { EXPLANATIONS, linkProblem, thirdPartyFailure } from './explanations.ts'
import type { Journal } from './journal.ts'
import { isNearMiss, warningsOf } from './view.ts'
import { maskText, maskUrl } from '../domain/masking.ts'

/** Why an answer is what it is; secrets are masked. `text` is all of it. */
export type Explanation = components['schemas']['Explanation']
type DecidedBy = Explanation['decided_by']

/** Explains the latest entry with this id; undefined when the journal has none. `environment` as it is now. */
export function explain(journal: Journal, id: string, environment: Environment | undefined): Explanation | undefined {
  const entries = journal.recorded()
  const index = entries.findLastIndex((each) => each.id === id)
  const entry = entries[index]
  if (!entry) return undefined
  const evidence = { entry, earlier: entries.slice(0, index), environment, message: messageOf(entry) }
  const cause = causeOf(evidence)
  const advice = [cause.advice].flat()
  const summary = summaryOf(entry)
  const because = maskText(cause.because)
  // Of a refused request the cause says which name was nearly right.
  const warnings = warningsOf(entry)
    .filter((warning) => entry.status < 400 || !isNearMiss(warning))
    .map(({ field, description }) => `${field} ${description}`)
  const general = [...warnings, ...responderFacts(entry), ...ruleFacts(entry), ...dueFacts(entry)]
  // Two equal facts of a cause are two calls that took equally long.
  const particular = (cause.facts ?? wrongIn(evidence)).filter((fact) => !general.includes(fact))
  const facts = [...general, ...particular, `The clock said ${instant(entry.at)}.`].map(maskText)
  const code = entry.errorCode ?? ''
  const next = isErrorCode(code) ? [...advice, `docs/errors.md#${code.toLowerCase()}`] : advice
  return {
    id: entry.id,
    at: instant(entry.at),
    summary,
    decided_by: decidedBy(entry),
    error_code: entry.errorCode,
    because,
    basis: cause.basis === '' ? null : cause.basis,
    facts,
    advice,
    text: [summary, because, ...facts.map((fact) => `- ${fact}`), ...next.map((line) => `→ ${line}`)].join('\n'),
  }
}

/** The violations, or the message of the answer. */
function wrongIn({ entry: { violations }, message }: Evidence): string[] {
  if (violations.length > 0) return violations.map(violationText)
  return message === '' ? [] : [message]
}

function causeOf(evidence: Evidence): Cause {
  const { entry } = evidence
  if (entry.webhook) return eventCause(entry, entry.webhook)
  if (entry.trace.injected) return injected(evidence)
  if (entry.status < 400) return succeeded(evidence)
  if (isPassedOn(entry)) return PASSED_ON(evidence)
  const known = EXPLANATIONS.get(entry.errorCode ?? '')
  if (known) return typeof known === 'function' ? known(evidence) : known
  if (entry.kind === 'page') return linkProblem('The flow of the link could not go on.')(evidence)
  return {
    because: answered(evidence, `It was answered with ${entry.status}.`),
    basis: '',
    facts: [...upstreamFacts(evidence), ...accountFacts(evidence)],
    advice: 'Look at the entry: GET /_mock/requests/{id}.',
  }
}

/** What became of an attempt to send an event (G68). */
function eventCause({ status, failure }: RecordedEntry, { attempts, cause, type }: WebhookDelivery): Cause {
  const isDone = status >= 200 && status < 300
  const last = attempts >= RETRY_AFTER.length ? 'it was the last attempt' : 'the next attempt is made by the clock'
  const answer = failure ?? `the application answered ${status}, which is not 2xx`
  return {
    because: isDone ? 'The application acknowledged the event.' : `The event was not acknowledged, ${last}: ${answer}.`,
    basis: 'G68',
    facts: [`Attempt ${attempts + 1} of ${type}, caused by ${cause === null ? 'the clock' : `request ${cause}`}.`],
    advice: isDone ? [] : 'To move the clock: npx toolmock clock advance; to try now: npx toolmock webhooks resend.',
  }
}

/** An error of a third party that the proxy answers as it is. */
function isPassedOn({ operation, errorCode, status }: RecordedEntry): boolean {
  return operation === PROXY_REQUEST && errorCode === null && status >= 400
}

const PASSED_ON = thirdPartyFailure(
  'The third party answered this, and the proxy passes it on.',
  'Compare the path, which begins after /proxy, the query and the body with what the third party takes.',
)

/** A rule of a scenario answered in place of the operation. */
function injected(evidence: Evidence): Cause {
  const rules = evidence.entry.trace.rules.filter((rule) => rule.injected && rule.at === 'service')
  return {
    because: rules
      .map(({ rule, scenario, sentence }) => `Rule "${rule}" of scenario ${scenario} answered: ${sentence}.`)
      .join(' '),
    basis: '',
    facts: accountFacts(evidence),
    advice: 'To do without the scenario: POST /_mock/scenarios/{name}/stop, or DELETE /_mock/scenarios.',
  }
}

function succeeded(evidence: Evidence): Cause {
  const { status, failure, trace } = evidence.entry
  const { refreshes, transitions } = trace
  const moves = transitions.map(({ account_id, event, from, to }) =>
    from === to
      ? `${event} left account ${account_id} ${to}.`
      : `${event} moved account ${account_id} from ${from} to ${to}.`,
  )
  const refreshed = refreshes.some(({ outcome }) => outcome === 'renewed')
  const because = refreshed ? 'It succeeded after a refresh of the account’s token.' : 'No check refused it.'
  return {
    because: status === 0 && failure !== null ? `No answer was sent: ${failure}.` : because,
    basis: refreshed ? 'G45, G46, G56' : '',
    facts: [...upstreamFacts(evidence), ...moves, ...accountFacts(evidence)],
    advice: [],
  }
}

const PLACES = {
  service: 'at the service',
  third_party: 'at the third party',
  token_refresh: 'at the token endpoint',
  consent: 'at consent',
  webhook: 'at a webhook',
}

function responderFacts({ trace: { responder } }: RecordedEntry): string[] {
  return responder === undefined ? [] : [`Responder ${responder} answered.`]
}

function ruleFacts({ trace }: RecordedEntry): string[] {
  return trace.rules.map(
    ({ rule, scenario, sentence, at }) => `Rule "${rule}" of scenario ${scenario} fired ${PLACES[at]}: ${sentence}.`,
  )
}

function dueFacts({ trace }: RecordedEntry): string[] {
  return trace.due.map(
    ({ account_id, event, from, to, at }) =>
      `Before it, ${event} was due at ${at}: account ${account_id} went from ${from} to ${to}.`,
  )
}

function summaryOf({ kind, method, url, operation, status, errorCode, client }: RecordedEntry): string {
  if (kind === 'clock' || kind === 'control') return `${url}.`
  const what = method === '' ? 'An unreadable request' : `${method} ${maskUrl(url)}`
  const request = `${what}${operation === null ? '' : ` (${operation})`}`
  const by = client === null ? '' : ` by client ${client}`
  if (status === 0) return `${request}${by} got no answer.`
  return `${request}${by} was answered with ${status}${errorCode === null ? '' : ` ${errorCode}`}.`
}

function messageOf(entry: RecordedEntry): string {
  if (entry.status < 400) return ''
  const answer = answerOf(entry)
  return (
    textAt(answer, 'message') || textAt(answer, 'error_description') || textAt(objectAt(answer, 'error'), 'message')
  )
}

/** What decides problems of links that are not the service's own decision. */
const LINKS_DECIDED_ELSEWHERE: Readonly<Record<string, DecidedBy>> = {
  LINK_REFUSED: 'third_party',
  LINK_UNAVAILABLE: 'third_party',
  LINK_NOT_STORED: 'mock',
}

function decidedBy(entry: RecordedEntry): DecidedBy {
  if (entry.trace.injected) return 'scenario'
  if (isPassedOn(entry)) return 'third_party'
  return errorTraits(entry.errorCode).by ?? LINKS_DECIDED_ELSEWHERE[entry.errorCode ?? ''] ?? 'service'
}
