import type { Settings } from '../../src/domain/settings.ts'
import { BoundedCache } from '../../src/domain/bounded-cache.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.ts'
import type { Instant } from '../../src/domain/instant.ts'
import { milliseconds } from '../../src/domain/instant.ts'
import type { Connector } from '../../src/domain/connector.ts'
import { EnvironmentClock } from '../../src/state/model/clock.ts'
import type { Environment } from '../../src/state/environment.ts'
import { SeededIds } from '../../src/state/model/ids.ts'
import { Model } from '../../src/state/model/model.ts'

/** An environment with a clock that the test moves. */
export interface TestEnvironment extends Environment {
  readonly clock: EnvironmentClock
}

export interface TestEnvironmentOptions {
  name?: string
  /** Where the frozen clock stands; 2026-01-01T00:00:00.000Z when absent. */
  now?: Instant
  /** Seed of the ids; 1 when absent. */
  seed?: number
  settings?: Partial<Settings>
  connector?: (model: Model, keyId: string) => Connector | undefined
}

/** An environment in memory: a frozen clock, seeded ids, and connectors from the rows of its model. */
export function testEnvironment(options: TestEnvironmentOptions = {}): TestEnvironment {
  const { name = 'default', now = '2026-01-01T00:00:00.000Z', seed = 1 } = options
  const model = new Model(() => undefined)
  const resolve = options.connector ?? ((of, keyId) => of.tables.connectors.get(keyId))
  return {
    name,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    clock: new EnvironmentClock(() => milliseconds(now), { offset_ms: 0, frozen_at: now }),
    ids: new SeededIds(name, { seed, position: 0 }),
    model,
    rollbacks: 0,
    renewals: new Map(),
    details: new BoundedCache(16),
    connector: (keyId) => resolve(model, keyId),
  }
}
