import { mergeBundles, type SeedBundle } from '../model/domain/seed.ts'
import type { Environment } from './environment.ts'
import type { Baseline } from './model/model.ts'
import { connectorNames } from './seeding.ts'

/** A seed without its clients: those belong to the environment that it is the seed of, and the rest get their own. */
export function withoutClients(seed: SeedBundle): SeedBundle {
  return { ...seed, clients: [] }
}

export function extendedBaseline(
  baseline: Baseline,
  environment: Environment,
  added: { seed: SeedBundle; exact: SeedBundle },
): Baseline {
  return {
    ...baseline,
    seed: mergeBundles([baseline.seed, added.seed]),
    exact: mergeBundles([baseline.exact, added.exact]),
    kept: keptRows(environment, added.exact, baseline.kept),
  }
}

/** On top of an environment made from an earlier one: given identifiers stay, and accounts are not generated again. */
export function changedSeed({ exact }: Baseline, seed: SeedBundle): SeedBundle {
  const identifiers = new Map(exact.providers.map(({ display_name, identifier }) => [display_name, identifier]))
  const providers = seed.providers.map((provider) => {
    const identifier = provider.identifier ?? identifiers.get(provider.display_name)
    return identifier === undefined ? provider : { ...provider, identifier }
  })
  return { ...seed, providers, generate: [] }
}

/** The baseline after the seed that it rests on has changed: what that names is now as it says, the rest stays. */
export function reseededBaseline(
  baseline: Baseline,
  environment: Environment,
  { seed, exact }: { seed: SeedBundle; exact: SeedBundle },
): Baseline {
  const accounts = inPlace(baseline.exact.accounts, exact.accounts, ({ id }) => id)
  const providers = inPlace(baseline.exact.providers, exact.providers, ({ identifier }) => identifier)
  return {
    ...baseline,
    seed: { ...seed, clients: mergeBundles([baseline.seed, seed]).clients },
    exact: { ...mergeBundles([baseline.exact, exact]), accounts, providers },
    kept: keptRows(environment, exact, baseline.kept),
  }
}

/** Items in their former order, those that are named again as they are now, then the new ones. */
function inPlace<T>(before: readonly T[], current: readonly T[], name: (item: T) => unknown): T[] {
  const byName = new Map(current.map((item) => [name(item), item]))
  return [...new Set([...before.map((item) => byName.get(name(item)) ?? item), ...current])]
}

/** The rows that carry the ids of what a seed names: those that were kept before, and those that have come since. */
export function keptRows(
  { model: { tables } }: Environment,
  seed: SeedBundle,
  before: Baseline['kept'] = { connections: [], providers: [] },
): Baseline['kept'] {
  const names = new Set(connectorNames(seed))
  const connections = tables.connections.values().filter(({ key_id }) => names.has(key_id))
  const providers = tables.providers.values().filter(({ identifier }) => names.has(identifier))
  return { connections: unionOf(before.connections, connections), providers: unionOf(before.providers, providers) }
}

function unionOf<T extends { readonly id: string }>(before: readonly T[], current: readonly T[]): T[] {
  const ids = new Set(before.map(({ id }) => id))
  return [...before, ...current.filter(({ id }) => !ids.has(id))]
}
