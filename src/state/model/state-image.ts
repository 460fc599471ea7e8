import type { Settings } from '../../domain/settings.ts'
import type { ClockState } from './clock.ts'
import type { IdsState } from './ids.ts'
import type { Rows, TableName } from './model.ts'

/** What an environment is beside its rows. */
export interface EnvironmentRecord {
  settings: Settings
  clock: ClockState
  /** Null when its ids are random. */
  ids: IdsState | null
}

export interface EnvironmentImage extends EnvironmentRecord {
  tables: { [Name in TableName]: readonly Rows[Name][] }
}

/** The whole model at one moment, as the state file holds it (design 1.4). */
export interface StateImage {
  version: 1
  environments: Record<string, EnvironmentImage>
}

/** An object that takes any key, `__proto__` too: environment names come from users. */
export function byName<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const object = Object.create(null) as Record<string, T>
  for (const [name, value] of entries) object[name] = value
  return object
}
