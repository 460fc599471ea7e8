import { css, html, type Html } from './html.ts'

/** Shared by the pages, the HTML report and the dashboard. Spaces are 4, 8, 12, 16, 24 and 32 px everywhere. */
const TOKENS = css`
  :root {
    color-scheme: light dark;
    --page: light-dark(#f6f5f9, #121117);
    --card: light-dark(#ffffff, #1b1a22);
    --hover: light-dark(#f0eef6, #25232e);
    --selected: light-dark(#e9e4ff, #322b55);
    --text: light-dark(#1d1a26, #eeecf4);
    --quiet: light-dark(#5d586b, #aaa5b8);
    --line: light-dark(#dcd9e4, #393644);
    --field: light-dark(#ffffff, #15141b);
    --accent: light-dark(#5b3fd6, #b3a3ff);
    --on-accent: light-dark(#ffffff, #15121f);
    --focus: light-dark(#5b3fd6, #cabfff);
    --success: light-dark(#177245, #6fd6a0);
    --warning: light-dark(#8a5806, #f0bd62);
    --error: light-dark(#b3261e, #ff9b92);
    --info-tint: light-dark(#efebff, #2b2549);
    --success-tint: light-dark(#e6f4ec, #1a3127);
    --warning-tint: light-dark(#fbf0da, #372c18);
    --error-tint: light-dark(#fdeae8, #40242a);
    --small: 0.75rem;
    --code: 0.8125rem;
    --body: 0.875rem;
    --large: 1rem;
    --title: 1.25rem;
    --sans: Geist, system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif;
    --mono: 'Geist Mono', ui-monospace, 'Liberation Mono', monospace;
  }
`

/** Type, links, focus, tones and controls. */
const BASICS = css`
  * {
    box-sizing: border-box;
  }
  body {
    margin: 0;
    background: var(--page);
    color: var(--text);
    font: var(--body) / 1.45 var(--sans);
    overflow-wrap: anywhere;
  }
  :where(h1, h2, h3, p, ol, ul, dl, dd, pre, fieldset, legend) {
    margin: 0;
    padding: 0;
  }
  :where(h1, h2, h3) {
    font-size: var(--body);
    line-height: 1.25;
  }
  :where(h1, h2, h3, strong, th, label, legend) {
    font-weight: 600;
  }
  :where(h2) {
    font-size: var(--large);
  }
  :where(ol, ul) {
    list-style: none;
  }
  small {
    font-size: var(--small);
  }
  .info {
    --tone: var(--accent);
    --tint: var(--info-tint);
  }
  :where(.success, .driven) {
    --tone: var(--success);
    --tint: var(--success-tint);
  }
  :where(.warning, .injected_only) {
    --tone: var(--warning);
    --tint: var(--warning-tint);
  }
  .error {
    --tone: var(--error);
    --tint: var(--error-tint);
  }
  .overline {
    color: var(--tone, var(--accent));
    font-size: var(--small);
    font-weight: 600;
    letter-spacing: 0.04em;
  }
  :where(.quiet, small, footer, thead th) {
    color: var(--quiet);
  }
  ::placeholder {
    color: var(--quiet);
    opacity: 1;
  }
  :where(a) {
    color: var(--accent);
  }
  :where(button, .button, input, select, textarea) {
    border: 1px solid var(--line);
    border-radius: 6px;
    background: var(--field);
    color: inherit;
    font: inherit;
  }
  /* A control with the text of a program has its font. */
  :where(code, kbd, .mono) {
    font-family: var(--mono);
    font-size: var(--code);
    font-variant-numeric: tabular-nums;
  }
  :where(button, .button) {
    background: var(--card);
    color: var(--text);
    text-align: center;
    text-decoration: none;
    white-space: nowrap;
  }
  :where(button, .button):hover {
    border-color: var(--quiet);
  }
  :where(button, .button).primary:not(:disabled) {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--on-accent);
  }
  .primary:hover {
    filter: brightness(1.08);
  }
  .field :is(input, select, textarea) {
    width: 100%;
  }
  [aria-invalid='true'] {
    border-color: var(--error);
  }
  .problem {
    color: var(--error);
    font-weight: 600;
  }
  :focus-visible {
    outline: 3px solid var(--focus);
    outline-offset: 2px;
  }
`

