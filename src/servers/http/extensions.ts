import type { ExtensionName } from '../../model/contract/shapes.ts'
import { type Extension, servesPath } from '../../model/domain/extension.ts'
import { METHODS, pathParts } from '../../model/domain/path-pattern.ts'

export interface ExtensionRoute {
  readonly operation: ExtensionName
  readonly bearer: true
  readonly method: string
  readonly path: string
  readonly extension: Extension
}

const NONE: readonly Extension[] = []

/** The extensions of a server, which serves them in all of its environments; none with `--documented-only`. */
export class Extensions {
  readonly #isOff: boolean
  #ofStart: readonly Extension[] = []
  #all: readonly Extension[] = []

  constructor(extensions: readonly Extension[], { documentedOnly }: { documentedOnly: boolean }) {
    this.#isOff = documentedOnly
    this.startWith(extensions)
  }

  /** The extensions of the start, or those that were read again (`--watch`), in place of the former ones. */
  startWith(extensions: readonly Extension[]): void {
    const names = extensions.map(({ extension }) => extension)
    const others = this.#all.filter((each) => !this.#ofStart.includes(each) && !names.includes(each.extension))
    this.#ofStart = extensions
    this.#all = [...extensions, ...others]
  }

  /** Adds an extension, or replaces the one with its name. */
  define(extension: Extension): void {
    this.#all = [...this.except(extension), extension]
  }

  /** All but the one with the name of this one. */
  except({ extension }: Extension): readonly Extension[] {
    return this.#all.filter((each) => each.extension !== extension)
  }

  /** Another list after each change. */
  get all(): readonly Extension[] {
    return this.#isOff ? NONE : this.#all
  }

  get names(): readonly string[] {
    return this.#all.map(({ extension }) => extension)
  }

  routeOf(method: string, path: string): ExtensionRoute | undefined {
    const parts = this.all.length === 0 ? undefined : pathParts(path)
    const asked = method === 'HEAD' ? 'GET' : method
    const extension = parts && this.all.find((each) => servesPath(each, parts, asked))
    return extension && { operation: extension.extension as ExtensionName, bearer: true, method, path, extension }
  }

  /** Whether an extension would answer on a path without `--documented-only`. */
  isSwitchedOffAt(path: string): boolean {
    const parts = this.#isOff ? pathParts(path) : undefined
    return parts !== undefined && this.#all.some((each) => servesPath(each, parts))
  }

  /** The methods that extensions answer on a path. */
  methodsAt(path: string): string[] {
    return METHODS.filter((method) => this.routeOf(method, path) !== undefined)
  }

  /** A route for each method and path that a rule of a descriptor can name: none for paths with `*`. */
  routes(): ExtensionRoute[] {
    return this.all.flatMap((extension) =>
      extension.responders.flatMap(({ on: { method, path } }) =>
        (path.includes('*') ? [] : method === undefined ? METHODS : [method]).map((each) => ({
          operation: extension.extension as ExtensionName,
          bearer: true as const,
          method: each,
          path,
          extension,
        })),
      ),
    )
  }
}
