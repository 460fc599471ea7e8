import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
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

/** Counts changes of the environment that is shown. Views load their data again when it changes. */
export const changes = signal(0)

/** A call that changes something: views load their data again, before the stream says so. */
export async function change<T>(method: string, path: string, options?: CallOptions): Promise<T> {
  const answer = await call<T>(method, path, options)
  changes.value++
  return answer
}

interface ApiResult<T> {
  /** The last answer, which stays while the next call is under way. */
  readonly value?: T | undefined
  readonly error?: ApiError | undefined
}

/** Reads a path of the control API, and reads it again after each change of the environment. A null path makes no call. */
export function useApi<T>(path: string | null, query: Query = {}): ApiResult<T> {
  const key = path === null ? '' : JSON.stringify([path, { ...inEnvironment(), ...query }])
  return useReading(key, (signal) => call<T>('GET', path ?? '', { query, signal }))
}

/**
 * Reads for each new key that is not empty, and again after each change of the environment. A change waits for the end of the
 * reading that is under way: under load there is one every second, and each would abort what takes the server longer.
 */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): ApiResult<T> {
  const [state, setState] = useState<ApiResult<T> & { readonly key: string }>({ key })
  const failed = (error: unknown): void => {
    if (error instanceof ApiError) setState((before) => ({ ...(before.key === key ? before : {}), key, error }))
  }
  useEffect(() => {
    if (key === '') return undefined
    const stop = new AbortController()
    let lastVersion: number | undefined
    let underWay: Promise<unknown> = Promise.resolve()
    const unsubscribe = changes.subscribe(() => {
      underWay = underWay.then(() => {
        if (lastVersion === changes.value) return undefined
        lastVersion = changes.value
        return read(stop.signal).then((value) => setState({ key, value }), failed)
      })
    })
    return () => {
      unsubscribe()
      stop.abort()
    }
  }, [key])
  return state.key === key ? state : {}
}

/** Starts work once its inputs have not changed for a while; the next change aborts it. */
export function useDelayed(
  work: (signal: AbortSignal) => void,
  milliseconds: number,
  inputs: readonly unknown[],
): void {
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => work(stop.signal), milliseconds)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, inputs)
}

/** A path of the control API with ids and names in it. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** Runs the action of a button, with whether it is under way and why it failed. */
export function useAction(): {
  readonly busy: boolean
  readonly error?: ApiError
  readonly run: (work: () => unknown) => void
} {
  const [state, setState] = useState<{ busy: boolean; error?: ApiError }>({ busy: false })
  const run = (work: () => unknown): void => {
    setState({ busy: true })
    Promise.resolve()
      .then(work)
      .then(() => setState({ busy: false }))
      .catch((error: unknown) => {
        const apiError = error instanceof ApiError ? error : new ApiError(0, String(error))
        setState({ busy: false, error: apiError })
      })
  }
  return { ...state, run }
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
