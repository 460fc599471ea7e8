import type { JsonObject } from '../../domain/json.ts'

/** The version of the state files that this toolmock writes. */
export const STATE_VERSION = 1

/** Makes a state of the next version out of one that a journal has been folded into. */
export type Migration = (state: JsonObject) => JsonObject

/** By the version that they start from. There is none: version 1 is the first. A new version adds a line here. */
export const MIGRATIONS: ReadonlyMap<number, Migration> = new Map()

/** Whether there is a way from this version to the present one. */
export function isMigratable(version: unknown, migrations: ReadonlyMap<number, Migration>): version is number {
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version >= STATE_VERSION) return false
  for (let from = version; from < STATE_VERSION; from++) if (!migrations.has(from)) return false
  return true
}

/** Takes a state to the present version, step by step. */
export function migrated(state: JsonObject, migrations: ReadonlyMap<number, Migration>): JsonObject {
  let current = state
  for (let from = Number(state['version']); from < STATE_VERSION; from++) {
    const migrate = migrations.get(from)
    if (migrate) current = { ...migrate(current), version: from + 1 }
  }
  return current
}
