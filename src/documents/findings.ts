import type { z } from 'zod'
import { type Finding, type Path, shown } from './problem.ts'
import type { SourceText } from './source-text.ts'

type Issue = z.core.$ZodIssue

/** What zod found wrong with a document, one finding for each key and value. */
export function findingsOf(issues: readonly Issue[], source: SourceText, base: Path = []): Finding[] {
  return issues.flatMap((issue) => issueFindings(issue, source, base))
}

function issueFindings(issue: Issue, source: SourceText, base: Path): Finding[] {
  const path = [...base, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      found: `the unknown key ${JSON.stringify(key)}`,
      allowed: issue.message,
      atKey: true,
    }))
  }
  const value = source.at(path)
  if (issue.code === 'invalid_union') {
    const branch = closest(issue.errors)
    if (branch) return findingsOf(branch, source, path)
  }
  const required = value === undefined ? ' (required)' : ''
  return [{ path, found: shown(value), allowed: `${allowed(issue)}${required}` }]
}

/** The alternative that the value was meant to be: the one whose own type fits. */
function closest(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return alternatives.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  )
}

function allowed(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_NAMES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return issue.values.map((value) => String(value)).join(', ')
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'a text that is not empty'
      return `at least ${issue.minimum} ${unit(issue.origin)}`.trim()
    case 'too_big':
      return `at most ${issue.maximum} ${unit(issue.origin)}`.trim()
    case 'invalid_union':
      return issue.errors.flatMap((issues) => issues.map(allowed)).join(', or ')
    default:
      return issue.message
  }
}

function unit(origin: string): string {
  return { string: 'characters', array: 'items' }[origin] ?? ''
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
