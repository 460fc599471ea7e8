import { createPrivateKey } from 'node:crypto'
import { isBaseUrl } from '../domain/base-url.ts'
import { type CollectionItem, placeId } from '../domain/collection.ts'
import { isClockTime, milliseconds } from '../domain/instant.ts'
import { isJsonObject } from '../domain/json.ts'

/* What JSON Schema cannot say of a row; `.build/generate/tables.ts` knows the type that each function accepts. */

/** Deeper than a request body may nest, and shallow enough to be written without exhausting the stack. */
export const MAX_DEPTH = 1000

export function isStorableObject(value: unknown): boolean {
  return isJsonObject(value) && !isDeeper(value, MAX_DEPTH)
}

function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  return Object.values(value).some(
    (inside: unknown) => typeof inside === 'object' && inside !== null && isDeeper(inside, levels - 1),
  )
}

export function isPlainObject(value: unknown): boolean {
  return isJsonObject(value)
}

export function isAnyJson(value: unknown): boolean {
  return value !== undefined
}

export function isMapOfTexts(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string')
}

export function isScenario(value: unknown): boolean {
  return isJsonObject(value) && Array.isArray(value['rules'])
}

export function isTimeOfClock(at: string): boolean {
  return isClockTime(milliseconds(at))
}

export function isUrlOfServer(url: string): boolean {
  return isBaseUrl(url)
}

export function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

/** Whether the id of an item consists of what it names. */
export function hasIdOfItsPlace(row: CollectionItem): boolean {
  return row.id.startsWith(`${placeId(row)}/`)
}

/** Whether credentials are of one authorization type (2.2). */
export function hasOneKind(credentials: object): boolean {
  return Object.keys(credentials).length <= 1
}
