import type { Instant } from '../../src/model/domain/instant.ts'
import { milliseconds } from '../../src/model/domain/instant.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../src/model/domain/settings.ts'
import { Environment } from '../../src/state/environment.ts'

export interface TestEnvironmentOptions {
  name?: string
  /** The time of the frozen clock; 2026-01-01T00:00:00.000Z when absent. */
  now?: Instant
  /** Seed of the ids; 1 when absent. */
  seed?: number
  settings?: Partial<Settings>
}

/** An environment with a clock that the test moves. */
export type TestEnvironment = Environment

/** An environment in memory: a frozen clock that the test moves, and seeded ids. */
export function testEnvironment(options: TestEnvironmentOptions = {}): Environment {
  const { name = 'default', now = '2026-01-01T00:00:00.000Z', seed = 1, settings } = options
  return new Environment({
    name,
    basics: {
      settings: { ...DEFAULT_SETTINGS, ...settings },
      clock: { offset_ms: 0, frozen_at: now },
      ids: { seed, position: 0 },
    },
    time: () => milliseconds(now),
  })
}
