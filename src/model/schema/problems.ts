import type { z } from 'zod'
import { isJsonObject, jsonText, type JsonValue, ownMember } from '../domain/json.ts'
import { maskText } from '../domain/masking.ts'
import { isSecretAt } from '../domain/secret.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { plural, quote } from '../domain/text.ts'

/** Where in a document: keys and list positions from the top. */
export type Path = readonly (string | number)[]

/** One thing that is wrong with a document. The sentence about it is "`path` is found; allowed: allowed". */
export interface Problem {
  path: Path
  /** What is there instead of what is allowed; `nothing` for something that is required and missing. */
  found: string
  allowed: string
  /** Whether the key itself is the problem, and not its value. */
  atKey?: boolean
  /** What the sentence is about where it is no value of the document. */
  subject?: string
}

/** Problems of one document that are listed. Beyond that many they have one cause, and a longer answer does not help. */
export const MAX_LISTED = 100

/** The one entry for the problems that are not listed. */
export function moreProblems(count: number): Pick<Problem, 'found' | 'allowed'> {
  return { found: `wrong in ${plural(count, 'more place')}`, allowed: 'what the problems above say' }
}

/** "`tools[0].name` is required; allowed: a text". */
export function problemSentence({ path, found, allowed, subject }: Problem): string {
  const name = subject ?? (path.length === 0 ? 'the document' : `\`${pathText(path)}\``)
  return `${name} is ${found === 'nothing' ? 'required' : found}; allowed: ${allowed}`
}

/** `tools[0].call.path`; a key that is no plain word is quoted. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      if (!/^[\w$-]+$/.test(part)) return `[${jsonText(part)}]`
      return index === 0 ? part : `.${part}`
    })
    .join('')
}

/** A value as a sentence shows it: short, on one line, and without the secrets of the place where it is. */
export function problemValue(value: unknown, path: Path = []): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (value !== null && isSecretAt(path)) return `a ${typeof value === 'string' ? 'text' : typeof value}`
  return typeof value === 'string' ? quote(maskText(value), 80) : jsonText(value)
}

/** What kind of value it is, where any text may be a secret. */
export function jsonKind(value: unknown): string {
  return typeof value === 'string' ? 'a text' : problemValue(value)
}

/** The value at a path, by own properties only; undefined where there is none. */
export function valueAtPath(document: unknown, path: Path): unknown {
  let value = document
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string | number, unknown>)[part]
  }
  return value
}

/** Every value at a path of a document, in which `*` matches each item of a list; none where it leads nowhere. */
export function valuesAt(
  value: JsonValue | undefined,
  path: readonly string[],
  base: Path = [],
): { path: Path; value: JsonValue }[] {
  const [head, ...tail] = path
  if (value === undefined) return []
  if (head === undefined) return [{ path: base, value }]
  if (head === '*') return Array.isArray(value) ? value.flatMap((item, at) => valuesAt(item, tail, [...base, at])) : []
  return isJsonObject(value) ? valuesAt(ownMember(value, head), tail, [...base, head]) : []
}

type Issue = z.core.$ZodIssue

/** What zod found wrong with a document, one problem for each key and value. `show` says how a wrong value is shown. */
export function problemsOf(
  issues: readonly Issue[],
  document: unknown,
  base: Path = [],
  show: typeof problemValue = problemValue,
): Problem[] {
  return issues.flatMap((issue) => issueProblems(issue, document, base, show))
}

/** Of the unknown keys of one object. Nobody reads more, and looking for 80,000 kept other requests waiting for three seconds. */
const MOST_HINTS = 100

function issueProblems(issue: Issue, document: unknown, base: Path, show: typeof problemValue): Problem[] {
  const path = [...base, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  if (issue.code === 'unrecognized_keys') {
    const allowedKeys = issue.message.split(', ')
    return issue.keys.map((key, at) => ({
      path: [...path, key],
      found: `an unknown key${at < MOST_HINTS ? didYouMean(key, allowedKeys) : ''}`,
      allowed: issue.message,
      atKey: true,
    }))
  }
  if (issue.code === 'invalid_key') {
    const mistake = `the name ${quote(String(path.at(-1)))}`
    return [{ path, found: mistake, allowed: issue.issues.map(allowedText).join(', '), atKey: true }]
  }
  if (issue.code === 'custom' && issue.params) {
    const { found, atKey } = issue.params as Partial<Problem>
    return [
      { path, found: found ?? show(valueAtPath(document, path), path), allowed: issue.message, atKey: atKey ?? false },
    ]
  }
  const value = valueAtPath(document, path)
  if (issue.code === 'invalid_union') {
    const meant = closestAlternative(issue.errors)
    if (meant) return problemsOf(meant, document, path, show)
  }
  const words = issue.code === 'invalid_value' ? issue.values.map(String) : []
  const hint = typeof value === 'string' && show === problemValue ? didYouMean(value, words) : ''
  return [{ path, found: `${show(value, path)}${hint}`, allowed: allowedText(issue) }]
}

/** The alternative that the value was meant to be: of those whose own type fits, the one with the fewest problems. */
function closestAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const fitting = alternatives.filter((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  )
  const count = (issues: readonly Issue[]): number =>
    issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0)
  return fitting.toSorted((a, b) => count(a) - count(b))[0]
}

function allowedText(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      // A schema's own message, or the library's.
      return issue.message.startsWith('Invalid input') ? (TYPE_NAMES[issue.expected] ?? issue.expected) : issue.message
    case 'invalid_value':
      return issue.values.map(String).join(', ')
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'a text that is not empty'
      return `at least ${amountText(issue.minimum, issue.origin)}`
    case 'too_big':
      return `at most ${amountText(issue.maximum, issue.origin)}`
    case 'invalid_union':
      return [...new Set(issue.errors.flatMap((issues) => issues.map(allowedText)))].join(', or ')
    default:
      return issue.message
  }
}

function amountText(number: number | bigint, origin: string): string {
  const noun = { string: 'character', array: 'item' }[origin]
  return noun === undefined ? String(number) : plural(Number(number), noun)
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