/** Boxes, rows, lists and tables. */
const COMPONENTS = css`
  :where(.row, .buttons) {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  :where(.wrap, .buttons) {
    flex-wrap: wrap;
  }
  :where(.column, .field) {
    display: flex;
    flex-direction: column;
    gap: 8px;
  }
  .card {
    padding: 16px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--card);
  }
  /* What the whole page is about, in the tone of the result. */
  .verdict {
    border-left: 4px solid var(--tone);
    background: var(--tint);
  }
  .verdict :is(h1, strong) {
    color: var(--tone);
    font-size: var(--title);
  }
  :where(.items, .facts, .field) {
    gap: 4px;
  }
  /* Sentences that are each about something else, and the members of a value. */
  .items > * {
    padding-left: 12px;
    border-left: 2px solid var(--tone, var(--line));
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  caption {
    padding: 12px 0 4px;
    font-weight: 600;
    text-align: left;
  }
  :where(th, td) {
    min-width: 72px;
    padding: 4px 12px 4px 0;
    border-bottom: 1px solid var(--line);
    text-align: left;
    vertical-align: baseline;
    overflow-wrap: break-word;
  }
  thead th {
    font: 400 var(--small) / 1.45 var(--sans);
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  /* A name does not wrap while there is room, and a long value does not push the other columns away. */
  td {
    max-width: 480px;
    overflow-wrap: anywhere;
  }
  :where(td.mono, .wide) {
    min-width: 136px;
  }
  .number {
    font-variant-numeric: tabular-nums;
  }
  :is(th, td).number {
    min-width: 0;
    text-align: right;
  }
  .scroll-x {
    position: relative;
    overflow-x: auto;
  }
  /* Only a screen reader needs it. */
  :is(.visually-hidden, :is(.controls, td) .choice label) {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  /* How far the parts of the contract were reached. */
  .matrix {
    width: auto;
  }
  .matrix :is(th, td) {
    min-width: 40px;
    padding-block: 2px;
    white-space: nowrap;
  }
  .matrix :is(td, thead th + th) {
    padding-right: 0;
    text-align: center;
  }
  .matrix th:first-child {
    position: sticky;
    left: 0;
    background: var(--card);
  }
  .reach {
    color: var(--tone, var(--quiet));
    white-space: nowrap;
  }
  .reach::before {
    content: var(--mark, '●') / '';
  }
  .reach.injected_only {
    --mark: '◐';
  }
  .reach.never {
    --mark: '·';
  }
  /* Where a table has no room, a row is a card; the name of its column is before each value. */
  :is(.list-side, .page, .detail, section) {
    container-type: inline-size;
  }
  @container (max-width: 479px) {
    .stacked :is(tbody, tr, th, td) {
      display: block;
      min-width: 0;
      padding: 1px 0;
      border: 0;
      text-align: left;
      overflow-wrap: anywhere;
    }
    .stacked thead {
      position: absolute;
      clip-path: inset(50%);
    }
    .stacked tbody > tr {
      padding: 6px 0;
    }
    .stacked tr + tr {
      border-top: 1px solid var(--line);
    }
    .stacked td[data-label]::before {
      color: var(--quiet);
      font-family: var(--sans);
      content: attr(data-label) ': ';
    }
    .stacked td:empty {
      display: none;
    }
  }
`

/** What the pages, the HTML report and the dashboard share. */
export const BASE_STYLE: Html = html`${TOKENS}${BASICS}${COMPONENTS}`

