/** The anchor of a heading, as code hosts derive it. */
export function headingAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-')
}

/**
 * The anchor that the site gives to a row of a table, by its first cell: a key, a flag without its value, a code in backquotes,
 * or a rule such as `G21`. Undefined for other rows.
 */
function rowAnchor(cell: string): string | undefined {
  const { code, rule } = /^(?:\[?`(?<code>--[\w-]+|[^`]+)[^`]*`.*|(?<rule>G\d+))$/.exec(cell.trim())?.groups ?? {}
  const anchor = (code ?? rule ?? '').toLowerCase().replaceAll(/[^\w.]+/g, '-')
  return anchor.replaceAll(/^-+|-+$/g, '') || undefined
}

/**
 * The anchors of the rows of a page. A second row of one name has the anchor of its section in front: `status` of an account in
 * a seed is `seed-accounts-status`.
 */
export class RowAnchors {
  readonly #taken: Set<string>

  constructor(headings: readonly string[]) {
    this.#taken = new Set(headings.map(headingAnchor))
  }

  of(cell: string, section: string): string | undefined {
    const name = rowAnchor(cell)
    if (name === undefined) return
    const full = `${headingAnchor(section)}-${name}`
    const free = [name, full, ...[2, 3, 4, 5, 6].map((at) => `${full}-${at}`)].find((each) => !this.#taken.has(each))
    if (free !== undefined) this.#taken.add(free)
    return free
  }
}
