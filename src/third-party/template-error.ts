/** A template that cannot be used: its syntax, an unknown helper, a construct that is not allowed, or a limit that it exceeds. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}
