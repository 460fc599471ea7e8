import { css, html, type Html } from './html.ts'

/**
 * Design tokens that the pages, the HTML report and the dashboard share: colours, and one scale of sizes. Spaces are 4, 8, 12,
 * 16, 24 and 32 px everywhere.
 */
const TOKENS = css`
  :root {
    color-scheme: light dark;
    --page: #f3f4f7;
    --card: #ffffff;
    --hover: #eef0f6;
    --selected: #e4eaff;
    --text: #1b1f2a;
    --quiet: #565d6d;
    --line: #d5d9e2;
    --field: #ffffff;
    --accent: #2f55d4;
    --on-accent: #ffffff;
    --focus: #2f55d4;
    --success: #177245;
    --warning: #8a5806;
    --error: #b3261e;
    --info-tint: #e8edff;
    --success-tint: #e6f4ec;
    --warning-tint: #fbf0da;
    --error-tint: #fdeae8;
    --small: 0.75rem;
    --code: 0.8125rem;
    --body: 0.875rem;
    --large: 1rem;
    --title: 1.25rem;
    --sans: system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif;
    --mono: ui-monospace, 'Liberation Mono', monospace;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --page: #12141a;
      --card: #1c1f28;
      --hover: #242833;
      --selected: #2a3352;
      --text: #eceef4;
      --quiet: #a5adbd;
      --line: #383e4c;
      --field: #14171e;
      --accent: #8ea8ff;
      --on-accent: #10131a;
      --focus: #b5c5ff;
      --success: #6fd6a0;
      --warning: #f0bd62;
      --error: #ff9b92;
      --info-tint: #232d4d;
      --success-tint: #1a3127;
      --warning-tint: #372c18;
      --error-tint: #40242a;
    }
  }
`

/** Type, links, tables, focus and tones. */
const BASICS = css`
  * {
    box-sizing: border-box;
  }
  body {
    margin: 0;
    background: var(--page);
    color: var(--text);
    font: var(--large) / 1.5 var(--sans);
  }
  :where(h1, h2, h3) {
    line-height: 1.25;
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
  .never {
    --tone: var(--quiet);
  }
  .overline {
    margin: 0 0 0.25rem;
    color: var(--tone, var(--accent));
    font-size: var(--small);
    font-weight: 600;
    letter-spacing: 0.04em;
  }
  :where(.quiet, footer, thead th) {
    color: var(--quiet);
  }
  ::placeholder {
    color: var(--quiet);
    opacity: 1;
  }
  a {
    color: var(--accent);
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  :where(th, td) {
    border-bottom: 1px solid var(--line);
    text-align: left;
    vertical-align: top;
    overflow-wrap: break-word;
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  :where(th, label, .label) {
    font-weight: 600;
  }
  :where(caption, thead th) {
    font-size: var(--small);
    text-align: left;
  }
  :where(button, input, select, textarea) {
    border: 1px solid var(--line);
    border-radius: 6px;
    background: var(--field);
    color: inherit;
    font: inherit;
  }
  :is(button, .button) {
    border: 1px solid var(--line);
    border-radius: 6px;
    background: var(--card);
    color: var(--text);
    font-weight: 500;
    text-align: center;
    text-decoration: none;
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
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  :focus-visible {
    outline: 3px solid var(--focus);
    outline-offset: 2px;
  }
`

/** What the pages, the HTML report and the dashboard share. */
export const BASE_STYLE: Html = html`${TOKENS}${BASICS}`

/** Consent page, credentials form and notices: a card in the middle of the window. */
const CARDS = css`
  body {
    min-height: 100vh;
    display: flex;
    flex-direction: column;
    align-items: center;
    justify-content: center;
    gap: 1rem;
    padding: 1.5rem 1rem;
    overflow-wrap: anywhere;
  }
  main {
    width: 100%;
    max-width: 30rem;
    padding: 2rem;
    background: var(--card);
    border: 1px solid var(--line);
    border-top: 4px solid var(--tone, var(--accent));
    border-radius: 12px;
    box-shadow: 0 8px 28px rgb(10 15 35 / 10%);
  }
  h1 {
    margin: 0 0 0.75rem;
    font-size: 1.5rem;
  }
  :where(h2, legend) {
    margin: 0;
    padding: 0;
    font-size: 1rem;
    font-weight: 600;
  }
  p {
    margin: 0 0 1rem;
  }
  :where(.quiet, footer) {
    font-size: var(--body);
  }
  footer {
    max-width: 30rem;
    text-align: center;
  }
  ul {
    margin: 0.5rem 0 1.25rem;
    padding: 0;
    list-style: none;
    border: 1px solid var(--line);
    border-radius: 8px;
  }
  li {
    padding: 0.5rem 0.75rem;
  }
  li code {
    float: right;
    color: var(--quiet);
    font: var(--small) / 1.5rem var(--mono);
  }
  li + li {
    border-top: 1px solid var(--line);
  }
  fieldset {
    min-width: 0;
    margin: 0 0 1.25rem;
    padding: 0;
    border: 0;
  }
  .choice {
    display: flex;
    align-items: center;
    gap: 0.5rem;
    margin-top: 0.5rem;
    padding: 0.5rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: 8px;
    font-weight: 400;
    cursor: pointer;
  }
  .field [aria-invalid='true'] {
    border-color: var(--error);
  }
  .choice:has(:checked) {
    border-color: var(--accent);
    box-shadow: inset 0 0 0 1px var(--accent);
  }
  .choice:focus-within {
    outline: 3px solid var(--focus);
    outline-offset: 2px;
  }
  .choice input {
    flex: none;
    width: 1.125rem;
    height: 1.125rem;
    margin: 0;
    accent-color: var(--accent);
    outline: none;
  }
  .field {
    margin-bottom: 1.25rem;
  }
  fieldset .field {
    margin: 0.75rem 0 0;
  }
  @supports selector(:has(*)) {
    fieldset:not(:has(#other-person:checked)) .field {
      display: none;
    }
  }
  .field label {
    display: block;
    margin-bottom: 0.25rem;
  }
  .field input {
    padding: 0.5rem 0.75rem;
    border-color: var(--quiet);
  }
  :where(.field .quiet, .problem) {
    margin: 0.25rem 0 0;
    font-size: var(--body);
  }
  form > .problem {
    margin: 0 0 1rem;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.75rem;
    margin: 1.5rem 0 0;
  }
  :where(.actions > *, .actions button) {
    flex: 1 1 8rem;
  }
  :is(button, .button) {
    display: block;
    padding: 0.75rem 1rem;
    border-color: var(--quiet);
    font-weight: 600;
    cursor: pointer;
  }
  @media (forced-colors: active) {
    .choice:has(:checked) {
      outline: 2px solid Highlight;
    }
  }
`

/** The style sheet of all pages. It is part of the page, so that a page needs no other request. */
export const PAGE_STYLE: Html = html`${BASE_STYLE}${CARDS}`
