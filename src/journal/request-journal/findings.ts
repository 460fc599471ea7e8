import { basisOf } from '../../model/contract/basis.ts'
import { isOperation } from '../../model/contract/route.ts'
import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import { foundValue, valueOfField } from '../../model/contract/violation.ts'
import { violationsInWireWords } from '../../model/contract/vocabulary.ts'
import {
  errorCodeOf,
  errorTraits,
  type FieldViolation,
  descriptionParts,
  ServiceError,
  violationsIn,
} from '../../model/domain/errors.ts'
import { type Finding, isViolation } from '../../model/domain/finding.ts'
import { isJsonObject, textAt } from '../../model/domain/json.ts'
import { maskText } from '../../model/domain/masking.ts'
import { bearerTokenIn } from '../../model/domain/request-headers.ts'
import type { RequestWarning } from '../../model/domain/request-trace.ts'
import type { WebhookPlan } from '../../scenarios/faults/fault.ts'
import type { EventMistake, FindingFacts, StoredEntry } from './entry.ts'
import { isUnserved, recordedBody, entryPath, requestHeadersOf, responseText } from './view.ts'

const EVENT_RULES = {
  forged: ['webhook-signature', 'must be verified: an event with a wrong signature must not be answered with 2xx'],
  stale: ['webhook-timestamp', 'must be verified: an event that is ten minutes old must not be answered with 2xx'],
  treated_twice: ['webhook-id', 'must be treated once: an event may be sent again'],
} as const satisfies Record<EventMistake, readonly [field: string, allowed: string]>

const NOTHING: readonly never[] = Object.freeze([])

/** What an entry got wrong, violations first. Nearly every request has nothing, and costs no more than these questions. */
export function findingsOf(entry: Omit<StoredEntry, 'findings'>, facts: FindingFacts): readonly Finding[] {
  const { error, checked, responseViolations = NOTHING, eventMistakes = NOTHING } = facts
  const { trace } = entry
  const noted = (checked?.warnings.length ?? 0) + trace.warnings.length + trace.rules.length
  const isUnknownPath = isUnserved(entry)
  if (error === undefined && noted + responseViolations.length + eventMistakes.length === 0 && !isUnknownPath)
    return NOTHING
  const all = [
    ...fieldFindings(entry, facts),
    ...responseViolations.map((violation) => responseFinding(entry, violation)),
    ...(isUnknownPath ? pathFindings(entry, facts) : []),
    ...eventMistakes.map(({ mistake, found }) => {
      const [field, allowed] = EVENT_RULES[mistake]
      return violation({ operation: 'webhook', code: mistake, field, found, allowed })
    }),
    ...lateBarriers(entry),
  ]
  return all.length === 0 ? NOTHING : all.sort((a, b) => Number(a.kind === 'warning') - Number(b.kind === 'warning'))
}

interface EventAttempt {
  readonly plan: Pick<WebhookPlan, 'signs' | 'stale'>
  readonly accountId: string
  readonly status: number
  /** What came with the first of two attempts, and with this one. */
  readonly before: readonly StoredEntry[]
  readonly since: readonly StoredEntry[]
}

/** What an application did wrong with an event: it took a bad one, or did the same to its account both times (G68). */
export function eventMistakesOf({ plan, accountId, status: answered, before, since }: EventAttempt) {
  const isSuccess = (status: number): boolean => status >= 200 && status < 300
  const isAction = ({ kind, method, status, trace }: StoredEntry): boolean =>
    kind === 'request' && method !== 'GET' && isSuccess(status) && trace.account?.id === accountId
  const wordsOf = ({ operation, requestBody }: StoredEntry): string => `${String(operation)} ${String(requestBody)}`
  const actionWords = new Set(before.filter(isAction).map(wordsOf))
  const repeated = since.find((entry) => isAction(entry) && actionWords.has(wordsOf(entry)))
  const mistakes: { mistake: EventMistake; found: string }[] = []
  if (plan.signs === 'none' && isSuccess(answered)) mistakes.push({ mistake: 'forged', found: String(answered) })
  if (plan.stale && isSuccess(answered)) mistakes.push({ mistake: 'stale', found: String(answered) })
  if (repeated)
    mistakes.push({ mistake: 'treated_twice', found: `${repeated.operation ?? ''} twice, again in ${repeated.id}` })
  return mistakes
}

type Known = Pick<Finding, 'operation' | 'code' | 'field' | 'found' | 'allowed'> & Partial<Finding>

