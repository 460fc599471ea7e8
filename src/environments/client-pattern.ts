import { createHash } from 'node:crypto'
import type { Client } from '../domain/client.ts'
import { matchesGlob } from '../domain/glob.ts'
import { isSameSecret } from '../domain/secret.ts'
import { isClientPattern, type SeedBundle } from '../domain/seed.ts'

const LONGEST_NAME = 64

/** The first client id pattern of a seed that fits both the id and the secret. */
export function fittingPattern({ clients }: SeedBundle, id: string, secret: string): Client | undefined {
  return clients.find(
    (client) => isClientPattern(client.id) && matchesGlob(client.id, id) && isSameSecret(secret, client.client_secret),
  )
}

/**
 * The name of the environment that a client id asks for: the id itself, with everything that a name cannot hold replaced.
 * Where that is not the id any more, or the name is taken, a mark made of the id keeps two ids apart.
 */
export function environmentNameFor(clientId: string, isTaken: (name: string) => boolean): string {
  const plain = clientId.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, LONGEST_NAME)
  if (plain === clientId && !isTaken(plain)) return plain
  const mark = createHash('sha256').update(clientId.toWellFormed()).digest('hex').slice(0, 8)
  return `${plain.slice(0, LONGEST_NAME - mark.length - 1)}-${mark}`
}
