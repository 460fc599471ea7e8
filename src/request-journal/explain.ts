import { type Instant, instant } from '../domain/instant.ts'
import { isJsonObject, own } from '../domain/json.ts'
import type { Environment } from '../state/environment.ts'
import type { RecordedEntry } from './entry.ts'
import { accountFacts, answerOf, type Case, type Finding, upstreamFacts } from './explanations/case.ts'
import { EXPLAINERS, OTHER_PAGE } from './explanations/table.ts'
import type { Journal } from './journal.ts'
import { maskText, maskUrl } from './masking.ts'

/** Who decided what an answer says. */
export type DecidedBy = 'scenario' | 'contract' | 'service' | 'third_party' | 'mock'

/** Why an answer is what it is, in plain words; secrets are masked. */
export interface Explanation {
  readonly id: string
  readonly at: Instant
  /** What was asked and what was answered, in one sentence. */
  readonly summary: string
  readonly decided_by: DecidedBy
  readonly error_code: string | null
  /** Which check or rule decided. */
  readonly because: string
  /** The part of the service document, the id of the choice in `docs/fidelity.md`, or both; null where neither applies. */
  readonly basis: string | null
  /** The clock and the entities behind it, at that moment. */
  readonly facts: readonly string[]
  /** What to do about it. */
  readonly advice: readonly string[]
  /** All of it as text. */
  readonly text: string
}

/** Explains the latest entry with this id; undefined when the journal has none. `environment` as it is now. */
export function explain(journal: Journal, id: string, environment: Environment | undefined): Explanation | undefined {
  const entries = journal.recorded()
  const place = entries.findLastIndex((entry) => entry.id === id)
  const entry = entries[place]
  if (!entry) return undefined
  const of: Case = { entry, earlier: entries.slice(0, place), environment, message: messageOf(entry) }
  const finding = findingOf(of)
  const facts = [
    ...ruleFacts(entry),
    ...dueFacts(entry),
    ...(finding.facts ?? []),
    `The clock said ${instant(entry.at)}.`,
  ]
  return shown(entry, finding, [...new Set(facts)])
}

function shown(entry: RecordedEntry, finding: Finding, facts: readonly string[]): Explanation {
  const because = maskText(finding.because)
  const readable = facts.map(maskText)
  const summary = summaryOf(entry)
  const lines = [summary, because, ...readable.map((fact) => `- ${fact}`), ...finding.advice.map((line) => `→ ${line}`)]
  return {
    id: entry.id,
    at: instant(entry.at),
    summary,
    decided_by: decidedBy(entry),
    error_code: entry.errorCode,
    because,
    basis: finding.basis === '' ? null : finding.basis,
    facts: readable,
    advice: finding.advice,
    text: lines.join('\n'),
  }
}

function findingOf(of: Case): Finding {
  const { entry } = of
  if (entry.trace.injected) return injected(of)
  if (entry.status < 400) return answered(of)
  const explainer = EXPLAINERS.get(entry.errorCode ?? '')
  if (explainer) return explainer(of)
  return entry.kind === 'page' ? OTHER_PAGE(of) : unknown(of)
}

/** A rule of a scenario answered, whatever the operation would have said. */
function injected(of: Case): Finding {
  const rules = of.entry.trace.rules.filter((rule) => rule.injected && rule.at === 'service')
  return {
    because: rules
      .map(({ rule, scenario, sentence }) => `Rule "${rule}" of scenario ${scenario} answered: ${sentence}.`)
      .join(' '),
    basis: '',
    facts: accountFacts(of),
    advice: [
      'This is what the scenario is for. Without it: POST /_mock/scenarios/{name}/stop, or DELETE /_mock/scenarios.',
    ],
  }
}

/** Nothing was refused; still, something may have happened on the way. */
function answered(of: Case): Finding {
  const { refreshes, transitions } = of.entry.trace
  const moves = transitions.map(({ account_id, event, from, to }) =>
    from === to
      ? `${event} left account ${account_id} ${to}.`
      : `${event} moved account ${account_id} from ${from} to ${to}.`,
  )
  const renewed = refreshes.some(({ outcome }) => outcome === 'renewed')
  return {
    because: renewed ? 'It succeeded, after the account’s token had been renewed.' : 'Nothing refused it.',
    basis: renewed ? 'G45, G46, G56' : '',
    facts: [...upstreamFacts(of), ...moves, ...accountFacts(of)],
    advice: [],
  }
}

function unknown(of: Case): Finding {
  return {
    because: of.message === '' ? `It was answered with ${of.entry.status}.` : `${of.message}.`,
    basis: '',
    facts: [...upstreamFacts(of), ...accountFacts(of)],
    advice: ['Look at the entry itself: GET /_mock/requests/{id}.'],
  }
}

function ruleFacts({ trace }: RecordedEntry): string[] {
  const where = {
    service: 'at the service',
    third_party: 'at the third party',
    token_refresh: 'at the token endpoint',
    consent: 'at consent',
  }
  return trace.rules.map(
    ({ rule, scenario, sentence, at }) => `Rule "${rule}" of scenario ${scenario} fired ${where[at]}: ${sentence}.`,
  )
}

function dueFacts({ trace }: RecordedEntry): string[] {
  return trace.due.map(
    ({ account_id, event, from, to, at }) =>
      `Before it, ${event} fell due at ${at}: account ${account_id} went from ${from} to ${to}.`,
  )
}

const CONTRACT: ReadonlySet<string> = new Set([
  'VALIDATION_FAILED',
  'MALFORMED_BODY',
  'UNSUPPORTED_CONTENT_TYPE',
  'PATH_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'BODY_TOO_LARGE',
  'invalid_request',
])
const THIRD_PARTY: ReadonlySet<string> = new Set([
  'THIRD_PARTY_RATE_LIMITED',
  'TOOL_EXECUTION_FAILED',
  'TOOL_EXECUTION_TIMED_OUT',
  'LINK_REFUSED',
  'LINK_UNAVAILABLE',
])
const MOCK: ReadonlySet<string> = new Set(['INTERNAL', 'STORAGE_UNAVAILABLE', 'LINK_NOT_STORED'])

function decidedBy({ trace, errorCode }: RecordedEntry): DecidedBy {
  if (trace.injected) return 'scenario'
  const code = errorCode ?? ''
  if (CONTRACT.has(code)) return 'contract'
  if (THIRD_PARTY.has(code)) return 'third_party'
  return MOCK.has(code) ? 'mock' : 'service'
}

function summaryOf({ kind, method, url, operation, status, errorCode, client }: RecordedEntry): string {
  if (kind === 'clock' || kind === 'control') return `${url}.`
  const what = method === '' ? 'Something unreadable' : `${method} ${maskUrl(url)}`
  const asked = `${what}${operation === null ? '' : ` (${operation})`}`
  const by = client === null ? '' : ` by client ${client}`
  return `${asked}${by} was answered with ${status}${errorCode === null ? '' : ` ${errorCode}`}.`
}

/** The words of an error answer, of the service's shape or the token endpoint's. */
function messageOf(entry: RecordedEntry): string {
  if (entry.status < 400) return ''
  const answer = answerOf(entry)
  const message = own(answer, 'message') ?? own(answer, 'error_description')
  return typeof message === 'string' && isJsonObject(answer) ? message : ''
}
