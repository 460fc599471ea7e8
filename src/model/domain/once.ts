import { ServiceError } from './errors.ts'

/** A function that calls `load` once and keeps what it resolves to. A failure is not kept: the next call tries again. */
export function once<T>(load: () => Promise<T>): Once<T> {
  let pending: Promise<T> | undefined
  const get: Once<T> = () => {
    pending ??= load().then(
      (value) => (get.loaded = value),
      (error: unknown) => {
        pending = undefined
        throw error
      },
    )
    return pending
  }
  return get
}

export interface Once<T> {
  (): Promise<T>
  /** What it has resolved to, for code that does not wait. */
  loaded?: T
}

/** Node.js keeps a failed read of a module for every later import. @throws ServiceError STORAGE_UNAVAILABLE (503) */
export function lazyImport<T>(load: () => Promise<T>): Once<T> {
  return once(async () => {
    try {
      return await load()
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
      const message = `a part of toolmock could not be loaded: ${error.message}; nothing was changed; a restart loads it`
      throw new ServiceError('STORAGE_UNAVAILABLE', message)
    }
  })
}
