import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { ServiceError } from './domain/errors.ts'
import { once } from './domain/once.ts'

/** File descriptors that have to be free: a module and what it imports are open at the same time. */
const NEEDED = 32

/**
 * A module that a running server imports when it is first needed. Node.js keeps a failed read of a module as the answer to
 * every later import of it. So the import waits for its turn: nothing is imported while files cannot be opened.
 * @throws ServiceError STORAGE_UNAVAILABLE (503) with the file and the reason
 */
export function lazyImport<T>(load: () => Promise<T>): () => Promise<T> {
  return once(async () => {
    try {
      assertDescriptors()
      return await load()
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
      const message = `a part of toolmock could not be loaded: ${error.message}; nothing was changed`
      throw new ServiceError('STORAGE_UNAVAILABLE', message)
    }
  })
}

/** @throws the error of the operating system when too few are free */
function assertDescriptors(): void {
  const open: number[] = []
  try {
    while (open.length < NEEDED) open.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of open) closeSync(descriptor)
  }
}
