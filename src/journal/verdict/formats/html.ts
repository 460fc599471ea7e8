import { isViolation } from '../../../model/domain/finding.ts'
import type { Coverage, FindingSource, Reach, ReportFinding, Tally } from '../report-types.ts'
import { breakable, capitalise, plural } from '../../../model/domain/text.ts'
import { html, type Html, type HtmlValue } from '../../../ui/pages/html.ts'
import { htmlDocument } from '../../../ui/pages/layout.ts'
import { REPORT_STYLE } from '../../../ui/pages/style.ts'
import { byOperation, tallyOf } from '../report-pair.ts'
import type { JudgedReports } from '../verdict.ts'
import { findingSentence, leftOutSentence, ruleSentences, testText } from '../sentences.ts'
import { coverageRows } from './text.ts'

/** Both reports as one HTML page without scripts, images or fonts from elsewhere. */
export function reportPage(reports: JudgedReports): string {
  const { contract, coverage, shortfalls } = reports
  const findings = findingSections(reports)
  const page = htmlDocument({
    title: `${reportTitle(reports)} · toolmock`,
    head: html`<meta
        http-equiv="Content-Security-Policy"
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"
      />
      <style>
        ${REPORT_STYLE}
      </style>`,
    body: html`${pageHeader(reports, findings)} ${pageIndex(findings)}
      <main>
        ${findings.filter(({ parts }) => parts.length > 0).map(reportSection)}
        ${[coverageSection(coverage.total, shortfalls), detailsSection(coverage.total), environmentsSection(reports)].map(reportSection)}
      </main>
      <footer>
        ${`${contract.tool.name} ${contract.tool.version}`}. <code>toolmock explain</code> explains a rule such as G6,
        and a request with its answer by its id.
      </footer>`,
  })
  return `${page.toString()}\n`
}

function reportTitle({ contract: { ok, total }, shortfalls, cases = [] }: JudgedReports): string {
  if (!ok) return 'The verdict failed'
  const failed = failedOf(cases).length
  if (failed > 0) return `${failed} of ${plural(cases.length, 'case')} failed`
  if (shortfalls.length > 0)
    return shortfalls.some(isMinimum) ? 'A minimum of coverage was not reached' : 'Nothing was judged'
  if (total.requests === 0) return 'No operation was called'
  return total.judged === 0 ? 'There is nothing to check' : 'The contract was kept'
}

function pageHeader(reports: JudgedReports, findings: readonly Section[]): Html {
  const { ok, total, at, environments } = reports.contract
  const failed = !ok || [...reports.shortfalls, ...failedOf(reports.cases)].length > 0
  const tone = failed ? 'error' : total.judged === 0 ? 'warning' : 'success'
  const links = findings.flatMap(({ id, counted: [count, ...nouns] = [0, ''] }) =>
    count === 0 ? [] : [html`<a href="#${id}">${plural(count, ...nouns)}</a>`],
  )
  return html`<header class="card verdict ${tone}">
    <p class="overline">Contract and coverage · ${at}</p>
    <h1>${reportTitle(reports)}</h1>
    ${htmlList(links)}
    <p>
      ${plural(total.requests, 'request')} in ${plural(environments.length, 'environment')}; a scenario answered, cut or
      changed ${total.injected} of
      them.${links.length === 0 && total.judged > 0 && ' Every one kept the contract, and every field had an effect.'}
    </p>
    ${total.left_out > 0 && html`<p>${leftOutSentence(total)}.</p>`}
  </header>`
}

/** Beside minima of coverage a shortfall can be that nothing was judged. */
function isMinimum({ code }: ReportFinding): boolean {
  return code === 'coverage'
}

function failedOf(cases: JudgedReports['cases'] = []) {
  return cases.filter(({ ok }) => !ok)
}

