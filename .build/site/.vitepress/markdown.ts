import type { MarkdownRenderer } from 'vitepress'
import { RowAnchors } from '../anchors.ts'

type Rule = Parameters<MarkdownRenderer['core']['ruler']['push']>[1]
type State = Parameters<Rule>[0]
type Token = State['tokens'][number]

/** What the site adds to the Markdown of the guides, which code hosts and editors show as it is. */
export function guideMarkdown(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('repository_links', repositoryLinks)
  markdown.core.ruler.push('row_anchors', rowAnchors)
  markdown.core.ruler.push('language_tabs', languageTabs)
  markdown.core.ruler.push('diagrams', diagrams)
  markdown.core.ruler.push('braces', braces)
}

/** The README is not on the site, whose start page replaces it. Files beside the guides are named and not linked. A README of a folder is its index. */
function repositoryLinks(state: State): void {
  for (const { children } of state.tokens)
    children?.forEach((token, at) => {
      const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : ''
      if (href === '../README.md') token.attrSet('href', '/')
      else if (/^\.\.\/(?:spec|skills)\/|\.yaml$/.test(href)) {
        token.attrs = null
        token.tag = 'span'
        const close = children.slice(at).find(({ type }) => type === 'link_close')
        if (close) close.tag = 'span'
      } else if (href !== '') token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'))
    })
}

/** A row whose first cell is a key, flag, code or rule has an anchor. */
function rowAnchors({ tokens }: State): void {
  const headings = tokens.filter((_, at) => tokens[at - 1]?.type === 'heading_open')
  const anchors = new RowAnchors(headings.map(({ content }) => content))
  let section = ''
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') section = tokens[at + 1]?.content ?? ''
    const cell = tokens[at + 2]
    if (token.type !== 'tr_open' || tokens[at + 1]?.type !== 'td_open' || cell?.type !== 'inline') return
    const anchor = anchors.of(cell.content, section)
    if (anchor !== undefined) token.attrSet('id', anchor)
  })
}

/** `**curl**` before a block, two times and more, becomes tabs; the choice is remembered by the theme. */
function languageTabs(state: State): void {
  const { tokens } = state
  const result: Token[] = []
  for (let at = 0; at < tokens.length;) {
    const group = groupAt(tokens, at)
    if (group.length < 2) {
      result.push(tokens[at++] as Token)
      continue
    }
    const open = new state.Token('html_block', '', 0)
    const name = `languages-${String(result.length)}`
    const tabs = group.map(({ language }, index) => {
      const id = `${name}-${String(index)}`
      return `<input type="radio" name="${name}" id="${id}"${index === 0 ? ' checked' : ''}><label data-title="${language}" for="${id}">${language}</label>`
    })
    open.content = `<div class="vp-code-group languages"><div class="tabs">${tabs.join('')}</div><div class="blocks">\n`
    const close = new state.Token('html_block', '', 0)
    close.content = '</div></div>\n'
    group.forEach(({ block }, index) => {
      if (index === 0) block.info += ' active'
    })
    result.push(open, ...group.map(({ block }) => block), close)
    at += group.length * TOKENS_OF_TAB
  }
  state.tokens = result
}

/** A paragraph, its inline content and its end, and the block. */
const TOKENS_OF_TAB = 4

function groupAt(tokens: readonly Token[], start: number): { language: string; block: Token }[] {
  const group = []
  for (let at = start; ; at += TOKENS_OF_TAB) {
    const [open, inline, , block] = tokens.slice(at, at + TOKENS_OF_TAB)
    const [, language] = /^\*\*([\w .:]+)\*\*$/.exec(inline?.content ?? '') ?? []
    if (open?.type !== 'paragraph_open' || language === undefined || block?.type !== 'fence') return group
    group.push({ language, block })
  }
}

/** A sequence is drawn; the lifecycle has a table of its moves beside its diagram, which the site shows alone. */
function diagrams(state: State): void {
  for (const token of state.tokens) {
    if (token.type !== 'fence' || token.info.trim() !== 'mermaid') continue
    token.type = 'html_block'
    const isSequence = token.content.startsWith('sequenceDiagram')
    token.content = isSequence ? `<Diagram source="${encodeURIComponent(token.content)}" />\n` : ''
  }
}

/** Vue leaves double braces alone: they are templates of toolmock. Those in blocks of code are left alone already. */
function braces({ tokens }: State): void {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (!token.content.includes('{{')) continue
    if (token.type === 'code_inline') token.attrSet('v-pre', '')
    if (token.type !== 'text') continue
    token.type = 'html_inline'
    token.content = `<span v-pre>${token.content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</span>`
  }
}
