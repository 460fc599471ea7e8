import type { Account } from '../../model/domain/account.ts'
import type { Connector, RateLimit, Tool } from '../../model/domain/connector.ts'
import type { Grant } from '../../model/domain/generated/tables.ts'
import { matchPath, pathParts } from '../../model/domain/path-pattern.ts'
import { plural } from '../../model/domain/text.ts'
import { rateCountersOf } from '../../state/collections.ts'
import {
  ACCOUNT_HEADER,
  headerOf,
  headerValue,
  jsonResponse,
  type ReceivedRequest,
  type ThirdPartyResponse,
} from './http-messages.ts'
import { respondBy, failureResponse, responderRequest, type ResponderCall } from './responders.ts'
import { REFUSALS, type SchemeContext, SCHEMES } from './schemes.ts'
import { accountInTemplates } from './template.ts'

/** A third party's API: authenticates the call, then the first matching responder answers. Its templates have to be prepared. */
export function respondToApiRequest(
  context: SchemeContext,
  request: ReceivedRequest,
  tool?: string,
): ThirdPartyResponse {
  const { environment, connector } = context
  const scheme = SCHEMES[connector.authorization_type]
  const grant = scheme.verify(request, context)
  if (typeof grant === 'string') {
    const headers = { 'WWW-Authenticate': scheme.challenge(connector, grant) }
    return jsonResponse(401, { error: 'unauthorized', reason: grant, message: REFUSALS[grant] }, headers)
  }
  const path = pathParts(request.apiPath)
  if (!path) return jsonResponse(400, { error: 'malformed_path', message: 'the path is not well-formed' })
  const view = responderRequest(request, path)
  if (!view) return jsonResponse(400, { error: 'malformed_body', message: 'the body is not JSON' })
  // For a call without a credential, the account that the service names.
  const account = environment.model.tables.accounts.get(grant?.account_id ?? headerOf(request, ACCOUNT_HEADER))
  const missing = grant && missingScopes(connector, scopesOf(grant, account, connector), { request, path, tool })
  if (missing) {
    const scope = missing.join(' ')
    const challenge = `${scheme.challenge(connector, 'missing')}, error="insufficient_scope", scope="${headerValue(scope)}"`
    const message = `the token was not granted ${missing.join(', ')}`
    return jsonResponse(403, { error: 'insufficient_scope', scope, message }, { 'WWW-Authenticate': challenge })
  }
  const accountSeen = account ? accountInTemplates(account) : null
  const person = grant?.person ?? null
  const call: ResponderCall = { request, view, path, accountId: account?.id ?? '', account: accountSeen, person }
  if (!connector.rate_limit) return respondBy(context, call)
  const { isOver, headers } = countCall(environment, connector, connector.rate_limit, call.accountId)
  if (isOver) return tooManyCalls(context, connector.rate_limit, call, headers)
  const response = respondBy(context, call)
  return { ...response, headers: withDefaultHeaders(response.headers, headers) }
}

/** What a token may do: what the account says of its live one; all that the connector asks for where nothing was said (G71). */
function scopesOf(grant: Grant, account: Account | undefined, connector: Connector): readonly string[] {
  const live = account?.credentials.oauth_token
  const scopes = live && live.access_token === grant.access ? live.scopes : grant.scopes
  return scopes.length > 0 ? scopes : connector.oauth.scopes
}

/** Of its tool, or of a tool that makes such a call where it comes from another program; undefined when none lacks. */
function missingScopes(
  { tools }: Connector,
  scopes: readonly string[],
  { request, path, tool }: { request: ReceivedRequest; path: readonly string[]; tool: string | undefined },
): readonly string[] | undefined {
  const makes = ({ call }: Tool): boolean =>
    call.method === request.method &&
    matchPath((call.path.split('?', 1)[0] ?? '').replaceAll(/\{\{.*?\}\}/g, '*'), path) !== undefined
  const callers = tools.filter((each) => (tool === undefined ? makes(each) : each.name === tool))
  const missing = callers.map(({ scopes: needed = [] }) => needed.filter((scope) => !scopes.includes(scope)))
  return missing.some((each) => each.length === 0) ? undefined : missing[0]
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
  { view, account, person }: ResponderCall,
  limit: Record<string, string>,
): ThirdPartyResponse {
  const { status = 429, headers = {} } = otherwise
  const message = `more than ${plural(calls, 'call')} in ${plural(every / 1000, 'second')}`
  const said = { ...otherwise, headers: withDefaultHeaders(headers, limit) }
  return failureResponse(context, { status, code: 'rate_limited', message }, said, { request: view, account, person })
}

/** The headers of an answer, and the usual ones whose names it does not have in any case of letters. */
function withDefaultHeaders(specific: Record<string, string>, usual: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(specific).map((name) => name.toLowerCase()))
  const others = Object.entries(usual).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...specific }
}
