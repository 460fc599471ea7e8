/** More lists than a few clients send; beyond that, sharing begins anew. */
const MOST = 512

/**
 * Header lists that are the same, kept once: a client sends the same ones with nearly every request, and ten thousand
 * entries of their own would be what the garbage collector is busy with.
 */
export class SharedHeaders {
  readonly #known = new Map<string, readonly string[]>()

  /** The list itself, or an equal one that came before. */
  share(headers: readonly string[]): readonly string[] {
    // No header holds a line break.
    const key = headers.join('\n')
    const known = this.#known.get(key)
    if (known) return known
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(key, headers)
    return headers
  }
}
