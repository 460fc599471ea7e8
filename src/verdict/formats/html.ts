import type {
  Coverage,
  Finding,
  FindingOrigin,
  Reach,
  Tally,
  UnfiredRule,
  UnknownPath,
  Warning,
} from '../report-schemas.ts'
import { plural } from '../../domain/text.ts'
import { html, type Html, type HtmlValue } from '../../pages/html.ts'
import { htmlDocument } from '../../pages/layout.ts'
import { BASE_STYLE } from '../../pages/style.ts'
import {
  type Allowed,
  byOperation,
  type OperationReport,
  type ReportPair,
  type Shortfall,
  tallyOf,
} from '../report-pair.ts'
import { allowedSentences, leftOutSentence, testText } from '../sentences.ts'
import { PRINT_STYLE, REPORT_STYLE } from './report-style.ts'

/** Both reports as one HTML page without scripts, images or fonts from elsewhere. */
export function reportPage(reports: ReportPair): string {
  const { contract, coverage, allowed, shortfalls } = reports
  const operations = byOperation(reports)
  const { total } = contract
  const page = htmlDocument({
    title: `${titleOf(reports)} · toolmock`,
    head: html`<meta
        http-equiv="Content-Security-Policy"
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"
      />
      <style>
        ${BASE_STYLE}${REPORT_STYLE}${PRINT_STYLE}
      </style>`,
    body: html`${pageHeader(reports)}
      <main>
        ${violationsSection(operations)} ${pathsSection(total.unknown_paths)} ${allowedSection(allowed)}
        ${rulesSection(total.unfired_rules)} ${answersSection(operations)} ${warningsSection(operations)}
        ${coverageSection(coverage.total, shortfalls)} ${detailsSection(coverage.total)} ${environmentsSection(reports)}
      </main>
      <footer>
        ${`${contract.tool.name} ${contract.tool.version}`}. docs/fidelity.md explains the rules with an identifier such
        as G6. <code>toolmock explain</code> explains a request and its answer by its id.
      </footer>`,
  })
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
  const found = reasons(reports)
  return html`<header class="${tone}">
    <p class="overline">Contract and coverage · ${at}</p>
    <h1>${titleOf(reports)}</h1>
    ${found}
    <p>
      ${plural(total.requests, 'request')} in ${plural(environments.length, 'environment')}; a scenario answered, cut or
      changed ${total.injected} of
      them.${found === null && total.requests > 0 && ' Every one kept the contract, and every field had an effect.'}
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
    ${found.map(({ id, count, noun, nouns }) => html`<li><a href="#${id}">${plural(count, noun, nouns)}</a></li>`)}
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
      each.test === null ? inCode(each.name) : html`${inCode(each.name)}<br /><small>${testText(each.test)}</small>`,
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
    ${collapsed(plural(rows.length, 'environment'), table({ caption: 'Findings and coverage of each environment', columns, rows }))}
  </section>`
}

const FINDING_COLUMNS: readonly Column[] = [
  { label: 'Where' },
  { label: 'Found' },
  { label: 'Rule', kind: 'wide' },
  { label: 'Basis' },
  { label: 'Times', kind: 'number' },
  { label: 'Tests and requests', kind: 'wide' },
]

const WARNING_COLUMNS = FINDING_COLUMNS.map((column) =>
  column.label === 'Rule' ? { ...column, label: 'Effect' } : column,
)

function violationsSection(operations: readonly OperationReport[]): Html | null {
  return section('violations', 'Violations by clients', {
    parts: byName(operations, ({ violations }) => violations, findingsTable),
  })
}

function answersSection(operations: readonly OperationReport[]): Html | null {
  return section('answers', 'Violations by the mock', {
    parts: byName(operations, ({ answerViolations }) => answerViolations, findingsTable),
  })
}

