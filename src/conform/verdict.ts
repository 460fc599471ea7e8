/** What was found instead of what was expected. */
export class Broken extends Error {
  override readonly name = 'Broken'

  constructor(expected: string, found: string) {
    super(`expected ${expected}, found ${found}`)
  }
}

/** The check says nothing about this target, and why. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
}
