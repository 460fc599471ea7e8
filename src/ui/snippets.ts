import { shellQuote } from '../domain/text.ts'
import type { Request } from './api.ts'

/** Headers that clients send by themselves, headers of a connection, and the request id, which the next request gets anew. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'accept-encoding',
  'transfer-encoding',
  'user-agent',
  'x-request-id',
  'expect',
])

type Sent = Pick<Request, 'method' | 'path' | 'query' | 'request'>

/** The languages in which a request can be copied. `base` is the URL of the server, without a slash at its end. */
export const LANGUAGES: Readonly<Record<string, (request: Sent, base: string) => string>> = {
  curl: curlOf,
  TypeScript: typeScriptOf,
  Python: pythonOf,
}

/** The headers that are worth sending, without `authorization`: its value is masked. */
export function headersOf({ request: { headers } }: Pick<Sent, 'request'>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name) && name !== 'authorization'))
}

export function urlOf({ path, query }: Pick<Sent, 'path' | 'query'>, base: string): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : [value as string]).map((each) => [name, each]),
  )
  return `${base}${path}${parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`}`
}

/** The fields of a body that is a form. */
export function formOf({ request: { headers, body } }: Pick<Sent, 'request'>): [string, string][] | undefined {
  const isForm = headers['content-type']?.includes('x-www-form-urlencoded') ?? false
  if (!isForm || typeof body !== 'object' || body === null) return undefined
  return Object.entries(body).map(([name, value]) => [name, String(value)])
}

/** The body as text; undefined for none. */
export function bodyOf(sent: Pick<Sent, 'request'>): string | undefined {
  const { body } = sent.request
  if (body === null || body === undefined) return undefined
  const form = formOf(sent)
  if (form) return new URLSearchParams(form).toString()
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** A variable of the shell, which the user sets, takes the place of the masked token. */
export function curlOf(request: Sent, base: string): string {
  const { method, request: sent } = request
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${shellQuote(urlOf(request, base))}`]
  if (sent.headers['authorization'] !== undefined) parts.push('-H "Authorization: Bearer $TOOLMOCK_TOKEN"')
  for (const [name, value] of Object.entries(headersOf(request))) parts.push(`-H ${shellQuote(`${name}: ${value}`)}`)
  const form = formOf(request)
  const body = bodyOf(request)
  if (form) for (const [name, value] of form) parts.push(`--data-urlencode ${shellQuote(`${name}=${value}`)}`)
  else if (body !== undefined) parts.push(`--data-raw ${shellQuote(body)}`)
  return parts.join(' \\\n  ')
}

function typeScriptOf(request: Sent, base: string): string {
  const { method, request: sent } = request
  const { body } = sent
  const hasToken = sent.headers['authorization'] !== undefined
  const headers = Object.entries(headersOf(request)).map(([name, value]) => `${text(name)}: ${text(value)},`)
  if (hasToken) headers.unshift('Authorization: `Bearer ${process.env.TOOLMOCK_TOKEN}`,')
  const form = formOf(request)
  const literal = form
    ? `new URLSearchParams(${JSON.stringify(Object.fromEntries(form))})`
    : typeof body === 'string'
      ? text(body)
      : `JSON.stringify(${indented(JSON.stringify(body, null, 2))})`
  return [
    `const response = await fetch(${text(urlOf(request, base))}, {`,
    `  method: ${text(method)},`,
    ...(headers.length > 0 ? ['  headers: {', ...headers.map((each) => `    ${each}`), '  },'] : []),
    ...(body === null || body === undefined ? [] : [`  body: ${literal},`]),
    '})',
    'console.log(response.status, await response.text())',
  ].join('\n')
}

/** For the package `requests`. */
function pythonOf(request: Sent, base: string): string {
  const { method, request: sent } = request
  const { body } = sent
  const hasToken = sent.headers['authorization'] !== undefined
  const headers = Object.entries(headersOf(request)).map(([name, value]) => `${text(name)}: ${text(value)},`)
  if (hasToken) headers.unshift(`"Authorization": f"Bearer {os.environ['TOOLMOCK_TOKEN']}",`)
  const form = formOf(request)
  const isText = typeof body === 'string'
  const sentBody = form
    ? pythonLiteral(Object.fromEntries(form))
    : isText
      ? `${text(body)}.encode()`
      : pythonLiteral(body)
  return [
    ...(hasToken ? ['import os'] : []),
    'import requests',
    '',
    'response = requests.request(',
    `    ${text(method)},`,
    `    ${text(urlOf(request, base))},`,
    ...(headers.length > 0 ? ['    headers={', ...headers.map((each) => `        ${each}`), '    },'] : []),
    ...(body === null || body === undefined ? [] : [`    ${form || isText ? 'data' : 'json'}=${sentBody},`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')
}

/** A text as TypeScript and Python write it. */
function text(value: string): string {
  return JSON.stringify(value)
}

function indented(lines: string): string {
  return lines.replaceAll('\n', '\n  ')
}

function pythonLiteral(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, inside]) => `${text(name)}: ${pythonLiteral(inside)}`)
    .join(', ')}}`
}
