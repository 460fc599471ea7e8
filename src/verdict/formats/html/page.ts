import { html, type Html } from '../../../pages/html.ts'
import { PALETTE } from '../../../pages/style.ts'
import { leftOutSentence } from '../../sentences.ts'
import { byOperation } from '../by-operation.ts'
import type { ReportPair } from '../../report-pair.ts'
import { movesSection, operationsSection, scenariosSection, share, summarySection } from './coverage.ts'
import {
  allowedSection,
  answersSection,
  pathsSection,
  rulesSection,
  violationsSection,
  warningsSection,
} from './findings.ts'
import { PRINT_STYLE } from './print-style.ts'
import { REPORT_STYLE } from './style.ts'
import { inCode, type Column, table } from './table.ts'
import { plural } from '../../../domain/text.ts'

/** Both reports as one page that needs nothing from anywhere: no script, no image, no font. */
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
          ${PALETTE}${REPORT_STYLE}${PRINT_STYLE}
        </style>
      </head>
      <body>
        ${verdict(reports)}
        <main>
          ${violationsSection(operations)} ${pathsSection(total.unknown_paths)} ${allowedSection(allowed)}
          ${rulesSection(total.unfired_rules)} ${answersSection(operations)} ${warningsSection(operations)}
          ${summarySection(coverage.total.summary, shortfalls)} ${operationsSection(coverage.total.operations)}
          ${movesSection(coverage.total.lifecycle_moves)} ${scenariosSection(coverage.total.scenarios)}
          ${environmentsSection(reports)}
        </main>
        <footer>
          ${`${contract.tool.name} ${contract.tool.version}`}. The rules with an identifier such as G6 are explained in
          docs/fidelity.md. <code>GET /_mock/requests/{id}/explain</code> tells of a request what was asked and
          answered.
        </footer>
      </body>
    </html>`
  return `${page.toString()}\n`
}

/** Without a request, nothing was kept either. */
function titleOf({ contract: { ok, total }, shortfalls = [] }: ReportPair): string {
  if (!ok) return 'The contract was broken'
  if (shortfalls.length > 0) return 'Too little of the contract was driven'
  return total.requests === 0 ? 'No operation was called' : 'The contract was kept'
}

function verdict(reports: ReportPair): Html {
  const { ok, total, at, environments } = reports.contract
  const failed = !ok || (reports.shortfalls ?? []).length > 0
  const tone = failed ? 'broken' : total.requests === 0 ? 'unasked' : 'held'
  return html`<header class="${tone}">
    <p class="overline">Contract and coverage · ${at}</p>
    <h1>${titleOf(reports)}</h1>
    ${reasons(reports)}
    <p>
      ${plural(total.requests, 'request')} in ${plural(environments.length, 'environment')}; ${total.injected} of them
      answered, cut or changed by a scenario.
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
      noun: 'rule that had to fire and never did',
      nouns: 'rules that had to fire and never did',
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
      noun: 'minimum of coverage that was missed',
      nouns: 'minima of coverage that were missed',
    },
    {
      id: 'warnings',
      count: total.warnings.length,
      noun: 'warning, which breaks nothing',
      nouns: 'warnings, which break nothing',
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
    ${table({ caption: 'What was found and driven in each environment by itself', columns, rows })}
  </section>`
}
