import { ServiceError } from '../domain/errors.ts'
import type { Corridor } from './step.ts'
import type { Exchange } from './exchange.ts'

/** The answer leaves once everything it rests on is durable. @throws ServiceError STORAGE_UNAVAILABLE (503) */
export async function commit({ trail }: Exchange, { world }: Corridor): Promise<void> {
  try {
    await world.settled()
  } catch (error) {
    trail.takeBack()
    const cause = error instanceof Error ? error.message : String(error)
    throw new ServiceError('STORAGE_UNAVAILABLE', `the state could not be written and nothing was changed: ${cause}`)
  }
}
