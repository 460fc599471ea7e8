/** One kind of derived file. Paths are relative to the root of the repository. */
export interface Step {
  readonly name: string
  /** What it reads; a folder means the files directly in it. The files of `.build/generate` are inputs of every step. */
  readonly inputs: readonly string[]
  /** What it writes; a folder means the files directly in it. */
  readonly outputs: readonly string[]
  /** Makes the outputs: path → content. Loads what it needs itself, so that a skipped step imports no packages. */
  readonly make: (root: string) => Promise<ReadonlyMap<string, string>>
}
