import type { Account } from '../domain/account.ts'
import type { Connector, RateLimit, Responder, ResponderAnswer, ResponderMatch } from '../domain/connector.ts'
import { matchesGlob, matchesValue, valueAt } from '../domain/value-match.ts'
import { plural } from '../domain/text.ts'
import type { Grant } from '../domain/grant.ts'
import { fieldsOf, nestsDeeper, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { Model } from '../state/model/model.ts'
import { rateCountersOf } from '../state/collections.ts'
import { runSteps, StepFailure } from './collections.ts'
import { type SchemeContext, SCHEMES } from './schemes.ts'
import { accountView, asText } from './template.ts'
import {
  ACCOUNT_HEADER,
  decodePart,
  headerOf,
  headerValue,
  jsonAnswer,
  type ReceivedRequest,
  type ThirdPartyAnswer,
} from './http-messages.ts'

/** A third party's API: authenticates the call, then the first matching responder answers. A promise while templates load. */
export function answerApi(
  context: SchemeContext,
  request: ReceivedRequest,
): ThirdPartyAnswer | Promise<ThirdPartyAnswer> {
  const { environment, connector, templates } = context
  const preparing = templates.prepare(connector)
  // While templates load, the account or its credential may go: nothing is looked at before.
  if (preparing) return preparing.then(() => answerApi(context, request))
  const authentication = SCHEMES[connector.authorization_type].verify(request, context)
  if (!authentication.allowed) {
    const { reason, message, challenge } = authentication.refusal
    return jsonAnswer(401, { error: 'unauthorized', reason, message }, { 'WWW-Authenticate': challenge })
  }
  const path = pathParts(request.apiPath)
  if (!path) return jsonAnswer(400, { error: 'malformed_path', message: 'the path is not well-formed' })
  const view = requestView(request, path)
  if (!view) return jsonAnswer(400, { error: 'malformed_body', message: 'the body is not JSON' })
  const account = callingAccount(environment.model, request, authentication.grant)
  const accountSeen = account ? accountView(account) : null
  const person = authentication.grant?.person ?? null
  const call: AuthenticatedCall = { request, view, path, accountId: account?.id ?? '', account: accountSeen, person }
  if (!connector.rate_limit) return answerBy(context, call)
  const { isOver, headers } = countCall(environment, connector, connector.rate_limit, call.accountId)
  if (isOver) return tooManyCalls(context, connector.rate_limit, call, headers)
  const answer = answerBy(context, call)
  return { ...answer, headers: under(answer.headers, headers) }
}

/** A call with a valid credential. */
interface AuthenticatedCall {
  readonly request: ReceivedRequest
  readonly view: RequestView
  readonly path: PathParts
  /** Empty for a call without an account. */
  readonly accountId: string
  readonly account: JsonObject | null
  readonly person: string | null
}

/** The answer of the first responder that matches. */
function answerBy(context: SchemeContext, call: AuthenticatedCall): ThirdPartyAnswer {
  const { environment, connector } = context
  const { request, view, path, accountId, account, person } = call
  for (const [index, responder] of connector.responders.entries()) {
    const params = matchResponder(responder.on, view, path, account)
    if (!params) continue
    // Each responder that matches replaces the captures of the one before.
    view.params = params
    const values = { request: view, account, person }
    if (responder.steps) {
      countHit(environment, responder)
      return takeSteps(context, responder, { accountId, values, request })
    }
    const counter = `responder ${connector.connector} ${String(index)}`
    const answer = environment.model.transact(() => nextAnswer(environment.model, responder, counter))
    if (!answer) continue
    countHit(environment, responder)
    return rendered(context, answer, values)
  }
  return noResponder(view)
}

/** Counts a call in the time that began with the first one, and says what services with rate limits say in headers. */
function countCall(
  { model, clock }: SchemeContext['environment'],
  { connector }: Connector,
  { calls, every, per }: RateLimit,
  accountId: string,
): { isOver: boolean; headers: Record<string, string> } {
  const { counters } = model.tables
  const [since, count] = rateCountersOf({ connector, account_id: per === 'account' ? accountId : '' })
  const now = clock.now()
  const began = counters.get(since)?.value ?? -Infinity
  // A clock that was moved back begins a new time too.
  const isNew = now >= began + every || now < began
  const start = isNew ? now : began
  const before = isNew ? 0 : (counters.get(count)?.value ?? 0)
  const isOver = before >= calls
  if (!isOver) {
    model.transact(() => {
      if (isNew) counters.put({ id: since, value: start })
      counters.put({ id: count, value: before + 1 })
    })
  }
  const end = start + every
  const headers = {
    'X-RateLimit-Limit': String(calls),
    'X-RateLimit-Remaining': String(Math.max(0, calls - before - 1)),
    'X-RateLimit-Reset': String(Math.ceil(end / 1000)),
    ...(isOver && { 'Retry-After': String(Math.max(1, Math.ceil((end - now) / 1000))) }),
  }
  return { isOver, headers }
}

function tooManyCalls(
  context: SchemeContext,
  { calls, every, otherwise = {} }: RateLimit,
  { view, account, person }: AuthenticatedCall,
  limit: Record<string, string>,
): ThirdPartyAnswer {
  const { status = 429, headers = {}, body = context.connector.error_body ?? ERROR_BODY } = otherwise
  const message = `more than ${plural(calls, 'call')} in ${plural(every / 1000, 'second')}`
  const error = { status, code: 'rate_limited', message }
  return rendered(context, { status, headers: under(headers, limit), body }, { request: view, account, person, error })
}

/** The headers of an answer, and the usual ones whose names it does not have in any case of letters. */
function under(own: Record<string, string>, usual: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const others = Object.entries(usual).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...own }
}

