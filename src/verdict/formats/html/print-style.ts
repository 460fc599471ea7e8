import { css } from '../../../pages/html.ts'

/** How it looks on paper: black on white, and neither a row nor a heading parts from what it belongs to. */
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
    }
    body {
      max-width: none;
      padding: 0;
      font-size: 9.5pt;
    }
    code {
      font-size: 8pt;
    }
    header,
    section {
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
    th,
    td {
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
    h1,
    h2,
    h3,
    caption {
      break-after: avoid;
    }
    tr,
    #coverage {
      break-inside: avoid;
    }
    thead,
    thead tr {
      break-after: avoid;
    }
    tbody tr:first-child {
      break-before: avoid;
    }
    a {
      text-decoration: none;
    }
  }
`
