import { setTimeout as pause } from 'node:timers/promises'
import type { AppServices } from '../servers/control/app-services.ts'
import { loadExtensions, loadScenarios, loadSeeds } from '../files/load.ts'
import type { Extension } from '../model/domain/extension.ts'
import { isScenarioPath } from '../model/domain/scenario.ts'
import { BUNDLED } from '../files/package-files.ts'
import { DocumentError } from '../files/problem.ts'
import { textFiles, type TextFile, textsBeside } from '../files/text-files.ts'
import { StartError } from '../model/domain/start-error.ts'
import { restartReplaced } from '../state/collections.ts'
import { monotonicTime } from '../state/model/time-and-ids.ts'
import { type AppOptions, DEFAULT_ENVIRONMENT } from './options.ts'

/** Events of the file system do not reach a container from its host, nor come from a folder that replaces another. */
const POLL_EVERY_MS = 150
/** Between two readings there are so many times as long as one took, up to a limit: large files leave the server its time. */
const [PAUSE_FACTOR, LONGEST_PAUSE_MS] = [20, 2000]

interface Source {
  /** What messages call it: `the seed`. */
  readonly name: string
  /** Files and folders. */
  readonly paths: readonly string[]
  readonly read: (path: string) => Promise<readonly TextFile[]>
  /** Reads and checks all of it, then applies it. @throws DocumentError, StartError */
  reload(): Promise<void>
}

/** Reads seeds, connectors, extensions and scenarios again when their files change, as long as the server runs (`--watch`). */
export async function watchFiles(
  { seeds = [], scenarios: names = [], extensions: extensionFiles = [] }: AppOptions,
  services: AppServices,
): Promise<{ close(): Promise<void> }> {
  const { registry, environments, scenarios, extensions, documentChecks, log } = services
  const extendBy = (read: readonly Extension[]): void => {
    const before = new Map(extensions.all.map((each) => [each.extension, each]))
    extensions.startWith(read)
    for (const environment of registry.environments())
      environment.model.transact(() => {
        for (const each of read) restartReplaced(environment, each, before.get(each.extension))
      })
  }
  const all: Source[] = [
    {
      name: 'the seed',
      paths: seeds.filter((path) => path !== BUNDLED),
      read: async (path) => [...(await textFiles(path)), ...(await textsBeside(path))],
      reload: async () => {
        const seed = await loadSeeds(seeds, documentChecks)
        const read = await loadExtensions({ extensions: extensionFiles, seeds }, documentChecks)
        await environments.reseed(seed, DEFAULT_ENVIRONMENT)
        extendBy(read)
      },
    },
    {
      name: 'the extensions',
      paths: extensionFiles.filter(isScenarioPath),
      read: textFiles,
      reload: async () => extendBy(await loadExtensions({ extensions: extensionFiles, seeds }, documentChecks)),
    },
    {
      name: 'the scenarios',
      paths: names.filter(isScenarioPath),
      read: textFiles,
      reload: async () => {
        const connectors = registry.environment(DEFAULT_ENVIRONMENT)?.connectors ?? new Map<string, undefined>()
        const read = await loadScenarios(names, { checks: documentChecks, connectors, seeds })
        scenarios.redefine(read, registry.environments())
      },
    },
  ]
  const sources = all.filter(({ paths }) => paths.length > 0)
  if (sources.length === 0) {
    log.warn('there is nothing to watch: --watch is about the files that --seed, --scenario and --extension name')
    return { close: () => Promise.resolve() }
  }
  const reloads = await Promise.all(sources.map((source) => reloadTask(source, log)))
  const closed = new AbortController()
  const poll = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      const began = monotonicTime()
      for (const reloadIfChanged of reloads) await reloadIfChanged()
      const wait = Math.max(Math.min(PAUSE_FACTOR * (monotonicTime() - began), LONGEST_PAUSE_MS), POLL_EVERY_MS)
      await pause(wait, undefined, { ref: false, signal: closed.signal }).catch(() => undefined)
    }
  }
  const polling = poll()
  return {
    close: () => {
      closed.abort()
      return polling
    },
  }
}

/** Waits until a text changes no more: editors write in several steps. Unusable files are reported once. */
async function reloadTask(source: Source, log: AppServices['log']): Promise<() => Promise<void>> {
  let applied = await sourceTexts(source)
  let current = applied
  /** The texts that could not be applied. */
  let refused: Texts | undefined
  return async () => {
    const texts = await sourceTexts(source)
    const files = changedFiles(applied, texts)
    const isChanging = changedFiles(current, texts).length > 0
    current = texts
    if (files.length === 0 || isChanging) return
    const { name } = source
    try {
      await source.reload()
      applied = texts
      refused = undefined
      log.info(`reloaded ${name}: ${files.join(', ')}`)
    } catch (error) {
      // Mistakes in the files stay until they are changed. Anything else, such as a disk that refuses, may be over the next time.
      if (error instanceof StartError) applied = texts
      const isKnown = refused && changedFiles(refused, texts).length === 0
      refused = texts
      if (isKnown === true) return
      const stays = name.endsWith('s') ? 'stay as they were' : 'stays as it was'
      const fileNames = files.join(', ')
      if (error instanceof StartError) log.warn(`${name} ${stays}: ${fileNames} cannot be used`)
      else log.warn(`${name}: ${fileNames} could not be applied to every environment; it is tried again`)
      for (const problem of reloadProblems(error)) log.warn(problem)
    }
  }
}

/** By file; a path that cannot be read has the reason in place of a text. */
type Texts = ReadonlyMap<string, string>

async function sourceTexts({ paths, read }: Source): Promise<Texts> {
  const texts = new Map<string, string>()
  for (const path of paths) {
    try {
      for (const { file, text } of await read(path)) texts.set(file, text)
    } catch (error) {
      texts.set(path, String(error))
    }
  }
  return texts
}

function changedFiles(before: Texts, after: Texts): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file))
}

function reloadProblems(error: unknown): string[] {
  if (error instanceof DocumentError) return error.problems.map(({ message }) => message)
  if (error instanceof StartError) return [error.message]
  return [error instanceof Error ? error.message : String(error)]
}
