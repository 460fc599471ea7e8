import { documentChecks } from './document-checks.ts'
import { BUNDLED, loadSeeds } from '../documents/load-seeds.ts'
import { isPath, loadScenarios } from '../documents/load-scenarios.ts'
import type { Environments } from '../environments/environments.ts'
import type { ScenarioDirectory } from '../scenarios/directory.ts'
import { knownConnectors } from '../scenarios/known-connectors.ts'
import type { AppOptions } from './options.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import type { ReloadLog, Reloading, Source } from './watch/reloading.ts'

interface Reloadable {
  readonly registry: EnvironmentRegistry
  readonly environments: Environments
  readonly directory: ScenarioDirectory
  /** Whose clients a seed's clients are, and whose connectors a scenario of the start is about. */
  readonly defaultEnvironment: string
}

/** Reads seeds, connectors and scenarios again when their files change, as long as the server runs (`--watch`). */
export async function watchFiles(
  options: AppOptions,
  reloadable: Reloadable,
  log: ReloadLog,
): Promise<Reloading | undefined> {
  const sources = [seedSource(options, reloadable), scenarioSource(options, reloadable)].filter(
    ({ paths }) => paths.length > 0,
  )
  if (sources.length === 0) {
    log.warn('there is nothing to watch: --watch is about the files that --seed and --scenario name')
    return undefined
  }
  const { startReloading } = await import('./watch/reloading.ts')
  return startReloading(sources, log)
}

function seedSource(options: AppOptions, { environments, defaultEnvironment }: Reloadable): Source {
  const { seeds = [], allowOutbound } = options
  return {
    name: 'the seed',
    paths: seeds.filter((path) => path !== BUNDLED),
    prepare: async () => {
      const seed = await loadSeeds(seeds, documentChecks(allowOutbound))
      return () => environments.reseed(seed, defaultEnvironment)
    },
  }
}

function scenarioSource(options: AppOptions, { registry, directory, defaultEnvironment }: Reloadable): Source {
  const { scenarios = [], allowOutbound } = options
  return {
    name: 'the scenarios',
    paths: scenarios.filter(isPath),
    prepare: async () => {
      const environment = registry.environment(defaultEnvironment)
      const connectors = environment ? knownConnectors(environment) : new Map<string, undefined>()
      const read = await loadScenarios(scenarios, { checks: documentChecks(allowOutbound), connectors })
      return () => {
        directory.redefine(read, registry.environments())
        return Promise.resolve()
      }
    },
  }
}
