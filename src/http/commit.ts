import { ServiceError } from '../domain/errors.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'

/** The answer leaves once everything it rests on is durable. @throws ServiceError STORAGE_UNAVAILABLE (503) */
export function commit(context: RequestContext, { registry }: AppServices): Promise<void> | undefined {
  const pending = registry.durable()
  if (pending) return pending.then(() => context.readGuard?.hold()).catch((error: unknown) => refuse(error, context))
  try {
    context.readGuard?.hold()
  } catch (error) {
    refuse(error, context)
  }
  return undefined
}

function refuse(error: unknown, { trace }: RequestContext): never {
  trace.markRolledBack()
  if (isRefusal(error)) throw error
  const cause = error instanceof Error ? error.message : String(error)
  throw new ServiceError('STORAGE_UNAVAILABLE', `the state could not be written and nothing was changed: ${cause}`)
}

/** An error rests on what was read, as every answer does: that an account is there already, or is not there. */
export async function errorAfterCommit(
  error: unknown,
  context: RequestContext,
  services: AppServices,
): Promise<unknown> {
  if (isRefusal(error)) context.trace.markRolledBack()
  else {
    try {
      await commit(context, services)
    } catch (refusal) {
      return refusal
    }
  }
  return error
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.errorCode === 'STORAGE_UNAVAILABLE'
}
