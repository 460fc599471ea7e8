import { signal } from '@preact/signals'
import type { components } from '../../model/contract/generated/control-types.ts'
import { browserJson } from '../../model/domain/json.ts'
import { inEnvironment } from './hash-route.ts'

export type Schemas = components['schemas']
export type Request = Schemas['Request']
export type TimelineEntry = Schemas['TimelineEntry']
export type Explanation = Schemas['Explanation']
export type ListedScenario = Schemas['Scenario']

/** An error that is shown. Its status is that of the answer, or 0 without one. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Set when the server needs the admin token: empty, or what is wrong with the token that was sent. */
export const tokenProblem = signal<string | undefined>(undefined)

/** The key of the admin token in the session storage, which ends with the tab. */
const TOKEN = 'toolmock-admin-token'

export function adminToken(): string | null {
  return sessionStorage.getItem(TOKEN)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token)
  tokenProblem.value = undefined
}

export type Query = Readonly<Record<string, string | number | undefined>>

export interface CallOptions {
  /** With another environment than the one that is shown, or with `undefined` for none. */
  readonly query?: Query
  /** Sent as JSON. A text is a YAML or JSON document, which is sent as it was written. */
  readonly body?: object | string
  readonly signal?: AbortSignal
}

/** The address of a path of the control API, relative to the page at `/_mock/ui`. An empty parameter is left out. */
export function addressOf(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value = '']) => (value === '' ? [] : [[name, String(value)]]))
  const search = new URLSearchParams(pairs).toString()
  return `.${path}${search === '' ? '' : `?${search}`}`
}

/** The URL of the server, without a slash at its end. */
export function serverUrl(): string {
  return new URL('..', location.href).href.replace(/\/$/, '')
}

/** One call of the control API, in the environment that is shown unless its query says otherwise. @throws ApiError */
async function openResponse(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, signal = null } = options
  const token = adminToken()
  const headers = {
    ...(token !== null && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': typeof body === 'string' ? 'application/yaml' : 'application/json' }),
  }
  const bodyText = typeof body === 'object' ? JSON.stringify(body) : (body ?? null)
  const address = addressOf(path, { ...inEnvironment(), ...query })
  const response = await fetch(address, { method, headers, body: bodyText, signal }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The server cannot be reached.')
  })
  if (response.ok) return response
  throw refusal(await errorOf(response))
}

/** An error of the server; one of the admin token asks for it. */
export function refusal(error: ApiError): ApiError {
  if (error.status === 401) tokenProblem.value = adminToken() === null ? '' : 'This is not the admin token.'
  return error
}

export async function call<T>(method: string, path: string, options?: CallOptions): Promise<T> {
  const response = await openResponse(method, path, options)
  return browserJson(await response.text()) as T
}

/** Saves content as a file in the browser. */
export function saveAs(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the address later, so it is revoked with a delay.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Saves the answer of a call as a file. A link cannot send the admin token. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  const response = await openResponse('GET', path, { query })
  saveAs(await response.blob(), name)
}

async function errorOf(response: Response): Promise<ApiError> {
  const answer = browserJson(await response.text()) as Partial<Schemas['Error']> | undefined
  return new ApiError(response.status, answer?.error?.message ?? `The server answered ${response.status}.`)
}
