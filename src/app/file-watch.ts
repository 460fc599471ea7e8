import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Editors write in several steps; what they do within this time is one change. */
const PAUSE_MS = 60

/**
 * Tells when files, or anything in folders, may have changed. Folders are watched, never files: editors put another file in
 * place of the one that is watched. Whoever is told has to look what changed, if anything.
 */
export class FileWatch {
  readonly #paths: readonly string[]
  readonly #changed: () => void
  readonly #failed: (reason: string) => void
  readonly #watchers = new Map<string, { watcher: FSWatcher; inode: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(paths: readonly string[], told: { changed: () => void; failed: (reason: string) => void }) {
    this.#paths = paths.map((path) => resolve(path))
    this.#changed = told.changed
    this.#failed = told.failed
    this.#follow()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Watches every folder there is by now: those in a watched folder, and what came in the place of one that went. */
  #follow(): void {
    const wanted = new Map<string, Set<string> | undefined>()
    for (const path of this.#paths) {
      // Where a path stands is watched as well, for it may go and come again.
      const beside = wanted.get(dirname(path))
      if (beside || !wanted.has(dirname(path))) wanted.set(dirname(path), (beside ?? new Set()).add(basename(path)))
      for (const folder of foldersIn(path)) wanted.set(folder, undefined)
    }
    for (const [folder, { watcher, inode }] of this.#watchers) {
      if (wanted.has(folder) && inodeOf(folder) === inode) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const [folder, names] of wanted) if (!this.#watchers.has(folder)) this.#watch(folder, names)
  }

  /** `names`: what in the folder matters; everything when absent. */
  #watch(folder: string, names: ReadonlySet<string> | undefined): void {
    const inode = inodeOf(folder)
    if (inode === undefined) return
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || (names?.has(name) ?? true)) this.#touch()
      })
      watcher.on('error', () => {
        this.#touch()
      })
      this.#watchers.set(folder, { watcher, inode })
    } catch (error) {
      this.#failed(`${folder} cannot be watched (${error instanceof Error ? error.message : String(error)})`)
    }
  }

  /** Not put off by further events: a folder in which something is written all the time would never be looked at. */
  #touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#follow()
      this.#changed()
    }, PAUSE_MS).unref()
  }
}

/** A folder and all folders in it; none for a file. */
function foldersIn(path: string): string[] {
  try {
    const inside = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    return [path, ...inside.flatMap((entry) => foldersIn(join(path, entry.name)))]
  } catch {
    return []
  }
}

function inodeOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.ino
}
