import { createHash } from 'node:crypto'
import type { Credentials } from '../../domain/credentials.ts'
import type { TemplateScope, Templates } from '../template.ts'
import { type ReceivedRequest, headerOf, headerValue } from '../wire.ts'
import { type Scheme, type SchemeContext, judge, realm, refuse } from './scheme.ts'

/** The headers and query parameters that static credentials become, in the order of the connector's file. */
interface Sent {
  headers: (readonly [name: string, value: string])[]
  query: (readonly [name: string, value: string])[]
}

/** Credentials that never change hands: keys, passwords and tokens, sent as the connector's `credentials.send` says. */
export const staticCredential: Scheme = {
  present(request, credentials, context) {
    const sent = render(credentials, context)
    for (const [name, value] of sent.headers) if (value !== '') request.headers[name] = value
    request.query.push(...sent.query.filter(([, value]) => value !== ''))
  },

  verify(request, context) {
    const challenge = (): string => `${challengeScheme(context)} ${realm(context.connector)}`
    const received = receive(request, context)
    const access = canonical(received)
    if (access === undefined) return refuse('missing', challenge)
    return judge(request, context, access, challenge)
  },

  known(credentials, context) {
    const access = canonical(render(credentials, context))
    return access === undefined ? undefined : { access, secret: '', refresh_token: '', scopes: [] }
  },
}

function render(credentials: Credentials, { environment, connector, templates }: SchemeContext): Sent {
  const details = credentials.static_auth?.details ?? {}
  const { headers, query } = connector.credentials.send
  if (sendsNothing(headers, query)) return { headers: [['Authorization', digest(details)]], query: [] }
  const scope = { values: { credentials: details }, clock: environment.clock, ids: environment.ids }
  return {
    headers: Object.entries(headers).map(([name, template]) => [
      name,
      headerValue(completeText(templates, template, scope)),
    ]),
    query: Object.entries(query).map(([name, template]) => [
      name,
      completeText(templates, template, scope).toWellFormed(),
    ]),
  }
}

/** Not `Bearer ` and nothing after it: a header or parameter without its value is not sent at all. */
function completeText(templates: Templates, template: string, scope: TemplateScope): string {
  const values: string[] = []
  const text = templates.renderText(template, scope, (value) => {
    values.push(value)
    return value
  })
  return values.includes('') ? '' : text
}

function receive(request: ReceivedRequest, { connector }: SchemeContext): Sent {
  const { headers, query } = connector.credentials.send
  const names = sendsNothing(headers, query) ? ['Authorization'] : Object.keys(headers)
  return {
    headers: names.map((name) => [name, headerOf(request, name)]),
    query: Object.keys(query).map((name) => [name, request.query.get(name) ?? '']),
  }
}

/** One string for the whole credential, so that one look-up finds it; undefined when there is nothing in it. */
function canonical({ headers, query }: Sent): string | undefined {
  const values = [...headers, ...query].map(([, value]) => value)
  return values.every((value) => value === '') ? undefined : JSON.stringify(values)
}

function sendsNothing(headers: object, query: object): boolean {
  return Object.keys(headers).length === 0 && Object.keys(query).length === 0
}

/** For a connector that does not say how its credentials travel: all of them, as one opaque value. */
function digest(details: object): string {
  return `Credentials ${createHash('sha256').update(JSON.stringify(details)).digest('base64url')}`
}

function challengeScheme({ connector }: SchemeContext): string {
  const type = connector.authorization_type
  if (type === 'BASIC' || type === 'BASIC_AUTH') return 'Basic'
  return type === 'BEARER_TOKEN' ? 'Bearer' : 'ApiKey'
}
