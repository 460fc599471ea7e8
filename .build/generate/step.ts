/** One kind of derived file. Paths are relative to the root of the repository. */
export interface Step {
  readonly name: string
  /** What it reads; a folder stands for the files directly in it. The step's own code counts as well. */
  readonly inputs: readonly string[]
  /** What it writes; a folder likewise. */
  readonly outputs: readonly string[]
  /** Makes the outputs: path → content. Loads what it needs itself, so that a skipped step imports no packages. */
  readonly make: (root: string) => Promise<ReadonlyMap<string, string>>
}
