/**
 * A start that the user can fix: an invalid file, a port that is in use. The message says what is wrong, where, and what is
 * allowed; the command line prints it without a stack and exits with 2.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}
