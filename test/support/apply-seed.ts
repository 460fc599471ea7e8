import type { ThirdParty } from '../../src/model/domain/ports.ts'
import type { SeedBundle } from '../../src/model/domain/seed.ts'
import type { Environment } from '../../src/state/environment.ts'
import { expandSeed, fakerFor, putSeed } from '../../src/state/seeding.ts'

/** Puts a checked seed into an environment, in one transaction. */
export async function applySeed(environment: Environment, thirdParty: ThirdParty, bundle: SeedBundle): Promise<void> {
  const faker = await fakerFor(bundle)
  environment.model.transact(() => {
    putSeed(environment, thirdParty, expandSeed(environment, bundle, faker))
  })
}
