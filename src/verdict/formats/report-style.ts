import { css } from '../../pages/html.ts'

/** What only the HTML report has, on top of the base style of all pages. */
export const REPORT_STYLE = css`
  body {
    max-width: 76rem;
    margin: 0 auto;
    padding: clamp(12px, 3vw, 32px);
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
    padding: 0.2rem 0;
    cursor: pointer;
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
  /* What is allowed, or has no effect, is a sentence. */
  @container (min-width: 900px) {
    .findings th:first-child {
      width: 184px;
    }
    .findings :is(.text, .wide) {
      width: 24%;
    }
  }
  /* On paper: black on white, without page breaks inside a row or after a heading. */
  @media print {
    @page {
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
      padding: 0.75rem 0 0.5rem;
      border-width: 1px 0 0;
      border-radius: 0;
      background: none;
    }
    .scroll-x {
      overflow: visible;
    }
    :where(th, td) {
      min-width: 0;
      overflow-wrap: anywhere;
    }
    :where(h1, h2, caption, thead, thead tr) {
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
