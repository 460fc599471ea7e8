import { shellQuote } from '../../model/domain/text.ts'
import { type Request, serverUrl } from './api.ts'

/** Headers that clients send by themselves, headers of a connection, and the request id, which the next request gets anew. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding', 'user-agent', 'expect'],
  'x-request-id',
])

type Sent = Pick<Request, 'method' | 'path' | 'query' | 'request'>

/** The languages in which a request can be copied. `base` is the URL of the server, without a slash at its end. */
const LANGUAGES = { curl: curlOf, TypeScript: typeScriptOf, Python: pythonOf }
export type Language = keyof typeof LANGUAGES

export function snippetIn(language: Language, request: Sent): string {
  return LANGUAGES[language](request, serverUrl())
}

/** The headers that are worth sending, without `authorization`: its value is masked. */
export function headersOf({ request: { headers } }: Pick<Sent, 'request'>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name) && name !== 'authorization'))
}

export function urlOf({ path, query }: Pick<Sent, 'path' | 'query'>, base: string): string {
  const parameters = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each]))
  return `${base}${path}${parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`}`
}

/** The fields of a body that is a form. */
export function formOf({ request: { headers, body } }: Pick<Sent, 'request'>): [string, string][] | undefined {
  const isForm = headers['content-type']?.includes('x-www-form-urlencoded') ?? false
  if (!isForm || typeof body !== 'object' || body === null) return undefined
  return Object.entries(body).map(([name, value]) => [name, String(value)])
}

/** The body as text; undefined for none. */
export function bodyOf(exchange: Pick<Sent, 'request'>): string | undefined {
  const { body } = exchange.request
  if (body === null || body === undefined) return undefined
  const form = formOf(exchange)
  if (form) return new URLSearchParams(form).toString()
  return typeof body === 'string' ? body : json(body)
}

/** What a request consists of. A variable of the environment, which the user sets, takes the place of the masked token. */
function partsOf(request: Sent, base: string) {
  const { authorization } = request.request.headers
  return {
    method: request.method,
    url: urlOf(request, base),
    hasToken: authorization !== undefined,
    headers: Object.entries(headersOf(request)),
    form: formOf(request),
    body: request.request.body ?? undefined,
  }
}

export function curlOf(request: Sent, base: string): string {
  const { method, url, hasToken, headers, form, body } = partsOf(request, base)
  const fields = form?.map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`)
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellQuote(url)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOOLMOCK_TOKEN"'] : []),
    ...headers.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(fields ?? (body === undefined ? [] : [`--data-raw ${shellQuote(bodyOf(request) ?? '')}`])),
  ].join(' \\\n  ')
}

function typeScriptOf(request: Sent, base: string): string {
  const { method, url, hasToken, headers, form, body } = partsOf(request, base)
  const bodyCode = form
    ? `new URLSearchParams(${json(Object.fromEntries(form))})`
    : typeof body === 'string'
      ? json(body)
      : `JSON.stringify(${json(body, 2).replaceAll('\n', '\n  ')})`
  return [
    `const response = await fetch(${json(url)}, {`,
    `  method: ${json(method)},`,
    ...headerLines('  headers: {', hasToken ? 'Authorization: `Bearer ${process.env.TOOLMOCK_TOKEN}`,' : '', headers),
    ...(body === undefined ? [] : [`  body: ${bodyCode},`]),
    '})',
    'console.log(response.status, await response.text())',
  ].join('\n')
}

/** For the package `requests`. */
function pythonOf(request: Sent, base: string): string {
  const { method, url, hasToken, headers, form, body } = partsOf(request, base)
  const bodyCode = form
    ? `data=${pythonLiteral(Object.fromEntries(form))}`
    : typeof body === 'string'
      ? `data=${json(body)}.encode()`
      : `json=${pythonLiteral(body)}`
  const token = `"Authorization": f"Bearer {os.environ['TOOLMOCK_TOKEN']}",`
  return [
    ...(hasToken ? ['import os'] : []),
    'import requests',
    '',
    'response = requests.request(',
    `    ${json(method)},`,
    `    ${json(url)},`,
    ...headerLines('    headers={', hasToken ? token : '', headers),
    ...(body === undefined ? [] : [`    ${bodyCode},`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')
}

/** TypeScript and Python write names, texts and objects of texts alike: as JSON. */
function headerLines(opening: string, token: string, headers: readonly (readonly [string, string])[]): string[] {
  const indent = /^ */.exec(opening)?.[0] ?? ''
  const lines = [...(token === '' ? [] : [token]), ...headers.map(([name, value]) => `${json(name)}: ${json(value)},`)]
  return lines.length === 0 ? [] : [opening, ...lines.map((line) => `${indent}${indent}${line}`), `${indent}},`]
}

function json(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent)
}

function pythonLiteral(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value !== 'object') return json(value)
  const members = Object.entries(value).map(([name, inside]) => `${json(name)}: ${pythonLiteral(inside)}`)
  return `{${members.join(', ')}}`
}
