import { ruleAndFound } from '../domain/errors.ts'
import type { ContractRecord, Finding, UnfiredRule, UnknownPath, Warning } from '../documents/report-schemas.ts'
import { plural } from '../domain/text.ts'
import type { Allowed } from './report-pair.ts'

/** A violation by a client: `list_connected_accounts: page_size must be an integer; found "ten" (convention:G1), 2 times`. */
export function violationSentence(finding: Finding): string {
  return `${finding.operation}: ${ruleSentenceOf(finding)} (${finding.basis})${times(finding.count)}`
}

/** A violation by an answer of the mock. */
export function answerSentence(finding: Finding): string {
  return `${finding.operation} was answered wrongly by the mock, please report this: ${ruleSentenceOf(finding)}${times(finding.count)}`
}

/** That nothing was found needs no mention: the rule then says that the field is required. */
function ruleSentenceOf({ path, allowed, found }: Finding): string {
  return `${path} ${found === 'nothing' ? allowed : ruleAndFound(allowed, found)}`
}

/** A path or method that is not served. */
export function pathSentence({ method, path, status, did_you_mean, count }: UnknownPath): string {
  const meant = did_you_mean === null ? '' : `; did you mean ${did_you_mean}?`
  const what = status === 404 ? 'is not served' : 'is served, but not with this method'
  return `${method} ${path} ${what}${meant}${times(count)}`
}

/** A rule that must fire and never fired. */
export function ruleSentence({ environment, scenario, rule, at, matched }: UnfiredRule): string {
  const where = environment === null ? 'in any environment' : `in environment ${environment}`
  const why = matched === 0 ? 'no request matched it' : `${plural(matched, 'request')} matched it, but not its when`
  return `rule ${JSON.stringify(rule)} of scenario ${scenario} at ${at} never fired ${where}: ${why}`
}

/** A field without effect. */
export function warningSentence({ operation, path, kind, found, allowed, count }: Warning): string {
  const value = kind === 'similar_identifier' ? ` ${found}` : ''
  return `${operation}: ${path}${value} ${allowed}${times(count)}`
}

/** Findings that were allowed. */
export function allowedSentences({ violations, unknown_paths }: Allowed): string[] {
  return [...violations.map(violationSentence), ...unknown_paths.map(pathSentence)]
}

/** How many findings the report leaves out. */
export function leftOutSentence({ left_out: leftOut }: Pick<ContractRecord, 'left_out'>): string {
  return `${leftOut} more findings are left out: a record keeps the first 1,000 of each kind`
}

function times(count: number): string {
  return count === 1 ? '' : `, ${count} times`
}
