import { ServiceError } from '../domain/errors.ts'
import type { Corridor } from '../app-services.ts'
import type { Exchange } from './request-context.ts'

/** The answer leaves once everything it rests on is durable. @throws ServiceError STORAGE_UNAVAILABLE (503) */
export function commit(exchange: Exchange, { world }: Corridor): Promise<void> | undefined {
  const pending = world.settled()
  if (pending) return pending.then(() => exchange.footing?.hold()).catch((error: unknown) => refuse(error, exchange))
  try {
    exchange.footing?.hold()
  } catch (error) {
    refuse(error, exchange)
  }
  return undefined
}

function refuse(error: unknown, { trail }: Exchange): never {
  trail.takeBack()
  if (isRefusal(error)) throw error
  const cause = error instanceof Error ? error.message : String(error)
  throw new ServiceError('STORAGE_UNAVAILABLE', `the state could not be written and nothing was changed: ${cause}`)
}

/** An error rests on what was read, as every answer does: that an account is there already, or is not there. */
export async function errorAfterCommit(error: unknown, exchange: Exchange, corridor: Corridor): Promise<unknown> {
  if (isRefusal(error)) exchange.trail.takeBack()
  else {
    try {
      await commit(exchange, corridor)
    } catch (refusal) {
      return refusal
    }
  }
  return error
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.errorCode === 'STORAGE_UNAVAILABLE'
}
