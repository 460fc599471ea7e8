/** The anchor of a heading, as code hosts derive it. */
export function headingAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-')
}

/**
 * The anchor that the site gives to a row of a table, by its first cell: a key, flag or code in backquotes, or a rule such as
 * `G21`. Undefined for other rows.
 */
export function rowAnchor(cell: string): string | undefined {
  const { code, rule } = /^(?:\[?`(?<code>[^`]+)`.*|(?<rule>G\d+))$/.exec(cell.trim())?.groups ?? {}
  const anchor = (code ?? rule ?? '').toLowerCase().replaceAll(/[^\w.]+/g, '-')
  return anchor.replaceAll(/^-+|-+$/g, '') || undefined
}