interface Section {
  readonly id: string
  readonly title: string
  readonly parts: readonly Html[]
  readonly findings?: readonly NumberedFinding[]
  /** How the list at the top counts what is in it; absent where it is not in that list. */
  readonly counted?: readonly [count: number, noun: string, nouns?: string]
}

function reportSection({ id, title, parts }: Section): Html {
  return html`<section class="card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${parts}
  </section>`
}

/** A finding with its place in the report, by which the index leads to it. */
interface NumberedFinding extends ReportFinding {
  readonly number: number
}

/** Every finding in a line, with its test. */
function pageIndex(sections: readonly Section[]): HtmlValue {
  const findings = sections.flatMap((each) => each.findings ?? [])
  if (findings.length < 2) return null
  return html`<nav class="card" aria-labelledby="index-title">
    <h2 id="index-title">Index</h2>
    <ol class="index">
      ${findings.map(
        ({ number, operation, field, allowed, tests: [test] }) =>
          html`<li>
            <a href="#finding-${number}">${number}. ${operation ?? 'No operation'}: ${field}</a>
            <small>${allowed}${test && ` · ${test.name}`}</small>
          </li>`,
      )}
    </ol>
  </nav>`
}

/** What was found, in the order of the list at the top. A section without parts is left out: that list says so. */
function findingSections(reports: JudgedReports): Section[] {
  const { allowed = [], shortfalls } = reports
  const ordered = byOperation(reports).flatMap(({ findings }) => findings)
  let number = 0
  const sectionOf = (id: string, title: string, noun: string, isIn: (finding: ReportFinding) => boolean): Section => {
    const groups = [...findingsByTest(ordered.filter(isIn))].map(
      ([test, group]) => [test, group.map((finding) => ({ ...finding, number: ++number }))] as const,
    )
    const findings = groups.flatMap(([, group]) => group)
    return {
      id,
      title,
      findings,
      counted: [findings.length, noun],
      parts: groups.flatMap((group) => testGroup(...group)),
    }
  }
  const isDefect = ({ code }: ReportFinding): boolean => code === 'mock_answer'
  const failed = failedOf(reports.cases)
  return [
    {
      id: 'cases',
      title: 'Cases that failed',
      counted: [failed.length, 'case that failed', 'cases that failed'],
      parts: htmlTable(
        'Cases that failed',
        ['Case', ['Reasons', 'wide']],
        failed.map(({ name, file, line, reasons }) => [
          html`${inCode(name)}<br /><small>${`${file}:${line}`}</small>`,
          html`${reasons.map(({ sentence, details }) => html`<p>${sentence}${details.map((each) => html`<br /><small>${each}</small>`)}</p>`)}`,
        ]),
      ),
    },
    sectionOf('violations', 'Violations', 'violation', (finding) => isViolation(finding) && !isDefect(finding)),
    { id: 'allowed', title: 'Allowed', parts: htmlList(allowed) },
    sectionOf('answers', 'Defects of the mock', 'defect of the mock', isDefect),
    {
      // The section of all coverage has them.
      id: 'coverage',
      title: '',
      counted: [
        shortfalls.filter(isMinimum).length,
        'minimum of coverage that was not reached',
        'minima of coverage that were not reached',
      ],
      parts: [],
    },
    sectionOf('warnings', 'Warnings', 'warning', (finding) => !isViolation(finding)),
    { id: 'scenarios', title: 'Scenarios', parts: htmlList(ruleSentences(reports.contract.total.scenarios)) },
  ]
}

function htmlList(items: readonly HtmlValue[]): Html[] {
  if (items.length === 0) return []
  return [
    html`<ul class="column items">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>`,
  ]
}

function firstTest({ tests: [test] }: FindingSource): string {
  return test ? testText(test) : ''
}

function findingsByTest(findings: readonly ReportFinding[]): Map<string, ReportFinding[]> {
  const groups = new Map<string, ReportFinding[]>()
  for (const finding of findings) {
    const test = firstTest(finding)
    const group = groups.get(test)
    if (group) group.push(finding)
    else groups.set(test, [finding])
  }
  return groups
}