/** A violation, unless it says otherwise. */
export function violation(parts: Known): Finding {
  const finding = { kind: 'violation', error_code: null, did_you_mean: null, ...parts } as const
  return { ...finding, basis: parts.basis ?? basisOf(finding) }
}

/** What is wrong with the fields of a request. A name that is nearly right comes before what the service missed for it. */
function fieldFindings(entry: Omit<StoredEntry, 'findings'>, facts: FindingFacts): Finding[] {
  const { operation, trace, vocabulary } = entry
  const broken = brokenRules(entry, facts)
  const noted = [...(facts.checked?.warnings ?? []), ...trace.warnings]
  const isCausedBy = (
    { field, did_you_mean: meant }: RequestWarning,
    { field: findingField, code }: Finding,
  ): boolean => findingField === field || (code === 'required' && findingField === siblingField(field, meant))
  const misses = noted.filter(({ kind }) => kind === 'near_miss')
  const findings = [
    ...misses.map((miss) => {
      const cause = broken.find((finding) => isCausedBy(miss, finding))
      return notedFinding(operation, miss, cause?.error_code)
    }),
    ...broken.filter((finding) => !misses.some((miss) => isCausedBy(miss, finding))),
    ...noted
      .filter(
        ({ kind, field }) =>
          kind !== 'near_miss' && (kind === 'duplicate_member' || !broken.some((finding) => finding.field === field)),
      )
      .map((warning) => notedFinding(operation, warning)),
  ]
  if (!vocabulary || operation === null) return findings
  const request = { operation, query: facts.documentQuery ?? '', body: facts.documentBody }
  const inWireWords = (description: string, at: number): string =>
    violationsInWireWords([{ field: findings[at]?.field ?? '', description }], request, vocabulary)[0]?.description ??
    ''
  const fields = violationsInWireWords(
    findings.map(({ field }) => ({ field, description: '' })),
    request,
    vocabulary,
  )
  return findings.map((finding, at) => ({
    ...finding,
    field: fields[at]?.field ?? finding.field,
    allowed: inWireWords(finding.allowed, at),
    found: finding.found === null ? null : inWireWords(finding.found, at),
    did_you_mean: finding.did_you_mean === null ? null : vocabulary.wire(finding.did_you_mean),
  }))
}

function siblingField(field: string, name = ''): string {
  return field.slice(0, field.lastIndexOf('.') + 1) + name
}

/** A near miss of a known name and a member that is sent twice are violations, everything else that is said in vain a warning (G6, G76). */
function notedFinding(
  operation: string | null,
  { field, description, kind, did_you_mean }: RequestWarning,
  error_code: string | null = null,
): Finding {
  const { rule, found = null } = descriptionParts(description)
  // A name and a value that nearly are known ones differ in whether there is a value.
  const code = kind === 'unknown' ? 'unread' : kind === 'near_miss' && found === null ? 'unknown' : kind
  return violation({
    kind: kind === 'near_miss' || kind === 'duplicate_member' ? 'violation' : 'warning',
    ...{ operation, code, error_code, field, did_you_mean: did_you_mean ?? null },
    found: found === null ? null : maskText(found),
    allowed: maskText(rule),
  })
}

/** Constraints of a 400 that say no more than a 404 elsewhere: the account does not exist (G34). */
const ABOUT_STATE: ReadonlySet<string> = new Set(['existing_account'])

/** Whether a request broke the contract, by the error that answers it. */
export function isBreach(error: unknown, authorization: string | undefined): boolean {
  const code = errorCodeOf(error)
  if (code === 'UNAUTHENTICATED') return bearerTokenIn(authorization) === undefined
  // Wrong credentials break no rule, a request without any does.
  if (code === 'invalid_client') return violationsIn(error).length > 0
  if (!errorTraits(code).breach) return false
  const violations = violationsIn(error)
  return violations.length === 0 || violations.some(({ constraint }) => !ABOUT_STATE.has(constraint))
}

/** Why a request was refused for its credentials, the same words for the same reason; undefined where it was not, or broke a rule by them. */
export function refusalReason(entry: StoredEntry): string | undefined {
  const { errorCode, client, findings, trace } = entry
  const isRefused = errorCode === 'UNAUTHENTICATED' || errorCode === 'invalid_client'
  // The rules of scenarios see only what has passed these checks.
  if (!isRefused || trace.rules.length > 0 || findings.some(isViolation)) return undefined
  const response = recordedBody(responseText(entry))
  const message = isJsonObject(response) ? textAt(response, 'message') || textAt(response, 'error_description') : ''
  if (message.startsWith('client_id or client_secret'))
    return client === null ? 'the client is unknown' : "the client's secret is wrong"
  return (message.split(/;| at | before /)[0] ?? '').replace('access token', 'bearer token')
}

