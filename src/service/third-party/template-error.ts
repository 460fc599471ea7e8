/** A template that cannot be used: its syntax, an unknown helper, a construct that is not allowed, or a limit that it exceeds. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError'
}

/** A number that no double holds would have to be computed with (G75). */
export class InexactNumber extends TemplateError {
  override readonly name = 'InexactNumber'
}
