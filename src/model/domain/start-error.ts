/** A start that the user can fix: the command line prints the message without a stack and exits with 2. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}
