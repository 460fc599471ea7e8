import { html, type Html } from './html.ts'
import { layout, type Layout } from './layout.ts'

interface NoticePage extends Pick<Layout, 'title' | 'tone' | 'facts'> {
  /** One paragraph each. */
  text: string | readonly string[]
}

/** A page with one message: connected, link expired, link unknown. */
export function noticePage({ text, ...page }: NoticePage): Html {
  const paragraphs = typeof text === 'string' ? [text] : text
  return layout({ ...page, body: html`${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}` })
}
