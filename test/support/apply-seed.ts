import type { ThirdParty } from '../../src/domain/ports.ts'
import type { SeedBundle } from '../../src/domain/seed.ts'
import type { Environment } from '../../src/state/environment.ts'
import { putSeed, seedExpander } from '../../src/state/seeding.ts'

/** Puts a checked seed into an environment, in one transaction. */
export async function applySeed(environment: Environment, thirdParty: ThirdParty, bundle: SeedBundle): Promise<void> {
  const expand = await seedExpander(bundle)
  environment.model.transact(() => {
    putSeed(environment, thirdParty, expand(environment))
  })
}