function brokenRules(entry: Omit<StoredEntry, 'findings'>, facts: FindingFacts): Finding[] {
  const { error, checked, documentBody } = facts
  const { operation } = entry
  if (error === undefined || operation === null || !(isOperation(operation) || operation === PROXY_REQUEST)) return []
  const { authorization } = requestHeadersOf(entry)
  if (!isBreach(error, authorization)) return []
  const error_code = errorCodeOf(error)
  if (error_code === 'UNAUTHENTICATED') {
    const [code, value, allowed] =
      authorization === undefined
        ? ['required', null, 'is required']
        : ['scheme', 'another scheme, or no token', 'must be Bearer and an access token of create_token']
    return [violation({ operation, error_code, field: 'Authorization', code, found: value, allowed })]
  }
  const violations = violationsIn(error)
  if (violations.length > 0) {
    const request = { query: checked?.query, body: documentBody }
    return violations.map((each) => violation({ operation, error_code, ...ruleAndValue(each, request) }))
  }
  const allowed = error instanceof Error ? maskText(error.message) : ''
  return [violation({ operation, error_code, field: 'body', code: 'request', found: 'another request', allowed })]
}

function responseFinding({ operation }: Pick<StoredEntry, 'operation'>, broken: FieldViolation): Finding {
  const { field, found, allowed, code } = ruleAndValue(broken, {})
  const basis = basisOf({ operation, field, code, error_code: null })
  return violation({ operation, code: 'mock_answer', field: `the mock's answer: ${field}`, found, allowed, basis })
}

/** Rule and value of a violation; where the description does not show the value, it is looked up in the request. */
function ruleAndValue(
  { field, description, constraint: code }: FieldViolation,
  { query, body }: { readonly query?: unknown; readonly body?: unknown },
): Pick<Finding, 'field' | 'code' | 'found' | 'allowed'> {
  const { rule, found } = descriptionParts(description)
  if (found !== undefined) return { field, code, found: maskText(found), allowed: maskText(rule) }
  const value = valueOfField(body, field) ?? valueOfField(query, field)
  return { field, code, found: value === undefined ? null : foundValue(value, field.split(/[.[\]]+/)), allowed: rule }
}

/** Browsers request these from every server by themselves, and health checks request `/`: no client meant the service. */
const REQUESTED_OF_EVERY_SERVER =
  /^\/(|favicon\.ico|robots\.txt|apple-touch-icon[\w.-]*\.png|\.well-known\/appspecific\/.*)$/

/** Characters of a path that is not served. */
export const MAX_PATH = 200

function pathFindings(entry: Omit<StoredEntry, 'findings'>, { error, didYouMean }: FindingFacts): Finding[] {
  const { method, status, errorCode: error_code } = entry
  const path = entryPath(entry)
  if ((method === 'GET' || method === 'HEAD') && REQUESTED_OF_EVERY_SERVER.test(path)) return []
  const allowed = status === 404 ? 'is not served' : 'is served, but not with this method'
  const field = `${method} ${path.slice(0, MAX_PATH)}`
  const parts = { operation: null, code: UNKNOWN_PATH, error_code, field, found: null, allowed }
  const meant = didYouMean ?? (error instanceof ServiceError ? error.context.didYouMean : undefined)
  return [violation({ ...parts, did_you_mean: meant ?? null, basis: 'choice:G8' })]
}

/** The code of paths and methods that are not served, and the name under which they are allowed. */
export const UNKNOWN_PATH = 'unknown_path'

/** A barrier opened by its time: what the scenario is for did not take place. */
function lateBarriers({ operation, trace }: Pick<StoredEntry, 'operation' | 'trace'>): Finding[] {
  return trace.rules.flatMap(({ scenario, rule, at, late }) => {
    if (late === undefined) return []
    const field = `rule ${JSON.stringify(rule)} of scenario ${scenario}`
    const parts = { operation: operation ?? at, code: 'barrier_opened_late', field, found: null, allowed: late }
    return [violation({ kind: 'warning', ...parts })]
  })
}
