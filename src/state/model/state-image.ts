import type { Sections, Snapshot } from '../../model/domain/generated/tables.ts'

/** What an environment is beside its rows. Its `ids` are null when they are random. */
export type EnvironmentBasics = Pick<Snapshot, 'settings' | 'clock' | 'ids'>

/** The service's state in one environment: what `GET /_mock/state` shows and a snapshot holds. */
export type EnvironmentImage = Omit<Snapshot, 'id' | 'taken_at'>

/** An environment as the state file holds it: with the sections beside the tables. */
export type StoredImage = EnvironmentImage & Sections

/** The version of the state files that this toolmock writes. */
export const STATE_VERSION = 3

export interface StateContent {
  /** How many ids of requests were given out from each seeded sequence, by its use; absent when there is none. */
  request_ids?: Readonly<Record<string, number>> | undefined
  environments: Record<string, StoredImage>
}

export interface StateImage extends StateContent {
  /** Random. A log that names another state does not belong to this file. */
  state_id: string
  /** The file holds what the logs below this generation say; those from it on follow it. */
  generation: number
}

/** An object that takes any key, `__proto__` too: environment names come from users. */
export function byName<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries))
}