/** Consent page, credentials form and notices: a card in the middle of the window. */
const CARDS = css`
  body {
    min-height: 100vh;
    display: grid;
    grid-template-columns: minmax(0, 30rem);
    place-content: center;
    gap: 16px;
    padding: 24px 16px;
    font-size: var(--large);
  }
  main.card {
    padding: 32px;
    border-top: 4px solid var(--tone);
  }
  :is(main, form) > * + * {
    margin-top: 16px;
  }
  .overline + h1 {
    margin-top: 4px;
  }
  h1 {
    font-size: 1.5rem;
  }
  :where(p.quiet, .field p, footer) {
    font-size: var(--body);
  }
  footer {
    text-align: center;
  }
  fieldset {
    min-width: 0;
    border: 0;
  }
  label.card {
    margin-top: 8px;
    padding: 8px 12px;
    font-weight: 400;
    cursor: pointer;
  }
  label.card:has(:checked) {
    border-color: var(--accent);
    box-shadow: inset 0 0 0 1px var(--accent);
  }
  input[type='radio'] {
    flex: none;
    width: 18px;
    height: 18px;
    margin: 0;
    accent-color: var(--accent);
  }
  fieldset .field {
    margin-top: 12px;
  }
  fieldset:not(:has(#other-person:checked)) .field {
    display: none;
  }
  .field input {
    padding: 8px 12px;
  }
  .buttons > * {
    flex: 1 1 8rem;
    padding: 12px 16px;
    font-weight: 600;
    cursor: pointer;
  }
  :where(.field input, .buttons > *) {
    border-color: var(--quiet);
  }
  @media (forced-colors: active) {
    label.card:has(:checked) {
      outline: 2px solid Highlight;
    }
  }
`

/** The HTML report. */
const REPORT = css`
  body {
    max-width: 64rem;
    margin: 0 auto;
    padding: clamp(12px, 3vw, 32px);
    overflow-wrap: break-word;
  }
  .card {
    margin-bottom: 16px;
  }
  :is(.card, details, td) > :not(details) + * {
    margin-top: 12px;
  }
  code {
    unicode-bidi: isolate;
  }
  .short {
    white-space: nowrap;
  }
  summary {
    padding: 4px 0;
    cursor: pointer;
  }
  .index li {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .finding {
    margin: 12px 0;
    padding-left: 12px;
    border-left: 3px solid var(--tone);
  }
  .finding h3 + p::first-letter {
    text-transform: uppercase;
  }
  .requests {
    margin-top: 4px;
    font-size: var(--code);
  }
  .requests :is(th, td) {
    max-width: none;
    font-weight: 400;
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
  .bar > * {
    background: var(--tone, none);
    print-color-adjust: exact;
  }
  .bar > .injected_only {
    background: repeating-linear-gradient(135deg, var(--tone) 0 2px, transparent 2px 4px);
  }
  /* Each table has the same columns, whose words are whole: a value breaks only where it is longer than its column. */
  @container (min-width: 480px) {
    .requests {
      table-layout: fixed;
    }
    td {
      overflow-wrap: break-word;
    }
    .requests :is(th, td):nth-child(3) {
      width: 12em;
    }
    .requests :is(th, td):nth-child(4) {
      width: 16em;
      padding-right: 0;
    }
  }
  /* On paper: black on white, with what is open, without page breaks inside a row or after a heading. */
  @media print {
    @page {
      size: A4;
      margin: 14mm 12mm;
    }
    :root {
      color-scheme: light;
      --page: #fff;
      --text: #000;
      --quiet: #333;
      --line: #999;
      --accent: #000;
      --success: #000;
      --warning: #000;
      --error: #000;
      --code: 8pt;
      --small: 8pt;
      --body: 9.5pt;
    }
    body {
      max-width: none;
      padding: 0;
    }
    .card {
      padding: 8px 0;
      border-width: 1px 0 0;
      border-radius: 0;
      background: none;
    }
    .scroll-x {
      overflow: visible;
    }
    :where(th, td) {
      min-width: 0;
      padding-block: 2px;
    }
    :where(h1, h2, h3, h3 + p, caption, thead, summary) {
      break-after: avoid;
    }
    :where(tr, li, h3 + p) {
      break-inside: avoid;
    }
    a {
      text-decoration: none;
    }
    :is(#details details:not([open]), #details:not(:has([open]))) {
      display: none;
    }
  }
`

/** The style sheets of all pages and of the report. They are part of the page, so that a page needs no other request. */
export const PAGE_STYLE: Html = html`${BASE_STYLE}${CARDS}`
export const REPORT_STYLE: Html = html`${BASE_STYLE}${REPORT}`
