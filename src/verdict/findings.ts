/** One rule that was broken, or one thing that was sent in vain, and by which requests. */
export interface Noted {
  readonly operation: string
  readonly path: string
  readonly constraint: string
  readonly error_code: string | null
  readonly found: string
  readonly allowed: string
}

export interface Counted<Note> {
  readonly note: Note
  count: number
  /** The first that had it. */
  readonly requests: string[]
}

/** How many different ones an environment keeps, and how many requests each of them names. */
const MOST_FINDINGS = 1000
const MOST_REQUESTS = 20

/** Findings of one kind, each once, however often it occurs: what a loop of a client does wrong is one thing. */
export class Findings<Note extends object> {
  readonly #keyOf: (note: Note) => string
  readonly #byKey = new Map<string, Counted<Note>>()
  /** Those beyond the most that are kept. */
  leftOut = 0

  constructor(keyOf: (note: Note) => string) {
    this.#keyOf = keyOf
  }

  note(note: Note, request: string): void {
    const known = this.#place(note)
    if (!known) return
    known.count += 1
    if (known.requests.length < MOST_REQUESTS) known.requests.push(request)
  }

  add(others: Findings<Note>): void {
    this.leftOut += others.leftOut
    for (const { note, count, requests } of others.list()) {
      const known = this.#place(note)
      if (!known) continue
      known.count += count
      known.requests.push(...requests.slice(0, MOST_REQUESTS - known.requests.length))
    }
  }

  /** In the order in which they were first found. */
  list(): Iterable<Counted<Note>> {
    return this.#byKey.values()
  }

  #place(note: Note): Counted<Note> | undefined {
    const key = this.#keyOf(note)
    const known = this.#byKey.get(key)
    if (known) return known
    if (this.#byKey.size === MOST_FINDINGS) {
      this.leftOut += 1
      return undefined
    }
    const made = { note, count: 0, requests: [] }
    this.#byKey.set(key, made)
    return made
  }
}

/** The same rule at the same place is one finding, whatever was sent and wherever in a list it stood. */
export function keyOf({ operation, path, constraint, error_code }: Noted): string {
  return [operation, path.replace(/\[\d+\]/g, '[]'), constraint, error_code].join('\n')
}
