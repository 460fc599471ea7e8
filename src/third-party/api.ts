import type { Account } from '../domain/account.ts'
import type { Responder, ResponderAnswer } from '../domain/connector.ts'
import type { Grant } from '../domain/grant.ts'
import type { JsonObject } from '../domain/json.ts'
import type { Model } from '../state/model/model.ts'
import { type RequestView, matchResponder } from './match.ts'
import { accountView, pathParts, requestView } from './request-view.ts'
import type { SchemeContext } from './schemes/scheme.ts'
import { SCHEMES } from './schemes/table.ts'
import { asText } from './template-helpers.ts'
import { ACCOUNT_HEADER, type ReceivedRequest, type WireAnswer, headerOf, headerValue, jsonAnswer } from './wire.ts'

/** A third party's API: who is calling, then the first responder that matches. A promise only where templates are new. */
export function answerApi(context: SchemeContext, request: ReceivedRequest): WireAnswer | Promise<WireAnswer> {
  const { environment, connector } = context
  const verdict = SCHEMES[connector.authorization_type].verify(request, context)
  if (!verdict.allowed) {
    const { reason, message, challenge } = verdict.refusal
    return jsonAnswer(401, { error: 'unauthorized', reason, message }, { 'WWW-Authenticate': challenge })
  }
  const path = pathParts(request.apiPath)
  if (!path) return jsonAnswer(400, { error: 'malformed_path', message: 'the path is not well-formed' })
  const view = requestView(request, path)
  if (!view) return jsonAnswer(400, { error: 'malformed_body', message: 'the body is not JSON' })
  const account = callingAccount(environment.model, request, verdict.grant)
  const accountSeen = account ? accountView(account) : null
  for (const [index, responder] of connector.responders.entries()) {
    const params = matchResponder(responder.on, view, path, accountSeen)
    const counter = `responder ${connector.connector} ${String(index)}`
    const answer = params && environment.model.transact(() => nextAnswer(environment.model, responder, counter))
    if (!answer) continue
    const values = { request: { ...view, params }, account: accountSeen, person: verdict.grant?.person ?? null }
    return respond(context, answer, values)
  }
  return noResponder(view)
}

/** The account whose credentials these are; where nothing is presented, the one the service says it calls for. */
function callingAccount(model: Model, request: ReceivedRequest, grant: Grant | undefined): Account | undefined {
  const id = grant ? grant.account_id : headerOf(request, ACCOUNT_HEADER)
  return id === '' ? undefined : model.tables.accounts.get(id)
}

/** The answer whose turn it is; undefined when a sequence is over and leaves the request to the next responder. */
function nextAnswer(model: Model, { answers, after_last }: Responder, counter: string): ResponderAnswer | undefined {
  if (answers.length <= 1 && after_last !== 'next') return answers[0]
  const before = model.tables.counters.get(counter)?.value ?? 0
  const isOver = before >= answers.length
  if (isOver && after_last === 'next') return undefined
  if (isOver && after_last === 'repeat') return answers.at(-1)
  model.count(counter)
  return answers[before % answers.length]
}

function respond(
  context: SchemeContext,
  answer: ResponderAnswer,
  values: JsonObject,
): WireAnswer | Promise<WireAnswer> {
  const { templates } = context
  if (templates.isPrepared(answer)) return rendered(context, answer, values)
  return templates.prepare(answer).then(() => rendered(context, answer, values))
}

function rendered({ environment, templates }: SchemeContext, answer: ResponderAnswer, values: JsonObject): WireAnswer {
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

function noResponder({ method, path }: RequestView): WireAnswer {
  return jsonAnswer(404, { error: 'no_responder', method, path, message: `no responder answers ${method} ${path}` })
}
