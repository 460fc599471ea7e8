import type { components } from '../../model/contract/generated/control-types.ts'
import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import { findingText, isViolation } from '../../model/domain/finding.ts'
import { instant } from '../../model/domain/instant.ts'
import { objectAt, textAt } from '../../model/domain/json.ts'
import { maskText, maskUrl } from '../../model/domain/masking.ts'
import { capitalise } from '../../model/domain/text.ts'
import { RETRY_AFTER, type WebhookDelivery } from '../../model/domain/webhook.ts'
import type { Environment } from '../../state/environment.ts'
import type { StoredEntry } from './entry.ts'
import { accountFacts, responseOf, type Evidence, upstreamFacts } from './evidence.ts'
import { type CausePart, DETAILS, type Details, generalActions, say } from './explanations.ts'
import type { Journal } from './journal.ts'
import { DESCRIPTOR_RULE, REMEDIES, type Remedy, UNREADABLE } from './remedies.ts'
import { requestSteps } from './steps.ts'
import { entryView } from './view.ts'

/** Why an answer is what it is; secrets are masked. `text` is all of it. */
export type ExplanationDocument = components['schemas']['Explanation']

/** Explains the latest entry with this id; undefined when the journal has none. `environment` as it is now. */
export function explainEntry(
  journal: Journal,
  id: string,
  environment: Environment | undefined,
): ExplanationDocument | undefined {
  const entries = journal.entries()
  const index = entries.findLastIndex((each) => each.id === id)
  const entry = entries[index]
  if (!entry) return undefined
  const evidence = { entry, earlier: entries.slice(0, index), environment, message: failureMessage(entry) }
  const { cause, remedy, details } = evidenceReason(evidence)
  const because = remedy && `${remedy.because.replace(/\.$/, '')} (${remedy.basis}).`
  const general = [...responderFacts(entry), ...ruleFacts(entry), ...dueFacts(entry)]
  const facts = [...general, ...(details.facts?.(evidence) ?? [])].map(maskText)
  const clock = `The clock said ${instant(entry.at)}.`
  const actions = [...generalActions(evidence), ...(details.actions?.(evidence) ?? [])]
  const [first, ...others] = cause.map((part) => ({ ...part, text: maskText(part.text) }))
  // The name of a field stays as it was sent.
  const start = first && (isBroken(entry) ? first : { ...first, text: capitalise(first.text) })
  const parts = start ? [start, ...others] : []
  const causeText = parts.map(({ text }) => text).join('')
  // The cause is the first violation.
  const findings = entry.findings
    .map((finding) => `${finding.kind}: ${findingText(finding)}`)
    .slice(isBroken(entry) ? 1 : 0)
  const lines = [requestSummary(entry), causeText, ...(because === undefined ? [] : [because]), ...findings]
  const advice = actions.length > 0 ? actions.map(({ text }) => text) : (remedy?.advice ?? [])
  return {
    id: entry.id,
    at: instant(entry.at),
    cause: parts,
    because: because ?? null,
    facts,
    findings: [...entry.findings],
    actions,
    steps: requestSteps(entryView(entry)),
    text: [...lines, ...[...facts, clock].map((fact) => `- ${fact}`), ...advice.map((line) => `→ ${line}`)].join('\n'),
  }
}

/** Whether a violation is the cause of the answer, or all that there is to say of it. */
function isBroken({ findings: [first], trace }: StoredEntry): boolean {
  return first !== undefined && isViolation(first) && !trace.injected
}

interface Reason {
  readonly cause: readonly CausePart[]
  readonly remedy?: Remedy | undefined
  readonly details: Details
}

function evidenceReason(evidence: Evidence): Reason {
  const { entry, message } = evidence
  const { errorCode, findings, operation, failure, trace } = entry
  if (entry.webhook) return eventReason(evidence, entry.webhook)
  if (trace.injected) return { cause: injectedCause(entry), details: { facts: accountFacts } }
  const isUnreadable = errorCode === 'MALFORMED_BODY' && operation === null && failure !== null
  const [first] = findings
  const isOfDescriptors = errorCode !== null && first?.basis === 'descriptors'
  const remedy = isUnreadable ? UNREADABLE : isOfDescriptors ? DESCRIPTOR_RULE : REMEDIES.get(errorCode ?? '')
  const details = DETAILS.get(evidenceKey(entry)) ?? {}
  if (first && isBroken(entry)) return { cause: say`${findingText(first).replace(/[^?]$/, '$&.')}`, remedy, details }
  if (entry.status < 400) return { cause: successCause(entry), details: { facts: successFacts } }
  const otherwise = message === '' ? (remedy?.because.replace(/\.$/, '') ?? 'The service refused the request') : message
  return {
    cause: details.cause?.(evidence) ?? say`${otherwise}.`,
    remedy,
    details: { facts: accountFacts, ...details },
  }
}

