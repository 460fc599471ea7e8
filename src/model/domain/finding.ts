/** What a request got wrong (violation), or says in vain (warning): made once, when its journal entry ends. */
export interface Finding {
  /** A violation breaks the contract and fails the verdict; a warning fails nothing unless `--fail-on` says so. */
  readonly kind: 'violation' | 'warning'
  /** The rule in the words of the contract: `required`, `type`, `unknown`, `unknown_path`, … */
  readonly code: string
  /** With which the request was refused; null where it was not. */
  readonly error_code: string | null
  /** Null for a path that is not served, and for a finding about a whole run. */
  readonly operation: string | null
  /** A dotted path into the body, a query parameter, a header; `GET /path` of a path; the rule of a scenario. */
  readonly field: string
  /** What was sent there, secrets masked; null where the field says it, or nothing is there. */
  readonly found: string | null
  readonly allowed: string
  readonly did_you_mean: string | null
  /** The part of the service document, or the id of the choice in `docs/fidelity.md`. */
  readonly basis: string
}

/** As a sentence: `identifer is not a field of execute_tool: did you mean identifier?` */
export function findingText({ field, allowed, found, did_you_mean: meant }: FindingWords): string {
  const value = found === null ? '' : `; found ${found}`
  return `${field} ${allowed}${value}${meant === null ? '' : `: did you mean ${meant}?`}`
}

type FindingWords = Pick<Finding, 'field' | 'allowed' | 'found' | 'did_you_mean'>

export function isViolation({ kind }: Pick<Finding, 'kind'>): boolean {
  return kind === 'violation'
}
