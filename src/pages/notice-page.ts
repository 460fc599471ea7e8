import { html, type Html } from './html.ts'
import { layout, type Tone } from './layout.ts'

export interface NoticePage {
  title: string
  /** One paragraph each. */
  text: string | readonly string[]
  tone: Tone
  overline?: string | undefined
  facts?: readonly string[] | undefined
  /** The next step: a link, or (`post`) an empty form. */
  next?: { label: string; href: string; method?: 'get' | 'post' } | undefined
}

/** A page with one message: connected, link expired, link unknown. */
export function noticePage({ title, text, tone, overline, next, facts }: NoticePage): Html {
  const paragraphs = typeof text === 'string' ? [text] : text
  const body = html`${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)} ${next ? nextStep(next) : null}`
  return layout({ title, tone, overline, body, facts })
}

function nextStep({ label, href, method = 'get' }: NonNullable<NoticePage['next']>): Html | null {
  // Only http addresses and paths, never `javascript:`.
  if (!/^(https?:\/\/|\/(?!\/)|\?)/i.test(href)) return null
  if (method === 'get') return html`<p class="buttons"><a class="button primary" href="${href}">${label}</a></p>`
  return html`<form class="buttons" method="post" action="${href}"><button class="primary">${label}</button></form>`
}
