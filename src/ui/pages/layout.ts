import { html, type Html } from './html.ts'
import { PAGE_STYLE } from './style.ts'

/** The colour of a page's edge; the text says the same. */
type Tone = 'info' | 'success' | 'warning' | 'error'

interface Layout {
  title: string
  /** A short line above the title that says where the reader is. */
  overline?: string | undefined
  tone?: Tone
  body: Html
  /** The environment and the request, by which the page is found in the request journal. */
  facts?: readonly string[] | undefined
}

// White space inside the element would change the hash in the policy (page-headers.ts).
// prettier-ignore
const STYLE_ELEMENT = html`<style>${PAGE_STYLE}</style>`

/** A page of a magic link or of a fake application, without scripts, images or anything from elsewhere. */
export function layout({ title, overline, tone = 'info', body, facts = [] }: Layout): Html {
  return htmlDocument({
    title,
    head: STYLE_ELEMENT,
    body: html`<main class="card ${tone}">
        ${overline ? html`<p class="overline">${overline}</p>` : null}
        <h1>${title}</h1>
        ${body}
      </main>
      <footer>
        toolmock, a local mock for tests: use made-up credentials.
        ${facts.length > 0 && html`<br />${facts.join(' · ')}`}
      </footer>`,
  })
}

/** A page with one message, whose text is a paragraph or several: connected, link expired, link unknown. */
export function noticePage({ text, ...page }: Omit<Layout, 'body'> & { text: string | readonly string[] }): Html {
  return layout({ ...page, body: html`${[text].flat().map((paragraph) => html`<p>${paragraph}</p>`)}` })
}

/** A whole HTML document; `head` holds its style, scripts and policy. */
export function htmlDocument({
  title,
  head,
  body,
  icon = 'data:,',
}: {
  title: string
  head: Html
  body: Html
  icon?: string
}): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html>`
}
