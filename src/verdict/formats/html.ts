import type {
  Coverage,
  Finding,
  Reach,
  Tally,
  UnfiredRule,
  UnknownPath,
  Warning,
} from '../../documents/report-schemas.ts'
import { plural } from '../../domain/text.ts'
import { html, type Html, type HtmlValue } from '../../pages/html.ts'
import { BASE_STYLE } from '../../pages/style.ts'
import {
  type Allowed,
  byOperation,
  type OperationReport,
  type ReportPair,
  type Shortfall,
  tallyOf,
} from '../report-pair.ts'
import { allowedSentences, leftOutSentence } from '../sentences.ts'
import { PRINT_STYLE, REPORT_STYLE } from './report-style.ts'

/** Both reports as one HTML page without scripts, images or fonts from elsewhere. */
export function reportPage(reports: ReportPair): string {
  const { contract, coverage, allowed, shortfalls } = reports
  const operations = byOperation(reports)
  const { total } = contract
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${titleOf(reports)} · toolmock</title>
        <link rel="icon" href="data:," />
        <style>
          ${BASE_STYLE}${REPORT_STYLE}${PRINT_STYLE}
        </style>
      </head>
      <body>
        ${pageHeader(reports)}
        <main>
          ${violationsSection(operations)} ${pathsSection(total.unknown_paths)} ${allowedSection(allowed)}
          ${rulesSection(total.unfired_rules)} ${answersSection(operations)} ${warningsSection(operations)}
          ${summarySection(coverage.total.summary, shortfalls)} ${operationsSection(coverage.total.operations)}
          ${movesSection(coverage.total.lifecycle_moves)} ${scenariosSection(coverage.total.scenarios)}
          ${environmentsSection(reports)}
        </main>
        <footer>
          ${`${contract.tool.name} ${contract.tool.version}`}. docs/fidelity.md explains the rules with an identifier
          such as G6. <code>GET /_mock/requests/{id}/explain</code> explains a request and its answer.
        </footer>
      </body>
    </html>`
  return `${page.toString()}\n`
}

function titleOf({ contract: { ok, total }, shortfalls = [] }: ReportPair): string {
  if (!ok) return 'The contract was broken'
  if (shortfalls.length > 0) return 'A minimum of coverage was not reached'
  return total.requests === 0 ? 'No operation was called' : 'The contract was kept'
}

function pageHeader(reports: ReportPair): Html {
  const { ok, total, at, environments } = reports.contract
  const failed = !ok || (reports.shortfalls ?? []).length > 0
  const tone = failed ? 'error' : total.requests === 0 ? 'warning' : 'success'
  return html`<header class="${tone}">
    <p class="overline">Contract and coverage · ${at}</p>
    <h1>${titleOf(reports)}</h1>
    ${reasons(reports)}
    <p>
      ${plural(total.requests, 'request')} in ${plural(environments.length, 'environment')}; a scenario answered, cut or
      changed ${total.injected} of them.
    </p>
    ${total.left_out > 0 && html`<p>${leftOutSentence(total)}.</p>`}
  </header>`
}

function reasons({ contract: { total }, shortfalls = [] }: ReportPair): Html | null {
  const found = [
    { id: 'violations', count: total.violations.length, noun: 'violation by clients', nouns: 'violations by clients' },
    { id: 'paths', count: total.unknown_paths.length, noun: 'unknown path', nouns: 'unknown paths' },
    {
      id: 'rules',
      count: total.unfired_rules.length,
      noun: 'rule that must fire and never fired',
      nouns: 'rules that must fire and never fired',
    },
    {
      id: 'answers',
      count: total.answer_violations.length,
      noun: 'violation by the mock',
      nouns: 'violations by the mock',
    },
    {
      id: 'coverage',
      count: shortfalls.length,
      noun: 'minimum of coverage that was not reached',
      nouns: 'minima of coverage that were not reached',
    },
    {
      id: 'warnings',
      count: total.warnings.length,
      noun: 'warning',
      nouns: 'warnings',
    },
  ].filter(({ count }) => count > 0)
  if (found.length === 0) return null
  return html`<ul>
    ${found.map(({ id, count, noun, nouns }) => html`<li><a href="#${id}">${count} ${count === 1 ? noun : nouns}</a></li>`)}
  </ul>`
}

function environmentsSection({ contract, coverage }: ReportPair): Html {
  const columns: Column[] = [
    { label: 'Environment' },
    ...['Requests', 'Injected', 'Violations', 'Unknown paths', 'Unfired rules', 'Warnings'].map((label) => {
      return { label, kind: 'number' } as const
    }),
    { label: 'Operations' },
    { label: 'Statuses' },
  ]
  const covered = new Map(coverage.environments.map(({ name, summary }) => [name, summary]))
  const rows = contract.environments.map((each) => {
    const summary = covered.get(each.name)
    return [
      inCode(each.name),
      each.requests,
      each.injected,
      each.violations.length,
      each.unknown_paths.length,
      each.unfired_rules.length,
      each.warnings.length,
      summary && share(summary.operations),
      summary && share(summary.statuses),
    ]
  })
  return html`<section id="environments" aria-labelledby="environments-title">
    <h2 id="environments-title">Environments</h2>
    ${table({ caption: 'Findings and coverage of each environment', columns, rows })}
  </section>`
}

const FINDING_COLUMNS: readonly Column[] = [
  { label: 'Where' },
  { label: 'Found', kind: 'wide' },
  { label: 'Expected', kind: 'wide' },
  { label: 'Rule' },
  { label: 'Times', kind: 'number' },
  { label: 'Requests' },
]

const WARNING_COLUMNS = FINDING_COLUMNS.map((column) =>
  column.label === 'Expected' ? { ...column, label: 'Effect' } : column,
)

function violationsSection(operations: readonly OperationReport[]): Html {
  return section('violations', 'Violations by clients', {
    none: 'No request to an operation broke the contract.',
    parts: byName(operations, ({ violations }) => violations, findingsTable),
  })
}

function answersSection(operations: readonly OperationReport[]): Html {
  return section('answers', 'Violations by the mock', {
    none: 'Every answer of the mock kept the contract.',
    parts: byName(operations, ({ answerViolations }) => answerViolations, findingsTable),
  })
}

function pathsSection(paths: readonly UnknownPath[]): Html {
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
  const caption = 'Requested paths and methods that are not served'
  return section('paths', 'Unknown paths', {
    none: 'Every request went to a served path.',
    parts: rows.length === 0 ? [] : [table({ caption, columns, rows })],
  })
}

/** Absent when nothing could be allowed. */
function allowedSection(allowed: Allowed | undefined): Html | null {
  if (!allowed) return null
  const items = allowedSentences(allowed).map((sentence) => html`<li>${sentence}</li>`)
  return section('allowed', 'Allowed', {
    none: 'No allowed violation occurred.',
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

function rulesSection(rules: readonly UnfiredRule[]): Html {
  const columns: Column[] = [
    { label: 'Rule' },
    { label: 'Scenario' },
    { label: 'At' },
    { label: 'Environment' },
    { label: 'Requests that matched all but its when', kind: 'number' },
  ]
  const rows = rules.map(({ rule, scenario, at, environment, matched }) => {
    return [rule, inCode(scenario), at, environment ?? 'any', matched]
  })
  return section('rules', 'Rules that must fire and never fired', {
    none: 'Every rule that must fire has fired.',
    parts: rows.length === 0 ? [] : [table({ caption: 'Rules with must_fire that never fired', columns, rows })],
  })
}

function warningsSection(operations: readonly OperationReport[]): Html {
  return section('warnings', 'Warnings', {
    none: 'Every sent field had an effect.',
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
  return table({ caption: `${operation}: violations`, columns: FINDING_COLUMNS, rows })
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
  return table({ caption: `${operation}: fields without effect`, columns: WARNING_COLUMNS, rows })
}

function rule(name: string, basis: string): Html {
  return html`<code class="short">${name}</code><br /><small class="short">${basis}</small>`
}

/** As many as a person looks up; the JSON report has more. */
const SHOWN_REQUESTS = 3

function requestIds(requests: readonly string[]): HtmlValue {
  const shown = requests.slice(0, SHOWN_REQUESTS).map((id) => html`${inCode(id)} `)
  const more = requests.length - shown.length
  return more > 0 ? html`${shown}<small>and others</small>` : shown
}

type OperationCoverage = Coverage['operations'][number]
type ErrorCodeCoverage = OperationCoverage['statuses'][number]['error_codes'][number]

const REACHES: readonly Reach[] = ['driven', 'injected_only', 'never']

function summarySection(summary: Coverage['summary'], shortfalls: readonly Shortfall[] = []): Html {
  const columns: Column[] = [
    { label: 'Kind' },
    { label: 'Driven', kind: 'number' },
    { label: 'Only injected', kind: 'number' },
    { label: 'Never', kind: 'number' },
    { label: 'Total', kind: 'number' },
    { label: 'Share' },
  ]
  const rows = Object.entries(summary).map(([kind, tally]) => {
    const { driven, injected_only: injected, never, total } = tally
    return [sentenceCase(kind.replaceAll('_', ' ')), driven, injected, never, total, bar(tally)]
  })
  return html`<section id="coverage" aria-labelledby="coverage-title">
    <h2 id="coverage-title">Coverage</h2>
    <p>
      Driven means: shown by an answer of the mock itself. What only a scenario or the control API caused proves nothing
      about the client and is counted separately.
    </p>
    ${shortfalls.map(({ sentence }) => html`<p><strong>${sentence}.</strong></p>`)}
    ${table({ caption: 'Coverage of each kind', columns, rows })}
  </section>`
}

function operationsSection(operations: readonly OperationCoverage[]): Html {
  const columns: Column[] = [
    { label: 'Operation' },
    { label: 'Success' },
    { label: 'Statuses' },
    { label: 'Error codes' },
    { label: 'Request fields' },
    { label: 'Response fields' },
  ]
  const rows = operations.map(({ operation, reach, statuses, request_fields: sent, response_fields: answered }) => [
    html`<a href="#operation-${operation}">${inCode(operation)}</a>`,
    reachMark(reach),
    share(tallyOf(statuses)),
    share(tallyOf(statuses.flatMap((status) => status.error_codes))),
    share(tallyOf(sent)),
    share(tallyOf(answered)),
  ])
  return html`<section id="operations" aria-labelledby="operations-title">
    <h2 id="operations-title">Operations</h2>
    ${table({ caption: 'Coverage of each operation', columns, rows })} ${operations.map(details)}
  </section>`
}

function movesSection(moves: Coverage['lifecycle_moves']): Html {
  const columns: Column[] = [{ label: 'Event' }, { label: 'From' }, { label: 'To' }, { label: 'Reach' }]
  const rows = moves.map(({ from, event, to, reach }) => [inCode(event), inCode(from), inCode(to), reachMark(reach)])
  return html`<section id="moves" aria-labelledby="moves-title">
    <h2 id="moves-title">Lifecycle transitions of accounts</h2>
    ${table({ caption: 'Transitions of accounts between statuses', columns, rows })}
  </section>`
}

function scenariosSection(scenarios: Coverage['scenarios']): Html {
  const columns: Column[] = [
    { label: 'Scenario' },
    { label: 'Reach' },
    { label: 'Started', kind: 'number' },
    { label: 'Rules that fired', kind: 'number' },
  ]
  const rows = scenarios.map(({ name, reach, started, rules, rules_fired: fired }) => [
    inCode(name),
    reachMark(reach),
    started,
    started === 0 ? null : `${fired} of ${rules}`,
  ])
  return html`<section id="scenarios" aria-labelledby="scenarios-title">
    <h2 id="scenarios-title">Bundled scenarios</h2>
    ${table({ caption: 'A scenario is driven once all of its rules that must fire have fired', columns, rows })}
  </section>`
}

/** `5 of 7`, and how many more were only injected. */
function share({ driven, injected_only: injected, total }: Tally): HtmlValue {
  if (total === 0) return html`<span class="quiet">none declared</span>`
  return html`${driven} of ${total}${injected > 0 && html`<br /><small>${injected} only by injection</small>`}`
}

function details({ operation, statuses, request_fields: sent, response_fields: answered }: OperationCoverage): Html {
  const columns: Column[] = [
    { label: 'Status' },
    { label: 'Reach' },
    { label: 'Own answers', kind: 'number' },
    { label: 'Injected', kind: 'number' },
    { label: 'Error codes', kind: 'wide' },
  ]
  const rows = statuses.map(({ status, reach, answers, injected, error_codes: codes }) => {
    return [status, reachMark(reach), answers, injected, listed(codes.map(errorCode))]
  })
  return html`<h3 id="operation-${operation}">${inCode(operation)}</h3>
    ${table({ caption: `${operation}: statuses and their error codes`, columns, rows })}
    ${fieldsTable(operation, sent.map(requestField), answered.map(responseField))}`
}

function errorCode({ error_code: code, reach, answers, injected }: ErrorCodeCoverage): ShownField {
  const counts = { driven: answers, injected_only: `${injected} injected`, never: 'never' }
  return { reach, shown: html`${inCode(code)} <small>(${counts[reach]})</small>` }
}

interface ShownField {
  readonly reach: Reach
  readonly shown: Html
}

function requestField({ path, in: place, required, reach }: OperationCoverage['request_fields'][number]): ShownField {
  const about = [...(place === 'body' ? [] : [place]), ...(required ? ['required'] : [])].join(', ')
  return { reach, shown: html`${inCode(path)}${about !== '' && html` <small>(${about})</small>`}` }
}

function responseField({ path, reach }: OperationCoverage['response_fields'][number]): ShownField {
  return { reach, shown: inCode(path) }
}

/** The fields by how far they were reached, a row each. */
function fieldsTable(operation: string, sent: readonly ShownField[], answered: readonly ShownField[]): Html | null {
  const rows = [...fieldRows('Request', sent), ...fieldRows('Response', answered)]
  if (rows.length === 0) return null
  return table({
    caption: `${operation}: fields of requests and of successful answers`,
    columns: [{ label: 'Part' }, { label: 'Reach' }, { label: 'Fields', kind: 'wide' }],
    rows,
  })
}

function fieldRows(part: string, fields: readonly ShownField[]): HtmlValue[][] {
  return REACHES.flatMap((reach) => {
    const reached = fields.filter((field) => field.reach === reach)
    return reached.length === 0 ? [] : [[part, reachMark(reach), listed(reached)]]
  })
}

function listed(fields: readonly ShownField[]): HtmlValue {
  return fields.map(({ shown }, at) => html`${at > 0 && ', '}${shown}`)
}

/** A bar of the counts, which stand beside it as figures. */
function bar(tally: Tally): Html {
  const parts = REACHES.filter((reach) => tally[reach] > 0)
  return html`<span class="bar" aria-hidden="true"
    >${parts.map((reach) => html`<span class="${reach}" style="flex: ${tally[reach]}"></span>`)}</span
  >`
}

function sentenceCase(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

interface Column {
  readonly label: string
  readonly kind?: 'number' | 'wide'
}

interface Table {
  /** Names the table, also for screen readers. */
  readonly caption: string
  readonly columns: readonly Column[]
  /** A cell for each column; the first one is the heading of the row. */
  readonly rows: readonly (readonly HtmlValue[])[]
}

/** A table with row headings. On a narrow screen each row is a block, and each cell has its label. */
function table({ caption, columns, rows }: Table): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ label, kind }) => html`<th scope="col" ${className(kind)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((cells) => row(cells, columns))}
      </tbody>
    </table>
  </div>`
}

function row(cells: readonly HtmlValue[], columns: readonly Column[]): Html {
  return html`<tr>
    ${cells.map((cell, at) =>
      at === 0
        ? html`<th scope="row">${cell}</th>`
        : html`<td ${className(columns[at]?.kind)} data-label="${columns[at]?.label}">${cell}</td>`,
    )}
  </tr>`
}

function className(kind: Column['kind']): Html | undefined {
  return kind && html`class="${kind}"`
}

/** As long as the narrowest column of names. */
const SHORT = 17

/** A name as code; a long one may break after each part. */
function inCode(name: string): Html {
  const parts = name.length > SHORT ? name.split(/(?<=[._/])(?=\w)/) : [name]
  return html`<code>${parts.map((part, at) => html`${at > 0 && WORD_BREAK}${part}`)}</code>`
}

const WORD_BREAK = html`<wbr />`

const REACH_NAMES: Readonly<Record<Reach, string>> = {
  driven: 'driven',
  injected_only: 'only injected',
  never: 'never',
}

/** How far something was reached: a mark and the same in words. */
function reachMark(reach: Reach): Html {
  return html`<span class="reach ${reach}">${REACH_NAMES[reach]}</span>`
}
