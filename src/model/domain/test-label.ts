/** The test that an environment was made for, so that reports lead back to it. */
export interface TestLabel {
  /** Its full name. */
  readonly label: string
  /** Its file, below the working directory of the server where it is there. */
  readonly file?: string
  /** Where it begins in the file, from 1. */
  readonly line?: number
}
