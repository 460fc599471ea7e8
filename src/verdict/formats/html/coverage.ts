import type { Coverage, Reach, Tally } from '../../../documents/report-schemas.ts'
import { html, type Html, type HtmlValue } from '../../../pages/html.ts'
import type { Shortfall } from '../../report-pair.ts'
import { tallyOf } from '../../reach.ts'
import { inCode, type Column, reachMark, table } from './table.ts'

type OperationCoverage = Coverage['operations'][number]
type ErrorCodeCoverage = OperationCoverage['statuses'][number]['error_codes'][number]

const REACHES: readonly Reach[] = ['driven', 'injected_only', 'never']

/** Each kind of coverage by itself. */
export function summarySection(summary: Coverage['summary'], shortfalls: readonly Shortfall[] = []): Html {
  const columns: Column[] = [
    { label: 'Kind' },
    { label: 'Driven', kind: 'number' },
    { label: 'Only by injection', kind: 'number' },
    { label: 'Never', kind: 'number' },
    { label: 'All', kind: 'number' },
    { label: 'In proportion' },
  ]
  const rows = Object.entries(summary).map(([kind, tally]) => {
    const { driven, injected_only: injected, never, total } = tally
    return [sentenceCase(kind.replaceAll('_', ' ')), driven, injected, never, total, bar(tally)]
  })
  return html`<section id="coverage" aria-labelledby="coverage-title">
    <h2 id="coverage-title">What was exercised</h2>
    <p>
      Driven is what answers of the mock itself have shown. What only a scenario or the control API has brought about is
      no proof of anything, and is counted apart.
    </p>
    ${shortfalls.map(({ sentence }) => html`<p><strong>${sentence}.</strong></p>`)}
    ${table({ caption: 'How much of each kind was driven', columns, rows })}
  </section>`
}

/** Every operation in one line, with a way to its details. */
export function operationsSection(operations: readonly OperationCoverage[]): Html {
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
    ${table({ caption: 'How much of each operation was driven', columns, rows })} ${operations.map(details)}
  </section>`
}

export function movesSection(moves: Coverage['lifecycle_moves']): Html {
  const columns: Column[] = [{ label: 'Event' }, { label: 'From' }, { label: 'To' }, { label: 'Reach' }]
  const rows = moves.map(({ from, event, to, reach }) => [inCode(event), inCode(from), inCode(to), reachMark(reach)])
  return html`<section id="moves" aria-labelledby="moves-title">
    <h2 id="moves-title">Lifecycle moves of accounts</h2>
    ${table({ caption: 'Every move of an account from one status to another', columns, rows })}
  </section>`
}

export function scenariosSection(scenarios: Coverage['scenarios']): Html {
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
    ${table({ caption: 'Driven is a scenario once every rule of it has fired that has to', columns, rows })}
  </section>`
}

/** `5 of 7`, and what does not count as proof. */
export function share({ driven, injected_only: injected, total }: Tally): HtmlValue {
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

/** Which fields were reached how far. Most of many are reached alike, so that each reach is one row. */
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

/** The same counts for the eye; the figures stand beside it. */
function bar(tally: Tally): Html {
  const parts = REACHES.filter((reach) => tally[reach] > 0)
  return html`<span class="bar" aria-hidden="true"
    >${parts.map((reach) => html`<span class="${reach}" style="flex: ${tally[reach]}"></span>`)}</span
  >`
}

function sentenceCase(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
