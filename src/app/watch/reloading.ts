import { DocumentError } from '../../documents/problem.ts'
import { textFiles } from '../../documents/seed-files.ts'
import { StartError } from '../../domain/start-error.ts'
import { FileWatch } from './file-watch.ts'

/** Something that was read from files and is read again when they change. */
export interface Source {
  /** What messages call it: `the seed`. */
  readonly name: string
  /** Files and folders. */
  readonly paths: readonly string[]
  /** Reads and checks all of it, and answers what applies it. @throws DocumentError, StartError */
  prepare(): Promise<() => Promise<void>>
}

/** The part of a log that a reload writes to. */
export interface ReloadLog {
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
}

export interface Reloading {
  close(): Promise<void>
}

/** Watches what was read from files, and applies it again when it changes (`--watch`). */
export async function startReloading(sources: readonly Source[], log: ReloadLog): Promise<Reloading> {
  const watched = await Promise.all(
    sources.map(async (source) => new WatchedSource(source, await textsOf(source), log)),
  )
  let running = Promise.resolve()
  const changed = (): void => {
    running = running.then(async () => {
      for (const source of watched) await source.look()
    })
  }
  const paths = sources.flatMap((source) => source.paths)
  const watch = new FileWatch(paths, { changed, failed: (reason) => log.warn(reason) })
  // What changed between the start and here is seen as well.
  changed()
  return {
    close: () => {
      watch.close()
      return running
    },
  }
}

class WatchedSource {
  readonly #source: Source
  readonly #log: ReloadLog
  #texts: Texts

  constructor(source: Source, texts: Texts, log: ReloadLog) {
    this.#source = source
    this.#texts = texts
    this.#log = log
  }

  /** Applies the files anew when their text is another one; a bad one is told once, and what there is stays. */
  async look(): Promise<void> {
    const texts = await textsOf(this.#source)
    const files = differing(this.#texts, texts)
    if (files.length === 0) return
    this.#texts = texts
    try {
      const apply = await this.#source.prepare()
      await apply()
      this.#log.info(`reloaded ${this.#source.name}: ${files.join(', ')}`)
    } catch (error) {
      this.#log.warn(`${this.#source.name} stays as it was: ${files.join(', ')} cannot be used`)
      for (const problem of problemsOf(error)) this.#log.warn(problem)
    }
  }
}

/** By file; a path that cannot be read has the reason in place of a text. */
type Texts = ReadonlyMap<string, string>

async function textsOf({ paths }: Source): Promise<Texts> {
  const texts = new Map<string, string>()
  for (const path of paths) {
    try {
      for (const { file, text } of await textFiles(path)) texts.set(file, text)
    } catch (error) {
      texts.set(path, String(error))
    }
  }
  return texts
}

function differing(before: Texts, after: Texts): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file))
}

function problemsOf(error: unknown): string[] {
  if (error instanceof DocumentError) return error.problems.map(({ message }) => message)
  if (error instanceof StartError) return [error.message]
  return [error instanceof Error ? error.message : String(error)]
}
