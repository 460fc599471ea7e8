import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Editors write in several steps; steps within this time are one change. */
const PAUSE_MS = 60

/**
 * Calls `changed` when files, or anything in folders, may have changed; it does not say what. It watches folders and never
 * files, because editors replace a file by another one.
 */
export class FileWatch {
  readonly #paths: readonly string[]
  readonly #changed: () => void
  readonly #failed: (reason: string) => void
  readonly #watchers = new Map<string, { watcher: FSWatcher; inode: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(paths: readonly string[], callbacks: { changed: () => void; failed: (reason: string) => void }) {
    this.#paths = paths.map((path) => resolve(path))
    this.#changed = callbacks.changed
    this.#failed = callbacks.failed
    this.#follow()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Watches every folder that exists now: new ones inside watched folders, and those that replaced a removed one. */
  #follow(): void {
    const wanted = new Map<string, Set<string> | undefined>()
    for (const path of this.#paths) {
      // The folder around a path is watched too, because the path may be removed and created again.
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

  /** `names`: the files of the folder that matter; all when absent. */
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

  /** Further events do not restart the timer: constant writing in a folder would delay the reload for ever. */
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