function evidenceKey(entry: StoredEntry): string {
  if (isPassedOn(entry)) return 'upstream'
  return entry.errorCode ?? (entry.kind === 'page' ? 'page' : '')
}

/** An error of a third party that the proxy answers as it is. */
function isPassedOn({ operation, errorCode, status }: StoredEntry): boolean {
  return operation === PROXY_REQUEST && errorCode === null && status >= 400
}

/** `Scenario rate-limited answered 429, call 1 of 2 (rule "too many").` */
function injectedCause({ trace, status }: StoredEntry): CausePart[] {
  const rules = trace.rules.filter((rule) => rule.injected && rule.at === 'service')
  return rules.flatMap(({ scenario, rule, matched, of }, at) => {
    const response = status === 0 ? 'ended the connection' : `answered ${status}`
    const call = `call ${matched}${of === null ? '' : ` of ${of}`}`
    const name = { ref: 'scenario', id: scenario, text: scenario } as const
    const ofRule = { ref: 'rule', id: `${scenario}/${rule}`, text: rule } as const
    return say`${at === 0 ? '' : ' '}Scenario ${name} ${response}, ${call} (rule ${ofRule}).`
  })
}

/** What became of an attempt to send an event (G68). */
function eventReason(
  { entry: { status, failure }, environment }: Evidence,
  { id, attempts, cause, type }: WebhookDelivery,
): Reason {
  const isDone = status >= 200 && status < 300
  const last = attempts >= RETRY_AFTER.length ? 'it was the last attempt' : 'the next attempt is made by the clock'
  const response = failure ?? `the application answered ${status}, which is not 2xx`
  return {
    cause: isDone
      ? say`The application acknowledged the event.`
      : say`The event was not acknowledged, ${last}: ${response}.`,
    details: {
      facts: () => [
        `Attempt ${attempts + 1} of ${type}, caused by ${cause === null ? 'the clock' : `request ${cause}`}.`,
      ],
      actions: () => {
        const due = environment?.model.tables.webhook_deliveries.get(id)?.due_at
        if (!environment || due === undefined || due <= instant(environment.clock.now())) return []
        return [{ action: 'set_clock', target: due, value: null, text: `Move the clock to the next attempt, ${due}.` }]
      },
    },
  }
}

function successCause({ status, failure, trace, kind, url }: StoredEntry): CausePart[] {
  if (status === 0 && failure !== null) return say`No answer was sent: ${failure}.`
  if (kind === 'clock' || kind === 'control') return say`${url}.`
  if (trace.refreshes.some(({ outcome }) => outcome === 'renewed'))
    return say`It succeeded after a refresh of the account’s token.`
  return say`No check refused it.`
}

function successFacts(evidence: Evidence): string[] {
  const moves = evidence.entry.trace.transitions.map(({ account_id, event, from, to }) =>
    from === to
      ? `${event} left account ${account_id} ${to}.`
      : `${event} moved account ${account_id} from ${from} to ${to}.`,
  )
  return [...upstreamFacts(evidence), ...moves, ...accountFacts(evidence)]
}

const PLACES = {
  service: 'at the service',
  third_party: 'at the third party',
  token_refresh: 'at the token endpoint',
  consent: 'at consent',
  webhook: 'at a webhook',
}

function responderFacts({ trace: { responder } }: StoredEntry): string[] {
  return responder === undefined ? [] : [`Responder ${responder} answered.`]
}

function ruleFacts({ trace }: StoredEntry): string[] {
  return trace.rules.map(
    ({ rule, scenario, sentence, at }) => `Rule "${rule}" of scenario ${scenario} fired ${PLACES[at]}: ${sentence}.`,
  )
}

function dueFacts({ trace }: StoredEntry): string[] {
  return trace.due.map(
    ({ account_id, event, from, to, at }) =>
      `Before it, ${event} was due at ${at}: account ${account_id} went from ${from} to ${to}.`,
  )
}

function requestSummary({ kind, method, url, operation, status, errorCode, client }: StoredEntry): string {
  if (kind === 'clock' || kind === 'control') return `${url}.`
  const what = method === '' ? 'An unreadable request' : `${method} ${maskUrl(url)}`
  const request = `${what}${operation === null ? '' : ` (${operation})`}`
  const by = client === null ? '' : ` by client ${client}`
  if (status === 0) return `${request}${by} got no answer.`
  return `${request}${by} was answered with ${status}${errorCode === null ? '' : ` ${errorCode}`}.`
}

function failureMessage(entry: StoredEntry): string {
  if (entry.status < 400) return ''
  const response = responseOf(entry)
  return (
    textAt(response, 'message') ||
    textAt(response, 'error_description') ||
    textAt(objectAt(response, 'error'), 'message')
  )
}