/** A test with its findings, which collapses; what is of no test is as it is. */
function testGroup(test: string, findings: readonly NumberedFinding[]): Html[] {
  const blocks = findings.map(findingBlock)
  if (test === '') return blocks
  const summary = html`<strong>${test}</strong> <small>${plural(findings.length, 'finding')}</small>`
  return [collapsedSection(summary, blocks, { isOpen: true })]
}

/** What is wrong in a sentence, the rule, and a row for each request that had it. */
function findingBlock(finding: NumberedFinding): Html {
  const { number, kind, operation, field, found, allowed, did_you_mean: meant } = finding
  const { code, error_code: errorCode, basis, count, examples, tests, test_count: testCount } = finding
  const more = testCount - tests.length
  const rows = examples.map(({ id, environment, method, path, at, excerpt }) => [
    html`<code>${method} ${path}</code>`,
    html`<code>${excerpt}</code>`,
    html`<span class="short">${at.replace('T', ' ').slice(0, 19)}</span>`,
    html`<code class="short">${id}</code>${environment !== 'default' && html` <small>${environment}</small>`}`,
  ])
  return html`<article class="finding ${kind === 'violation' ? 'error' : 'warning'}" id="finding-${number}">
    <h3>${number}. ${operation ?? 'No operation'}: ${inCode(field)}</h3>
    <p>
      ${allowed}${found !== null && html`; found <code>${found}</code>`}${meant !== null && html`: did you mean ${inCode(meant)}?`}
    </p>
    <p>
      <small>${inCode(errorCode ?? code)} · ${basis} · ${plural(count, 'request')}</small>
    </p>
    ${testCount > 1 && html`<p><small>Also in ${tests.slice(1).map((test, at) => html`${at > 0 && '; '}${testText(test)}`)}${more > 0 && ` and ${plural(more, 'more test')}`}</small></p>`}
    ${htmlTable(`Requests of finding ${number}`, [['Request', 'wide'], ['Sent', 'wide'], 'At', 'Id'], rows, 'requests')}
    ${count > rows.length && rows.length > 0 && html`<p><small>and ${plural(count - rows.length, 'more request')}</small></p>`}
  </article>`
}

function environmentsSection({ contract, coverage }: JudgedReports): Section {
  const covered = new Map(coverage.environments.map(({ name, summary }) => [name, summary]))
  const counts = ['Requests', 'Injected', 'Violations', 'Warnings'] as const
  const rows = contract.environments.map((each) => {
    const summary = covered.get(each.name)
    return [
      each.test === null ? inCode(each.name) : html`${inCode(each.name)}<br /><small>${testText(each.test)}</small>`,
      each.requests,
      each.injected,
      each.findings.filter(isViolation).length,
      each.findings.filter((finding) => !isViolation(finding)).length,
      summary && drivenShare(summary.operations),
      summary && drivenShare(summary.statuses),
    ]
  })
  const heads: Head[] = ['Environment', ...counts.map((label) => [label, 'number'] as const), 'Operations', 'Statuses']
  const section = htmlTable('Findings and coverage of each environment', heads, rows)
  return {
    id: 'environments',
    title: 'Environments',
    parts: [collapsedSection(plural(rows.length, 'environment'), section)],
  }
}

/** `5 of 7`, and how many more were only injected. */
function drivenShare({ driven, injected_only: injected, total }: Tally): HtmlValue {
  if (total === 0) return html`<small>none declared</small>`
  return html`${driven} of ${total}${injected > 0 && html`<br /><small>${injected} only by injection</small>`}`
}

type OperationCoverage = Coverage['operations'][number]

const REACHES: Readonly<Record<Reach, string>> = { driven: 'driven', injected_only: 'only injected', never: 'never' }
const REACH_NAMES = Object.keys(REACHES) as Reach[]

