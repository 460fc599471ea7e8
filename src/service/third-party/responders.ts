import { decodeBody, charsetOf, encodeText } from '../../platform/body-text.ts'
import { plainText, type Step } from '../../model/domain/collection.ts'
import type { Responder, CannedResponse, ResponderMatch } from '../../model/domain/connector.ts'
import {
  fieldValues,
  type JsonObject,
  jsonText,
  type JsonValue,
  nestsDeeper,
  ownMember,
  parsedJson,
} from '../../model/domain/json.ts'
import { matchPath, NO_CAPTURES } from '../../model/domain/path-pattern.ts'
import { matchesAt, matchesGlob, matchesTexts } from '../../model/domain/value-match.ts'
import { sequenceCounterOf } from '../../state/collections.ts'
import type { Model } from '../../state/model/model.ts'
import { type ResponderContext, runSteps, StepFailure, type StepScope } from './collections.ts'
import { headerOf, headerValue, jsonResponse, type ReceivedRequest, type ThirdPartyResponse } from './http-messages.ts'
import { TemplateError } from './template-error.ts'

/** A request as responders match it and as their templates see it. */
export interface RequestView extends JsonObject {
  method: string
  /** `http`, or for an extension that of a call: `grpc`, `grpc-web`, `connect`. */
  protocol: string
  /** Decoded. */
  path: string
  /** What `{name}` in the path of the responder captured; empty before one matches. */
  params: JsonObject
  /** A list where a parameter was sent more than once. */
  query: JsonObject
  /** Names in lower case. */
  headers: JsonObject
}

/** A call whose credential is valid. */
export interface ResponderCall {
  readonly request: ReceivedRequest
  readonly view: RequestView
  /** The decoded parts of its path, so that an encoded slash stays inside its part. */
  readonly path: readonly string[]
  /** Empty for a call without an account. */
  readonly accountId: string
  readonly account: JsonObject | null
  readonly person: string | null
}

/** The answer of the first responder that matches, or 404. */
export function respondBy(context: ResponderContext, call: ResponderCall): ThirdPartyResponse {
  const response = firstResponse(context, call)
  if (response) return response
  const { method, path } = call.view
  return jsonResponse(404, { error: 'no_responder', method, path, message: `no responder answers ${method} ${path}` })
}

/** The answer of the first responder that matches; undefined where none does. */
export function firstResponse(context: ResponderContext, call: ResponderCall): ThirdPartyResponse | undefined {
  const { environment, connector } = context
  const { request, view, path, accountId, account, person } = call
  for (const [index, responder] of connector.responders.entries()) {
    const params = matchResponder(responder.on, view, path, account)
    if (!params) continue
    // Each responder that matches replaces the captures of the one before.
    view.params = params
    context.matched?.(responder)
    const values = { request: view, account, person }
    if (responder.steps) {
      countHit(environment, responder)
      return takeSteps({ context, accountId, values, request }, responder)
    }
    const counter = sequenceCounterOf(connector.connector, index, responder.per && accountId)
    const response = environment.model.transact(() => nextResponse(environment.model, responder, counter))
    if (!response) continue
    countHit(environment, responder)
    return renderResponse(context, response, values)
  }
  return undefined
}

/** The captures of a responder's path; undefined when the responder does not match. */
function matchResponder(
  on: ResponderMatch,
  request: RequestView,
  path: readonly string[],
  account: JsonObject | null,
): JsonObject | undefined {
  if (on.method !== undefined && !matchesMethod(on.method.toUpperCase(), request.method)) return undefined
  const captured = on.path === undefined ? NO_CAPTURES : matchPath(on.path, path)
  if (!captured) return undefined
  const matches =
    matchesTexts(on.query, (name) => ownMember(request.query, name)) &&
    matchesTexts(on.headers, (name) => ownMember(request.headers, name.toLowerCase())) &&
    matchesAt(on.body, request['body']) &&
    matchesAt(on.account, account)
  return matches ? captured : undefined
}

/** HEAD is GET without a body (RFC 9110 9.3.2). */
function matchesMethod(pattern: string, method: string): boolean {
  return matchesGlob(pattern, method) || (method === 'HEAD' && matchesGlob(pattern, 'GET'))
}

