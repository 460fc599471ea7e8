/** The command line or a variable says something that is not understood. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