function pathsSection(paths: readonly UnknownPath[]): Html | null {
  const columns: Column[] = [
    { label: 'Method and path' },
    { label: 'Status' },
    { label: 'Did you mean' },
    { label: 'Times', kind: 'number' },
    { label: 'Tests and requests', kind: 'wide' },
  ]
  const rows = paths.map((unknown) => {
    const { method, path, status, did_you_mean: meant, count } = unknown
    return [inCode(`${method} ${path}`), status, meant === null ? null : inCode(meant), count, originCell(unknown)]
  })
  const caption = 'Requested paths and methods that are not served'
  return section('paths', 'Unknown paths', {
    parts: rows.length === 0 ? [] : [table({ caption, columns, rows })],
  })
}

function allowedSection(allowed: Allowed | undefined): Html | null {
  if (!allowed) return null
  const items = allowedSentences(allowed).map((sentence) => html`<li>${sentence}</li>`)
  return section('allowed', 'Allowed', {
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

function rulesSection(rules: readonly UnfiredRule[]): Html | null {
  const columns: Column[] = [
    { label: 'Rule' },
    { label: 'Scenario' },
    { label: 'At' },
    { label: 'Environment' },
    { label: 'Requests that matched all but its when', kind: 'number' },
  ]
  const rows = rules.map(({ rule, scenario, at, environment, test, matched }) => {
    const where = html`${environment ?? 'any'}${test && html`<br /><small>${testText(test)}</small>`}`
    return [rule, inCode(scenario), at, where, matched]
  })
  return section('rules', 'Rules that must fire and never fired', {
    parts: rows.length === 0 ? [] : [table({ caption: 'Rules with must_fire that never fired', columns, rows })],
  })
}

function warningsSection(operations: readonly OperationReport[]): Html | null {
  return section('warnings', 'Warnings', {
    parts: byName(operations, ({ warnings }) => warnings, warningsTable),
  })
}

/** Absent where there is nothing to show: the overview says so. */
function section(id: string, title: string, { parts }: { parts: readonly Html[] }): Html | null {
  if (parts.length === 0) return null
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${parts}
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
  const rows = findings.map((finding) => {
    const { path, found, allowed, constraint, error_code: code, basis, count } = finding
    return [inCode(path), found, allowed, rule(code ?? constraint, basis), count, originCell(finding)]
  })
  return table({ caption: `${operation}: violations`, columns: FINDING_COLUMNS, rows })
}

function warningsTable(operation: string, warnings: readonly Warning[]): Html {
  const rows = warnings.map((warning) => {
    const { path, found, allowed, kind, basis, count } = warning
    return [inCode(path), found, allowed, rule(kind, basis), count, originCell(warning)]
  })
  return table({ caption: `${operation}: fields without effect`, columns: WARNING_COLUMNS, rows })
}

function rule(name: string, basis: string): Html {
  return html`<code class="short">${name}</code><br /><small class="short">${basis}</small>`
}

/** As many as a person looks up; the JSON report has more. */
const SHOWN = { requests: 2, tests: 3 }

/** What leads back from a finding to its tests and requests. */
function originCell({ count, examples, tests, test_count: testCount }: FindingOrigin): HtmlValue {
  const named = tests.slice(0, SHOWN.tests).map((test) => html`<li>${testText(test)}</li>`)
  const shown = examples
    .slice(0, SHOWN.requests)
    .map(
      ({ id, method, path, at, excerpt }) =>
        html`<li>
          <code class="short">${id}</code> <small class="short">${at}</small><br /><code>${method} ${path}</code
          >${excerpt !== '' && html`<br /><code>${excerpt}</code>`}
        </li>`,
    )
  const more = [
    ...(testCount > named.length ? [plural(testCount - named.length, 'more test')] : []),
    ...(count > shown.length ? [plural(count - shown.length, 'more request')] : []),
  ]
  return html`<ul class="origin">
    ${named}${shown}${more.length > 0 && html`<li><small>and ${more.join(', ')}</small></li>`}
  </ul>`
}

type OperationCoverage = Coverage['operations'][number]
type ErrorCodeCoverage = OperationCoverage['statuses'][number]['error_codes'][number]

const REACHES: readonly Reach[] = ['driven', 'injected_only', 'never']

/** The coverage at a glance: each kind with its counts, and each operation with its statuses. */
function coverageSection(coverage: Coverage, shortfalls: readonly Shortfall[] = []): Html {
  const columns: Column[] = [
    { label: 'Kind' },
    { label: 'Driven', kind: 'number' },
    { label: 'Only injected', kind: 'number' },
    { label: 'Never', kind: 'number' },
    { label: 'Total', kind: 'number' },
    { label: 'Share' },
  ]
  const rows = Object.entries(coverage.summary).map(([kind, tally]) => {
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
    ${table({ caption: 'Coverage of each kind', columns, rows })} ${matrix(coverage.operations)}
  </section>`
}

/** Each operation with each status that it may answer: how often it did. */
function matrix(operations: readonly OperationCoverage[]): Html {
  const declared = [...new Set(operations.flatMap(({ statuses }) => statuses.map(({ status }) => status)))].sort()
  const columns: Column[] = [
    { label: 'Operation' },
    ...declared.map((status) => ({ label: String(status), kind: 'status' }) as const),
  ]
  const rows = operations.map(({ operation, statuses }) => [
    html`<a href="#operation-${operation}"><code>${operation}</code></a>`,
    ...declared.map((status) => cell(statuses.find((each) => each.status === status))),
  ])
  return html`<div class="matrix">
    ${table({ caption: 'Answers of each operation by status; an empty cell is a status that it does not have', columns, rows })}
    <p class="quiet">
      ${reachMark('driven')} with the number of answers, ${reachMark('injected_only')}, ${reachMark('never')}
    </p>
  </div>`
}

function cell(status: OperationCoverage['statuses'][number] | undefined): Html | null {
  if (!status) return null
  const { reach, answers, injected } = status
  const counts = { driven: answers, injected_only: injected, never: '' }
  return html`<span class="reach ${reach}" title="${REACH_NAMES[reach]}">${counts[reach]}</span>`
}

function detailsSection({ operations, lifecycle_moves: moves, scenarios }: Coverage): Html {
  return html`<section id="details" aria-labelledby="details-title">
    <h2 id="details-title">Details</h2>
    ${operations.map(details)} ${collapsed('Lifecycle transitions of accounts', movesTable(moves))}
    ${collapsed('Bundled scenarios', scenariosTable(scenarios))}
  </section>`
}

function collapsed(summary: HtmlValue, inside: HtmlValue, id?: string): Html {
  return html`<details ${id !== undefined && html`id="${id}"`}>
    <summary>${summary}</summary>
    ${inside}
  </details>`
}

function movesTable(moves: Coverage['lifecycle_moves']): Html {
  const columns: Column[] = [{ label: 'Event' }, { label: 'From' }, { label: 'To' }, { label: 'Reach' }]
  const rows = moves.map(({ from, event, to, reach }) => [inCode(event), inCode(from), inCode(to), reachMark(reach)])
  return table({ caption: 'Transitions of accounts between statuses', columns, rows })
}

function scenariosTable(scenarios: Coverage['scenarios']): Html {
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
  return table({ caption: 'A scenario is driven once all of its rules that must fire have fired', columns, rows })
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
  const { driven } = tallyOf(statuses)
  const summary = html`<code>${operation}</code> <small>${driven} of ${statuses.length} statuses</small>`
  const tables = html`${table({ caption: `${operation}: statuses and their error codes`, columns, rows })}
  ${fieldsTable(operation, sent.map(requestField), answered.map(responseField))}`
  return collapsed(summary, tables, `operation-${operation}`)
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

/** A bar of the counts, which are beside it as figures. */
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
  readonly kind?: 'number' | 'wide' | 'status'
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

function reachMark(reach: Reach): Html {
  return html`<span class="reach ${reach}">${REACH_NAMES[reach]}</span>`
}
