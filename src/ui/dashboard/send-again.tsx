import { shellQuote } from '../../model/domain/text.ts'
import { useState } from 'preact/hooks'
import { ApiError, call, type Request, type Schemas, serverUrl } from './api.ts'
import { Dialog, Field, Form } from './controls.tsx'
import { closeItem, go, route } from './hash-route.ts'

export function Edit({ request, close: end }: Readonly<{ request: Request; close: () => void }>) {
  const { body: original } = request.request
  const [path, setPath] = useState(urlOf(request, ''))
  const [body, setBody] = useState(
    typeof original === 'object' && original !== null && !formOf(request)
      ? JSON.stringify(original, null, 2)
      : bodyOf(request),
  )
  return (
    <Dialog title="Edit and send" onClose={end}>
      <Form label="Send" disabled={!path.startsWith('/')} submit={() => sendAgain(request, path, body)}>
        <Field label={`${request.method} to`} autofocus value={path} onInput={setPath} />
        {body !== undefined && <Field label="Body" rows={12} value={body} onInput={setBody} />}
        <p class="quiet">A masked secret is sent as it is shown: replace it.</p>
      </Form>
    </Dialog>
  )
}

/**
 * Sends a request as the client did, with a new bearer token where it had one, and opens the new request. The page compares it
 * with this one on demand.
 */
export async function sendAgain(request: Request, path = urlOf(request, ''), body = bodyOf(request)): Promise<void> {
  const { method } = request
  const hasToken = request.request.headers['authorization'] !== undefined
  const headers = { ...headersOf(request), ...(hasToken && { Authorization: `Bearer ${await newToken()}` }) }
  const isBodyless = body === undefined || method === 'GET' || method === 'HEAD'
  const answer = await fetched(`${serverUrl()}${path}`, { method, headers, ...(isBodyless ? {} : { body }) })
  const id = answer.headers.get('x-request-id')
  if (id === null) closeItem()
  else go('timeline', id, { ...route.value.parameters, tab: 'answer' })
}

/** A token of the first client of the environment. The journal masks the one of the request. */
async function newToken(): Promise<string> {
  const variables = await call<Schemas['Variables']>('GET', '/env', { query: { format: 'json' } })
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: variables.TOOLMOCK_CLIENT_ID,
    client_secret: variables.TOOLMOCK_CLIENT_SECRET,
  })
  const answer = await fetched(`${serverUrl()}/oauth/token`, { method: 'POST', body })
  const { access_token: token } = (await answer.json().catch(() => ({}))) as { access_token?: string }
  if (token === undefined) throw new ApiError(answer.status, `The token endpoint answered ${answer.status}.`)
  return token
}

function fetched(url: string, options: RequestInit): Promise<Response> {
  return fetch(url, options).catch(() => {
    throw new ApiError(0, 'There was no answer: the connection ended. The timeline has the request.')
  })
}

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
function headersOf({ request: { headers } }: Pick<Sent, 'request'>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name) && name !== 'authorization'))
}

function urlOf({ path, query }: Pick<Sent, 'path' | 'query'>, base: string): string {
  const parameters = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each]))
  return `${base}${path}${parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`}`
}

/** The fields of a body that is a form. */
function formOf({ request: { headers, body } }: Pick<Sent, 'request'>): [string, string][] | undefined {
  const isForm = headers['content-type']?.includes('x-www-form-urlencoded') ?? false
  if (!isForm || typeof body !== 'object' || body === null) return undefined
  return Object.entries(body).map(([name, value]) => [name, String(value)])
}

/** The body as text; undefined for none. */
function bodyOf(exchange: Pick<Sent, 'request'>): string | undefined {
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
