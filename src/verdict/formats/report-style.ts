import { css } from '../../pages/html.ts'

/** The HTML report on a screen, on top of the base style of all pages. */
export const REPORT_STYLE = css`
  body {
    margin: 0 auto;
    font-size: var(--body);
    max-width: 76rem;
    padding: 2rem 1.25rem 4rem;
    overflow-wrap: anywhere;
  }
  :where(header, section) {
    margin: 0 0 1.25rem;
    padding: 1.25rem 1.5rem;
    background: var(--card);
    border: 1px solid var(--line);
    border-radius: 12px;
  }
  header {
    border-left: 4px solid var(--tone);
    background: var(--tint);
  }
  header h1 {
    color: var(--tone);
  }
  /* Each operation has its own table; their columns align from one to the next. */
  @media screen and (min-width: 40.01rem) {
    :is(#violations, #answers, #warnings, #paths) table {
      min-width: 52rem;
      table-layout: fixed;
    }
    :is(#violations, #answers, #warnings) :is(th:nth-child(2), th:nth-child(4)) {
      width: 14%;
    }
    :is(#violations, #answers, #warnings, #paths) thead th:nth-last-child(2),
    #paths thead th:nth-child(2) {
      width: 5rem;
    }
    :is(#violations, #answers, #warnings, #paths) thead th:last-child {
      width: 32%;
    }
  }
  :where(h1, h2, h3) {
    margin: 0 0 0.5rem;
  }
  h1 {
    font-size: 1.5rem;
  }
  h2 {
    font-size: var(--title);
  }
  h3 {
    margin-top: 1.5rem;
    font-size: var(--large);
  }
  :where(p, ul) {
    margin: 0 0 0.75rem;
  }
  ul {
    padding-left: 1.25rem;
  }
  :is(section, header) > :last-child {
    margin-bottom: 0;
  }
  small {
    color: var(--quiet);
  }
  :where(.quiet, small, footer) {
    font-size: var(--small);
  }
  code {
    font: var(--code) / 1.5 var(--mono);
    unicode-bidi: isolate;
  }
  .scroll {
    margin: 0 0 0.75rem;
    overflow-x: auto;
  }
  table {
    font-variant-numeric: tabular-nums;
  }
  :where(table code, .wide) {
    overflow-wrap: anywhere;
  }
  caption {
    padding: 0 0 0.25rem;
    color: var(--quiet);
  }
  :where(th, td) {
    padding: 0.25rem 0.75rem 0.25rem 0;
    min-width: 4.5rem;
  }
  thead th {
    vertical-align: bottom;
  }
  h3 code {
    font-size: var(--large);
  }
  h3 + .scroll caption {
    position: absolute;
    clip-path: inset(50%);
  }
  .number {
    text-align: right;
  }
  .origin {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .origin .short {
    overflow-wrap: normal;
  }
  .matrix :is(th, td) {
    min-width: 0;
    padding: 0.1rem 0.75rem 0.1rem 0;
    white-space: nowrap;
  }
  summary {
    padding: 0.2rem 0;
    cursor: pointer;
  }
  details[open] > summary {
    margin-bottom: 0.5rem;
    font-weight: 600;
  }
  tbody th {
    min-width: 8rem;
  }
  .wide {
    min-width: 9rem;
  }
  :where(.short, .reach) {
    white-space: nowrap;
  }
  .reach::before {
    content: '';
    display: inline-block;
    width: 0.7em;
    height: 0.7em;
    margin-right: 0.4em;
    border: 1.5px solid var(--tone);
    border-radius: 50%;
  }
  .driven {
    --fill: var(--success);
  }
  .injected_only {
    --fill: repeating-linear-gradient(135deg, var(--warning) 0 2px, transparent 2px 4px);
  }
  .never {
    --fill: transparent;
  }
  .reach::before,
  .bar > * {
    background: var(--fill);
    -webkit-print-color-adjust: exact;
    print-color-adjust: exact;
  }
  .bar {
    display: flex;
    min-width: 8rem;
    height: 0.875em;
    margin-top: 0.3em;
    border: 1px solid var(--quiet);
    border-radius: 3px;
    overflow: hidden;
  }
  .bar > * + * {
    border-left: 1px solid var(--quiet);
  }
  @media screen and (max-width: 40rem) {
    :where(header, section) {
      padding: 1rem;
    }
    body {
      padding: 0.75rem 0.75rem 3rem;
    }
    :where(table, caption, tbody, tr, tbody th, td) {
      display: block;
    }
    thead {
      display: block;
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    tr {
      padding: 0.5rem 0;
    }
    tr + tr {
      border-top: 1px solid var(--line);
    }
    :where(tbody th, td) {
      padding: 0.125rem 0;
      border: 0;
    }
    .number {
      text-align: left;
    }
    td:empty {
      display: none;
    }
    .matrix tr {
      display: flex;
      flex-wrap: wrap;
      gap: 0 0.9rem;
    }
    .matrix tbody th {
      flex: 1 0 100%;
    }
    td::before {
      content: attr(data-label) ': ';
      color: var(--quiet);
      font-size: var(--small);
    }
  }
`

/** On paper: black on white, without page breaks inside a row or after a heading. */
export const PRINT_STYLE = css`
  @media print {
    @page {
      margin: 14mm 12mm;
    }
    :root {
      color-scheme: light;
      --page: #fff;
      --card: #fff;
      --text: #000;
      --quiet: #333;
      --line: #999;
      --accent: #000;
      --success: #000;
      --warning: #000;
      --error: #000;
      --success-tint: #fff;
      --warning-tint: #fff;
      --error-tint: #fff;
    }
    body {
      max-width: none;
      padding: 0;
      font-size: 9.5pt;
    }
    code {
      font-size: 8pt;
    }
    :where(header, section) {
      padding: 0 0 0.5rem;
      border: 0;
      border-radius: 0;
    }
    section {
      border-top: 1px solid #000;
      padding-top: 0.75rem;
    }
    .scroll {
      overflow: visible;
    }
    :where(th, td) {
      min-width: 0;
      padding: 0.2rem 0.5rem 0.2rem 0;
    }
    thead th {
      font-size: 8pt;
    }
    tbody th {
      min-width: 7rem;
    }
    .wide {
      min-width: 6rem;
    }
    :where(h1, h2, h3, caption, thead, thead tr) {
      break-after: avoid;
    }
    :where(tr, #coverage) {
      break-inside: avoid;
    }
    tbody tr:first-child {
      break-before: avoid;
    }
    a {
      text-decoration: none;
    }
    details::details-content {
      content-visibility: visible;
      block-size: auto;
    }
  }
`