function countHit({ responderHits }: SchemeContext['environment'], responder: Responder): void {
  responderHits.set(responder, (responderHits.get(responder) ?? 0) + 1)
}

/** The account of the credential; for a call without one, the account that the service names. */
function callingAccount(model: Model, request: ReceivedRequest, grant: Grant | undefined): Account | undefined {
  const id = grant ? grant.account_id : headerOf(request, ACCOUNT_HEADER)
  return id === '' ? undefined : model.tables.accounts.get(id)
}

/** The next answer of a sequence; undefined when the sequence is over and the next responder answers. */
function nextAnswer(model: Model, { answers, after_last }: Responder, counter: string): ResponderAnswer | undefined {
  if (answers.length <= 1 && after_last !== 'next') return answers[0]
  const before = model.tables.counters.get(counter)?.value ?? 0
  const isOver = before >= answers.length
  if (isOver && after_last === 'next') return undefined
  if (isOver && after_last === 'repeat') return answers.at(-1)
  model.count(counter)
  return answers[before % answers.length]
}

/** What the third party answers once the steps of a responder are taken, or when one of them fails. */
function takeSteps(
  context: SchemeContext,
  responder: Responder,
  { accountId, values, request }: { accountId: string; values: JsonObject; request: ReceivedRequest },
): ThirdPartyAnswer {
  const { url, query } = request
  const [answer = NO_ANSWER] = responder.answers
  try {
    return runSteps({ context, accountId, values, url, query }, responder, (results) =>
      rendered(context, { ...answer, headers: { ...results.headers, ...answer.headers } }, results.values),
    )
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    const { status, code, message, step } = error
    const { headers = {}, body = context.connector.error_body ?? ERROR_BODY } = step.otherwise ?? {}
    const seen = { ...values, ...error.values, error: { status, code, message } }
    return rendered(context, { status, headers, body }, seen)
  }
}

const NO_ANSWER: ResponderAnswer = { status: 204, headers: {}, body: null }
const ERROR_BODY: JsonObject = { error: '{{error.code}}', message: '{{error.message}}' }

function rendered(
  { environment, templates }: SchemeContext,
  answer: ResponderAnswer,
  values: JsonObject,
): ThirdPartyAnswer {
  const { clock, ids, model } = environment
  const scope = { values, clock, ids }
  return model.transact(() => {
    const hasOwnType = Object.keys(answer.headers).some((name) => name.toLowerCase() === 'content-type')
    const headers: Record<string, string> = hasOwnType ? {} : { 'Content-Type': 'application/json' }
    for (const [name, value] of Object.entries(answer.headers)) {
      headers[name] = headerValue(asText(templates.render(value, scope)))
    }
    if (answer.body === null) return { status: answer.status, headers: withoutType(headers), body: '' }
    const body = templates.render(answer.body, scope)
    const isText = typeof body === 'string' && hasOwnType
    return { status: answer.status, headers, body: isText ? body : JSON.stringify(body) }
  })
}

