import type { SeedAccount, SeedBundle, SeedGenerate } from '../../domain/seed.ts'
import type { Environment } from '../environment.ts'

/**
 * Makes the accounts that a seed's `generate` asks for, with identifiers of invented people that nobody in the environment or
 * the seed has. The same ids give the same people.
 */
export async function accountGenerator(): Promise<(bundle: SeedBundle, environment: Environment) => SeedAccount[]> {
  const { faker } = await import('@faker-js/faker/locale/en')
  return (bundle, environment) => {
    const taken = new Set([...environment.model.tables.accounts.values(), ...bundle.accounts].map(placeName))
    // The library's instance is shared by the whole process: seeded here, used up before anybody else can run.
    faker.seed(environment.ids.number())
    const person = (): string => `${plain(faker.person.firstName())}.${plain(faker.person.lastName())}`
    return bundle.generate.flatMap((generate) =>
      Array.from({ length: generate.accounts }, () => account(generate, person(), taken)),
    )
  }
}

/** `example.com` is nobody's (RFC 2606); whoever shares a name gets a number, as in real directories. */
function account(generate: SeedGenerate, person: string, taken: Set<string>): SeedAccount {
  const { connector, organization_id, user_id, status } = generate
  for (let number = 1; ; number++) {
    const identifier = `${person}${number === 1 ? '' : String(number)}@example.com`
    const candidate: SeedAccount = { connector, identifier, organization_id, user_id, status, api_config: {} }
    const name = placeName(candidate)
    if (taken.has(name)) continue
    taken.add(name)
    return candidate
  }
}

type Placed = Pick<SeedAccount, 'connector' | 'identifier' | 'organization_id' | 'user_id'>

function placeName({ connector, identifier, organization_id, user_id }: Placed): string {
  return JSON.stringify([connector, identifier, organization_id, user_id])
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '')
}