/** The coverage at a glance: each kind with its counts, and each operation with its statuses. */
function coverageSection(coverage: Coverage, shortfalls: readonly ReportFinding[]): Section {
  const rows = coverageRows(coverage).map(([kind, tally]) => {
    const { driven, injected_only: injected, never, total } = tally
    return [capitalise(kind), driven, injected, never, total, reachBar(tally)]
  })
  const counts = ['Driven', 'Only injected', 'Never', 'Total'].map((label) => [label, 'number'] as const)
  return {
    id: 'coverage',
    title: 'Coverage',
    parts: [
      html`<p>
        Driven means: shown by an answer of the mock itself. What only a scenario or the control API caused proves
        nothing about the client and is counted separately.
      </p>`,
      ...shortfalls.map((finding) => html`<p><strong>${findingSentence(finding)}.</strong></p>`),
      ...htmlTable('Coverage of each kind', ['Kind', ...counts, 'Share'], rows),
      statusMatrix(coverage.operations),
    ],
  }
}

/** Each operation with each status that it may answer: how often it did. */
function statusMatrix(operations: readonly OperationCoverage[]): Html {
  const declared = [...new Set(operations.flatMap(({ statuses }) => statuses.map(({ status }) => status)))].sort()
  const rows = operations.map(({ operation, statuses }) => [
    html`<a href="#operation-${operation}"><code>${operation}</code></a>`,
    ...declared.map((wanted) => {
      const cell = statuses.find(({ status }) => status === wanted)
      if (!cell) return null
      const { reach, answers, injected } = cell
      const counts = { driven: answers, injected_only: injected, never: '' }
      return html`<span class="reach ${reach}" title="${REACHES[reach]}"> ${counts[reach]}</span>`
    }),
  ])
  const caption = 'Answers of each operation by status; an empty cell is a status that it does not have'
  return html`${htmlTable(caption, ['Operation', ...declared.map(String)], rows, 'matrix')}
    <p>
      <small
        >${reachMark('driven')} with the number of answers, ${reachMark('injected_only')}, ${reachMark('never')}</small
      >
    </p>`
}

function detailsSection({ operations, lifecycle_moves: moves, scenarios }: Coverage): Section {
  const moveRows = moves.map(({ from, event, to, reach }) => [
    inCode(event),
    inCode(from),
    inCode(to),
    reachMark(reach),
  ])
  const scenarioRows = scenarios.map(({ name, reach, started, rules, rules_fired: fired }) => {
    return [inCode(name), reachMark(reach), started, started === 0 ? null : `${fired} of ${rules}`]
  })
  return {
    id: 'details',
    title: 'Details',
    parts: [
      ...operations.map(operationDetails),
      collapsedSection(
        'Lifecycle transitions of accounts',
        htmlTable('Transitions of accounts between statuses', ['Event', 'From', 'To', 'Reach'], moveRows),
      ),
      collapsedSection(
        'Bundled scenarios',
        htmlTable(
          'A scenario is driven once all of its rules that must fire have fired',
          ['Scenario', 'Reach', ['Started', 'number'], ['Rules that fired', 'number']],
          scenarioRows,
        ),
      ),
    ],
  }
}

function collapsedSection(
  summary: HtmlValue,
  inside: HtmlValue,
  { id, isOpen = false }: { id?: string; isOpen?: boolean } = {},
): Html {
  return html`<details ${id !== undefined && html`id="${id}"`} ${isOpen && html`open`}>
    <summary>${summary}</summary>
    ${inside}
  </details>`
}

interface Reached {
  readonly reach: Reach
  readonly shown: Html
}