function withoutType(headers: Record<string, string>): Record<string, string> {
  const { 'Content-Type': _type, ...rest } = headers
  return rest
}

function noResponder({ method, path }: RequestView): ThirdPartyAnswer {
  return jsonAnswer(404, { error: 'no_responder', method, path, message: `no responder answers ${method} ${path}` })
}

/** The decoded parts of a path; undefined when one is not well-formed. */
function pathParts(path: string): PathParts | undefined {
  const parts = path.split('/').slice(1).map(decodePart)
  return parts.every((part) => part !== undefined) ? parts : undefined
}

/** The request as responders see it; undefined when its body claims to be JSON and is not. */
function requestView(request: ReceivedRequest, path: PathParts): RequestView | undefined {
  const body = bodyOf(request)
  if (body === undefined) return undefined
  return {
    method: request.method,
    path: `/${path.join('/')}`,
    params: {},
    query: fieldsOf(request.query),
    headers: request.headers as JsonObject,
    body,
  }
}

/** Serializing a deeper body later could overflow the stack. */
const MAX_BODY_DEPTH = 100

function bodyOf(request: ReceivedRequest): JsonValue | undefined {
  if (request.body.length === 0) return null
  const text = request.body.toString('utf8')
  const type = headerOf(request, 'content-type').toLowerCase()
  if (type.startsWith('application/x-www-form-urlencoded')) return fieldsOf(new URLSearchParams(text))
  if (!type.includes('json')) return text
  if (nestsDeeper(text, MAX_BODY_DEPTH)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** A request at the third party's API as responders match it and as their templates see it. */
interface RequestView extends JsonObject {
  method: string
  /** Decoded. */
  path: string
  /** What `{name}` in the path of the responder captured; empty before one matches. */
  params: JsonObject
  /** A list where a parameter was sent more than once. */
  query: JsonObject
  /** Names in lower case. */
  headers: JsonObject
}

/** The decoded parts of a request's path, so that an encoded slash stays inside its part. */
type PathParts = readonly string[]

/** The captures of a responder's path; undefined when the responder does not match. */
function matchResponder(
  on: ResponderMatch,
  request: RequestView,
  path: PathParts,
  account: JsonObject | null,
): JsonObject | undefined {
  if (on.method !== undefined && !matchesGlob(on.method.toUpperCase(), request.method)) return undefined
  const captured = on.path === undefined ? NO_CAPTURES : matchPath(on.path, path)
  if (!captured) return undefined
  const matches =
    every(on.query, (name, glob) => texts(request.query, name).some((text) => matchesGlob(glob, text))) &&
    every(on.headers, (name, glob) =>
      texts(request.headers, name.toLowerCase()).some((text) => matchesGlob(glob, text)),
    ) &&
    every(on.body, (at, wanted) => matchesValue(wanted, valueAt(request['body'], at))) &&
    every(on.account, (field, glob) => account !== null && matchesValue(glob, valueAt(account, field)))
  return matches ? captured : undefined
}

const NO_CAPTURES: JsonObject = Object.freeze(Object.create(null) as JsonObject)

/** Part by part: `{name}` captures a part, anything else is a glob for it. */
function matchPath(pattern: string, path: PathParts): JsonObject | undefined {
  const wanted = pattern.split('/').slice(1)
  if (wanted.length !== path.length) return undefined
  let captured: JsonObject | undefined
  for (const [at, part] of wanted.entries()) {
    const found = path[at] ?? ''
    if (isCapture(part)) {
      if (found === '') return undefined
      captured ??= Object.create(null) as JsonObject
      captured[part.slice(1, -1)] = found
    } else if (!matchesGlob(part, found)) return undefined
  }
  return captured ?? NO_CAPTURES
}

function isCapture(part: string): boolean {
  return part.length > 2 && part.startsWith('{') && part.endsWith('}')
}

function every<T>(wanted: Record<string, T> | undefined, test: (key: string, value: T) => boolean): boolean {
  return wanted === undefined || Object.keys(wanted).every((key) => test(key, wanted[key] as T))
}

/** The values of a query parameter or header as texts. */
function texts(values: JsonObject, name: string): string[] {
  const found = Object.hasOwn(values, name) ? values[name] : undefined
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? found.map(asText) : [asText(found)]
}
