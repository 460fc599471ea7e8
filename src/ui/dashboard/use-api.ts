import { useEffect, useState } from 'preact/hooks'
import { ApiError, call, type Query } from './api.ts'
import { changes } from './live.ts'
import { inEnvironment } from './hash-route.ts'

interface ApiResult<T> {
  /** The last answer, which stays while the next call is under way. */
  readonly value?: T | undefined
  readonly error?: ApiError | undefined
}

/** Reads a path of the control API, and reads it again after each change of the environment. A null path makes no call. */
export function useApi<T>(path: string | null, query: Query = {}): ApiResult<T> {
  const callKey = path === null ? '' : JSON.stringify([path, { ...inEnvironment(), ...query }])
  const [state, setState] = useState<ApiResult<T> & { readonly callKey: string }>({ callKey })
  useReading(callKey, (signal) =>
    call<T>('GET', path ?? '', { query, signal })
      .then((value) => setState({ callKey, value }))
      .catch((error: unknown) => {
        if (error instanceof ApiError)
          setState((before) => ({ ...(before.callKey === callKey ? before : {}), callKey, error }))
      }),
  )
  return state.callKey === callKey ? state : {}
}

/**
 * Reads for each new key that is not empty, and again after each change of the environment. A change waits for the end of the
 * reading that is under way: under load there is one every second, and each would abort what takes the server longer.
 */
export function useReading(key: string, read: (signal: AbortSignal) => Promise<unknown>): void {
  useEffect(() => {
    if (key === '') return undefined
    const stop = new AbortController()
    let lastVersion: number | undefined
    let underWay: Promise<unknown> = Promise.resolve()
    const unsubscribe = changes.subscribe(() => {
      underWay = underWay.then(() => {
        if (lastVersion === changes.value) return undefined
        lastVersion = changes.value
        return read(stop.signal)
      })
    })
    return () => {
      unsubscribe()
      stop.abort()
    }
  }, [key])
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