function operationDetails({ operation, statuses, request_fields, response_fields }: OperationCoverage): Html {
  const rows = statuses.map(({ status, reach, answers, injected, error_codes }) => {
    const codes = error_codes.map((each): Html => {
      const counts = { driven: each.answers, injected_only: `${each.injected} injected`, never: 'never' }
      return html`${inCode(each.error_code)} <small>(${counts[each.reach]})</small>`
    })
    return [status, reachMark(reach), answers, injected, commaList(codes)]
  })
  const requestFields = request_fields.map(({ path, in: place, required, reach }): Reached => {
    const about = [...(place === 'body' ? [] : [place]), ...(required ? ['required'] : [])].join(', ')
    return { reach, shown: html`${inCode(path)}${about !== '' && html` <small>(${about})</small>`}` }
  })
  const answered = response_fields.map(({ path, reach }): Reached => ({ reach, shown: inCode(path) }))
  const tables = [
    ...htmlTable(
      `${operation}: statuses and their error codes`,
      ['Status', 'Reach', ['Own answers', 'number'], ['Injected', 'number'], ['Error codes', 'wide']],
      rows,
    ),
    ...htmlTable(
      `${operation}: fields of requests and of successful answers`,
      ['Part', 'Reach', ['Fields', 'wide']],
      [...fieldRows('Request', requestFields), ...fieldRows('Response', answered)],
    ),
  ]
  const { driven } = tallyOf(statuses)
  const summary = html`<code>${operation}</code> <small>${driven} of ${statuses.length} statuses</small>`
  return collapsedSection(summary, tables, { id: `operation-${operation}` })
}

/** The fields by how far they were reached, a row each. */
function fieldRows(part: string, fields: readonly Reached[]): HtmlValue[][] {
  return REACH_NAMES.flatMap((wanted) => {
    const reached = fields.filter(({ reach }) => reach === wanted).map(({ shown }) => shown)
    return reached.length === 0 ? [] : [[part, reachMark(wanted), commaList(reached)]]
  })
}

function commaList(items: readonly Html[]): HtmlValue {
  return items.map((item, at) => html`${at > 0 && ', '}${item}`)
}

/** A bar of the counts, which are beside it as figures. */
function reachBar(tally: Tally): Html {
  const parts = REACH_NAMES.filter((reach) => tally[reach] > 0)
  return html`<span class="bar" aria-hidden="true"
    >${parts.map((reach) => html`<span class="${reach}" style="flex: ${tally[reach]}"></span>`)}</span
  >`
}

type Head = string | readonly [label: string, kind: 'number' | 'wide']

/** On a narrow screen each row is a block, and each cell has its label; the first cell of a row is its heading. */
function htmlTable(
  caption: string,
  heads: readonly Head[],
  rows: readonly (readonly HtmlValue[])[],
  kind: 'requests' | 'matrix' | '' = '',
): Html[] {
  if (rows.length === 0) return []
  const columns = heads.map((head) => {
    const [label, width] = typeof head === 'string' ? [head] : head
    return { label, attribute: width && html`class="${width}"` }
  })
  const row = ([first, ...cells]: readonly HtmlValue[]): Html =>
    html`<tr>
      <th scope="row">${first}</th>
      ${cells.map((cell, at) => html`<td ${columns[at + 1]?.attribute} data-label="${columns[at + 1]?.label}">${cell}</td>`)}
    </tr>`
  return [
    html`<div class="scroll-x" role="region" aria-label="${caption}" tabindex="0">
      <table class="${kind} ${kind !== 'matrix' && 'stacked'}">
        <caption ${kind === 'requests' && html`class="visually-hidden"`}>
          ${caption}
        </caption>
        <thead>
          <tr>
            ${columns.map(({ label, attribute }) => html`<th scope="col" ${attribute}>${label}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(row)}
        </tbody>
      </table>
    </div>`,
  ]
}

/** A name as code, which breaks after its parts where it has no room. */
function inCode(name: string): Html {
  return html`<code>${breakable(name).map((part, at) => html`${at > 0 && html`<wbr />`}${part}`)}</code>`
}

function reachMark(reach: Reach): Html {
  return html`<span class="reach ${reach}"> ${REACHES[reach]}</span>`
}
