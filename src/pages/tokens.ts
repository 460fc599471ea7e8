import { css } from './html.ts'

/** Design tokens: the colours and fonts that the pages, the HTML report and the dashboard share. */
export const TOKENS = css`
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
    }
  }
`
