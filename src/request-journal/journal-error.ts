/** A question to the journal that it cannot answer as it was put: an unknown key, a value that is none. */
export class JournalQuestionError extends Error {
  override readonly name = 'JournalQuestionError'

  constructor(
    message: string,
    /** The key that it is about. */
    readonly key: string,
    /** What may stand there. */
    readonly allowed: readonly string[] = [],
  ) {
    super(message)
  }
}
