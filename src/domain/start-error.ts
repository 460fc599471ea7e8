/**
 * Something that whoever starts the mock can mend: a file that does not hold what it should, an address that is taken. The
 * message is the whole story (what, where, what is allowed); the command line prints it without a stack and exits with 2.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}