function countHit({ responderHits }: ResponderContext['environment'], responder: Responder): void {
  responderHits.set(responder, (responderHits.get(responder) ?? 0) + 1)
}

/** The next answer of a sequence; undefined when the sequence is over and the next responder answers. */
function nextResponse(model: Model, { answers, after_last }: Responder, counter: string): CannedResponse | undefined {
  if (answers.length <= 1 && after_last !== 'next') return answers[0]
  const before = model.tables.counters.get(counter)?.value ?? 0
  const isOver = before >= answers.length
  if (isOver && after_last === 'next') return undefined
  if (isOver && after_last === 'repeat') return answers.at(-1)
  model.count(counter)
  return answers[before % answers.length]
}

/** What the third party answers once the steps of a responder are taken, or when one of them fails. */
function takeSteps(scope: StepScope, responder: Responder): ThirdPartyResponse {
  const { context, values } = scope
  const [response = NO_ANSWER] = responder.answers
  try {
    return runSteps(scope, responder, (results) =>
      renderResponse(context, { ...response, headers: { ...results.headers, ...response.headers } }, results.values),
    )
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    const { otherwise } = error.step
    if (!(otherwise?.body ?? context.connector.error_body)) context.refuse?.(error)
    return failureResponse(context, error, otherwise, { ...values, ...error.values })
  }
}

const NO_ANSWER: CannedResponse = { status: 204, headers: {}, body: null }
const ERROR_BODY: JsonObject = { error: '{{error.code}}', message: '{{error.message}}' }

/** What a call that fails is answered: the body of `otherwise`, of the file, or the usual one, whose templates see the error. */
export function failureResponse(
  context: ResponderContext,
  { status, code, message }: { readonly status: number; readonly code: string; readonly message: string },
  { headers = {}, body = context.connector.error_body ?? ERROR_BODY }: Step['otherwise'] & object = {},
  values: JsonObject,
): ThirdPartyResponse {
  return renderResponse(context, { status, headers, body }, { ...values, error: { status, code, message } })
}

function renderResponse(
  { environment, templates }: ResponderContext,
  response: CannedResponse,
  values: JsonObject,
): ThirdPartyResponse {
  const { clock, ids, model } = environment
  const scope = { values, clock, ids }
  return model.transact(() => {
    const hasOwnType = Object.keys(response.headers).some((name) => name.toLowerCase() === 'content-type')
    const headers: Record<string, string> = hasOwnType ? {} : { 'Content-Type': 'application/json' }
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name] = headerValue(plainText(templates.render(value, scope)))
    }
    if (response.body === null) return { status: response.status, headers: withoutType(headers), body: '' }
    const body = templates.render(response.body, scope)
    const isText = typeof body === 'string' && hasOwnType
    const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
    const encoded = encodeText(isText ? body : jsonText(body), type)
    if (encoded === undefined)
      throw new TemplateError(
        `the charset of Content-Type is ${String(charsetOf(type))}, allowed are utf-8, utf-16le and those of one byte a character`,
      )
    return { status: response.status, headers, body: encoded }
  })
}

function withoutType(headers: Record<string, string>): Record<string, string> {
  const { 'Content-Type': _type, ...untypedHeaders } = headers
  return untypedHeaders
}

/** The request as responders see it; undefined when its body claims to be JSON and is not. */
export function responderRequest(request: ReceivedRequest, path: readonly string[]): RequestView | undefined {
  const body = requestBodyJson(request)
  if (body === undefined) return undefined
  return {
    method: request.method,
    protocol: request.protocol ?? 'http',
    path: `/${path.join('/')}`,
    params: {},
    query: fieldValues(request.query),
    headers: request.headers as JsonObject,
    body,
  }
}

/** Serializing a deeper body later could overflow the stack. */
const MAX_BODY_DEPTH = 100

function requestBodyJson(request: ReceivedRequest): JsonValue | undefined {
  if (request.body.length === 0) return null
  const type = headerOf(request, 'content-type').toLowerCase()
  const text = decodeBody(request.body, { 'content-type': type }, Infinity)
  if (type.startsWith('application/x-www-form-urlencoded')) return fieldValues(new URLSearchParams(text))
  if (!type.includes('json')) return text
  return nestsDeeper(text, MAX_BODY_DEPTH) ? undefined : parsedJson(text)
}
