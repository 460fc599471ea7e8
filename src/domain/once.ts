/** A function that calls `load` once and keeps what it resolves to. A failure is not kept: the next call tries again. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    if (loaded) return loaded
    const loading = load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    loaded = loading
    return loading
  }
}
