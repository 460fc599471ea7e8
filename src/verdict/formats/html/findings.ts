import type { Finding, UnfiredRule, UnknownPath, Warning } from '../../../documents/report-schemas.ts'
import type { Allowed } from '../../report-pair.ts'
import { allowedSentences } from '../../sentences.ts'
import { html, type Html, type HtmlValue } from '../../../pages/html.ts'
import type { OperationReport } from '../by-operation.ts'
import { inCode, type Column, table } from './table.ts'

const FINDING_COLUMNS: readonly Column[] = [
  { label: 'Where' },
  { label: 'Found', kind: 'wide' },
  { label: 'Allowed', kind: 'wide' },
  { label: 'Rule' },
  { label: 'Times', kind: 'number' },
  { label: 'Requests' },
]

/** What clients did wrong, by operation. */
export function violationsSection(operations: readonly OperationReport[]): Html {
  return section('violations', 'What clients did wrong', {
    none: 'No request to an operation broke the contract.',
    parts: byName(operations, ({ violations }) => violations, findingsTable),
  })
}

/** What the mock did wrong. */
export function answersSection(operations: readonly OperationReport[]): Html {
  return section('answers', 'What the mock did wrong', {
    none: 'Every answer of the mock kept the contract.',
    parts: byName(operations, ({ answerViolations }) => answerViolations, findingsTable),
  })
}

export function pathsSection(paths: readonly UnknownPath[]): Html {
  const columns: Column[] = [
    { label: 'Method and path' },
    { label: 'Status' },
    { label: 'Did you mean' },
    { label: 'Times', kind: 'number' },
    { label: 'Requests' },
  ]
  const rows = paths.map(({ method, path, status, did_you_mean: meant, count, requests }) => [
    inCode(`${method} ${path}`),
    status,
    meant === null ? null : inCode(meant),
    count,
    requestIds(requests),
  ])
  const caption = 'Paths and methods that were asked for and are not served'
  return section('paths', 'Unknown paths', {
    none: 'Every request found its operation.',
    parts: rows.length === 0 ? [] : [table({ caption, columns, rows })],
  })
}

/** What would be wrong, and was allowed; nothing where nobody could allow anything. */
export function allowedSection(allowed: Allowed | undefined): Html | null {
  if (!allowed) return null
  const items = allowedSentences(allowed).map((sentence) => html`<li>${sentence}</li>`)
  return section('allowed', 'Allowed', {
    none: 'Nothing of what was allowed has occurred.',
    parts:
      items.length === 0
        ? []
        : [
            html`<ul>
              ${items}
            </ul>`,
          ],
  })
}

export function rulesSection(rules: readonly UnfiredRule[]): Html {
  const columns: Column[] = [
    { label: 'Rule' },
    { label: 'Scenario' },
    { label: 'At' },
    { label: 'Environment' },
    { label: 'Requests that fitted it, but not its when', kind: 'number' },
  ]
  const rows = rules.map(({ rule, scenario, at, environment, matched }) => {
    return [rule, inCode(scenario), at, environment ?? 'any', matched]
  })
  return section('rules', 'Rules that had to fire and never did', {
    none: 'Every rule that had to fire has fired.',
    parts: rows.length === 0 ? [] : [table({ caption: 'Rules with must_fire that never fired', columns, rows })],
  })
}

/** What was sent in vain, by operation. */
export function warningsSection(operations: readonly OperationReport[]): Html {
  return section('warnings', 'Warnings', {
    none: 'Nothing was sent without effect.',
    parts: byName(operations, ({ warnings }) => warnings, warningsTable),
  })
}

function section(id: string, title: string, { none, parts }: { none: string; parts: readonly Html[] }): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${parts.length === 0 ? html`<p class="quiet">${none}</p>` : parts}
  </section>`
}

function byName<Item>(
  operations: readonly OperationReport[],
  itemsOf: (operation: OperationReport) => readonly Item[],
  show: (operation: string, items: readonly Item[]) => Html,
): Html[] {
  return operations
    .filter((operation) => itemsOf(operation).length > 0)
    .map(
      (operation) =>
        html`<h3>${inCode(operation.operation)}</h3>
          ${show(operation.operation, itemsOf(operation))}`,
    )
}

function findingsTable(operation: string, findings: readonly Finding[]): Html {
  const rows = findings.map(({ path, found, allowed, constraint, error_code: code, basis, count, requests }) => [
    inCode(path),
    found,
    allowed,
    rule(code ?? constraint, basis),
    count,
    requestIds(requests),
  ])
  return table({ caption: `${operation}: what was found, and what is allowed`, columns: FINDING_COLUMNS, rows })
}

function warningsTable(operation: string, warnings: readonly Warning[]): Html {
  const rows = warnings.map(({ path, found, allowed, constraint, basis, count, requests }) => [
    inCode(path),
    found,
    allowed,
    rule(constraint, basis),
    count,
    requestIds(requests),
  ])
  return table({ caption: `${operation}: what was sent without effect`, columns: FINDING_COLUMNS, rows })
}

function rule(name: string, basis: string): Html {
  return html`<code class="short">${name}</code><br /><small class="short">${basis}</small>`
}

/** More than a person looks up; the JSON report has more. */
const SHOWN_REQUESTS = 3

function requestIds(requests: readonly string[]): HtmlValue {
  const shown = requests.slice(0, SHOWN_REQUESTS).map((id) => html`${inCode(id)} `)
  const more = requests.length - shown.length
  return more > 0 ? html`${shown}<small>and others</small>` : shown
}
