import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, call, type CallOptions } from './api.ts'
import { changes } from './live.ts'
import { ALL, environment, route } from './hash-route.ts'

interface ApiResult<T> {
  /** The last answer, which stays while the next call is under way. */
  readonly value: T | undefined
  readonly error: ApiError | undefined
  readonly reload: () => void
}

/** The environment of the open request, else the one that is shown, as a parameter of a call; empty while all are shown. */
export function inEnvironment(): { environment?: string } {
  const name = route.value.parameters['in'] ?? environment.value
  return name === ALL ? {} : { environment: name }
}

/**
 * Reads a path of the control API in the environment that is shown, and reads it again after each change of the environment. A
 * null path makes no call.
 */
export function useApi<T>(
  path: string | null,
  query: Readonly<Record<string, string | number | undefined>> = {},
): ApiResult<T> {
  const callKey = path === null ? '' : JSON.stringify([path, { ...inEnvironment(), ...query }])
  const [state, setState] = useState<{ callKey: string; value?: T; error?: ApiError }>({ callKey })
  const [round, setRound] = useState(0)
  const changed = changes.value
  useEffect(() => {
    if (callKey === '') return
    const [to, parameters] = JSON.parse(callKey) as [string, Record<string, string>]
    const stop = new AbortController()
    call<T>('GET', to, { query: parameters, signal: stop.signal })
      .then((value) => setState({ callKey, value }))
      .catch((error: unknown) => {
        if (error instanceof ApiError)
          setState((before) => ({ ...(before.callKey === callKey ? before : {}), callKey, error }))
      })
    return () => stop.abort()
  }, [callKey, round, changed])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  const current = state.callKey === callKey ? state : undefined
  return { value: current?.value, error: current?.error, reload }
}

/** A path of the control API with ids and names in it. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** Runs the action of a button, with whether it is under way and why it failed. */
export function useAction(): {
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly run: (work: () => Promise<void>) => void
  /** Makes a call in the environment that is shown, unless its query names another, and then `done`. */
  readonly send: (method: string, path: string, options?: CallOptions, done?: () => void) => void
} {
  const [state, setState] = useState<{ busy: boolean; error?: ApiError }>({ busy: false })
  const run = useCallback((work: () => Promise<void>) => {
    setState({ busy: true })
    work()
      .then(() => setState({ busy: false }))
      .catch((error: unknown) => {
        const known = error instanceof ApiError ? error : new ApiError(0, 'UNKNOWN', String(error))
        setState({ busy: false, error: known })
      })
  }, [])
  const send = (method: string, path: string, options: CallOptions = {}, done?: () => void): void =>
    run(async () => {
      await call(method, path, { query: inEnvironment(), ...options })
      done?.()
    })
  return { busy: state.busy, error: state.error, run, send }
}
