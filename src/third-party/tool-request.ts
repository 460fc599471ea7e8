import type { Account } from '../domain/account.ts'
import type { Tool } from '../domain/connector.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import { accountView } from './request-view.ts'
import type { SchemeContext } from './schemes/scheme.ts'
import { SCHEMES } from './schemes/table.ts'
import { asText } from './template-helpers.ts'
import type { TemplateScope } from './template.ts'
import { type OutgoingRequest, encodePart, headerValue } from './wire.ts'

/** Where a connector's API is: its origin, and the path that every call's path is appended to. */
export interface ApiAddress {
  origin: string
  prefix: string
}

/** A tool that runs with an account's credentials. */
export interface ToolRun {
  tool: Tool
  account: Account
  input: JsonObject
}

/** What a tool's templates see; `more` is the answer, once there is one. */
export function toolScope({ environment }: SchemeContext, run: ToolRun, more: JsonObject = {}): TemplateScope {
  const values = { input: run.input, account: accountView(run.account), ...more }
  return { values, clock: environment.clock, ids: environment.ids }
}

/** A value that cannot stand in the path of a call, whatever it is encoded as. */
export class UnsendablePath extends Error {
  override readonly name = 'UnsendablePath'
}

/** The HTTP request of a tool's call, with the account's credentials. @throws UnsendablePath */
export function toolRequest(context: SchemeContext, api: ApiAddress, run: ToolRun): OutgoingRequest {
  const { templates } = context
  const { call } = run.tool
  const scope = toolScope(context, run)
  const [path, query] = pathOf(templates.renderText(call.path, scope, encodePart))
  const body = call.body === null ? '' : JSON.stringify(templates.render(call.body, scope))
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== '') headers['Content-Type'] = 'application/json'
  for (const [name, template] of Object.entries(call.headers)) {
    const value = headerValue(asText(templates.render(template, scope)))
    if (value !== '') headers[name] = value
  }
  for (const [name, template] of Object.entries(call.query)) {
    query.push(...queryValues(templates.render(template, scope)).map((value) => [name, value] as const))
  }
  const request = { method: call.method, origin: api.origin, path: `${api.prefix}${path}`, query, headers, body }
  SCHEMES[context.connector.authorization_type].present(request, run.account.credentials, context)
  return request
}

/** Values are already encoded; of the text around them only what cannot travel is. */
function pathOf(rendered: string): [path: string, query: (readonly [string, string])[]] {
  const sendable = rendered.replaceAll(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
  const [path = '', ...search] = sendable.split('?')
  // A part that is all dots would leave the path of the call, and no encoding prevents it.
  if (path.split('/').some((part) => part === '.' || part === '..')) {
    throw new UnsendablePath('a part of the path comes out as "." or "..", which would leave the path of the call')
  }
  return [path, search.length === 0 ? [] : [...new URLSearchParams(search.join('?'))]]
}

/** Nothing for a value that is empty, one parameter per item of a list. */
function queryValues(value: JsonValue): string[] {
  const values = Array.isArray(value) ? value.map(asText) : [asText(value)]
  return values.filter((text) => text !== '')
}
