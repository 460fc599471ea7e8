import { shellQuote } from '../domain/text.ts'
import type { Request } from './api.ts'

/** Headers that curl sends by itself, headers of a connection, and the request id, which the next request gets anew. */
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

/** Headers whose value is masked. A variable of the shell, which the user sets, takes the place of the secret. */
const VARIABLES: Readonly<Record<string, string>> = { authorization: 'Authorization: Bearer $TOOLMOCK_TOKEN' }

/** A command that sends the request again. `base` is the URL of the server, without a slash at its end. */
export function curlOf({ method, path, query, request: { headers, body } }: Request, base: string): string {
  const url = `${base}${path}${searchOf(query)}`
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${shellQuote(url)}`]
  for (const [name, value] of Object.entries(headers)) {
    const variable = VARIABLES[name]
    if (variable !== undefined) parts.push(`-H "${variable}"`)
    else if (!LEFT_OUT.has(name)) parts.push(`-H ${shellQuote(`${name}: ${value}`)}`)
  }
  const isForm = headers['content-type']?.includes('x-www-form-urlencoded') ?? false
  if (isForm && typeof body === 'object' && body !== null) {
    for (const [name, value] of Object.entries(body))
      parts.push(`--data-urlencode ${shellQuote(`${name}=${String(value)}`)}`)
  } else if (body !== null && body !== undefined) {
    parts.push(`--data-raw ${shellQuote(typeof body === 'string' ? body : JSON.stringify(body))}`)
  }
  return parts.join(' \\\n  ')
}

function searchOf(query: Request['query']): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : [value as string]).map((each) => [name, each]),
  )
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
}
