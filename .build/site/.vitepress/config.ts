import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitepress'
import { headingAnchor } from '../anchors.ts'
import { GROUPS, MOVED } from '../groups.ts'
import { guideMarkdown } from './markdown.ts'

const SITE = fileURLToPath(new URL('..', import.meta.url))
const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url))
const SKILLS = fileURLToPath(new URL('../../../skills', import.meta.url))
const DESCRIPTION =
  'A local, stateful mock of an agent tool-access service: connected accounts, consent, verification and tool execution.'

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57b7"/><path d="M8 9h16v4h-6v11h-4V13H8z" fill="#fff"/></svg>')}`

/** The pages of the operations, by the titles that they have. */
const OPERATIONS = readdirSync(`${DOCS}/api`)
  .filter((file) => file !== 'README.md')
  .map((file) => ({
    text: /^# (.*)$/m.exec(readFileSync(`${DOCS}/api/${file}`, 'utf8'))?.[1] ?? file,
    link: `/api/${file.replace(/\.md$/, '')}`,
  }))

/** The address of a page on the site: `docs/README.md` is the start page, a README of a folder its index. */
const linkOf = (file: string): string => `/${file.replace(/README\.md$/, '').replace(/\.md$/, '')}`

/** A page in place of one that has moved, so that old addresses lead to the new ones wherever the site is served. */
function movedPage(target: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="refresh" content="0; url=${target}" />
    <meta name="robots" content="noindex" />
    <title>This page has moved</title>
  </head>
  <body>
    <p>This page has moved: <a href="${target}">${target}</a></p>
  </body>
</html>
`
}

/** The guides are outside of the folder that has the packages, so their imports of Vue are resolved as those of this file. */
function packagesOfTheSite(): Plugin {
  return {
    name: 'packages-of-the-site',
    enforce: 'pre',
    resolveId(id, importer, { ssr }) {
      if (!/^vue(?:$|\/)/.test(id)) return
      if (ssr) return { id, external: true }
      if (importer?.startsWith(SITE)) return
      return this.resolve(id, `${SITE}groups.ts`, { skipSelf: true })
    },
  }
}

/** The site of `docs/`. `npm run docs` builds it, `npm run docs:dev` serves it while it is written. */
export default defineConfig({
  title: 'toolmock',
  description: DESCRIPTION,
  lang: 'en',
  srcDir: DOCS,
  outDir: fileURLToPath(new URL('../dist', import.meta.url)),
  rewrites: { 'README.md': 'index.md', 'api/README.md': 'api/index.md' },
  cleanUrls: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: ICON }]],
  markdown: {
    anchor: { slugify: headingAnchor },
    toc: { slugify: headingAnchor },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: guideMarkdown,
  },
  vite: { plugins: [packagesOfTheSite()] },
  buildEnd: ({ outDir }) => {
    // A coding agent reads the skill as it is, at the path that it has in the package.
    cpSync(SKILLS, join(outDir, 'skills'), { recursive: true })
    for (const [name, target] of Object.entries(MOVED)) writeFileSync(join(outDir, `${name}.html`), movedPage(target))
  },
  transformPageData: (page) => {
    if (page.relativePath !== 'index.md') return
    page.frontmatter = { ...page.frontmatter, layout: 'home', pageClass: 'start' }
    page.title = 'toolmock'
  },
  themeConfig: {
    nav: GROUPS.map(({ title, pages }) => ({ text: title, link: linkOf(pages[0]?.file ?? '') })),
    sidebar: GROUPS.map(({ title, pages }) => ({
      text: title,
      items: pages.map((page) => ({
        text: page.title,
        link: linkOf(page.file),
        ...(page.file === 'api/README.md' ? { collapsed: true, items: OPERATIONS } : {}),
      })),
    })),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: {
            // The words that questions are made of are on every page. The function goes to the browser as its text.
            processTerm: (term) =>
              /^(?:an?|and|are|can|do|does|for|how|i|in|is|it|my|of|on|the|to|what|when|where|why|with)$/i.test(term)
                ? null
                : term.toLowerCase(),
            // Lists for auditors have all words of the field, and are not what most readers look for.
            boostDocument: (id) => (/\/(?:conformance|fidelity|benchmarks)(?:#|$)/.test(id) ? 0.2 : 1),
          },
        },
      },
    },
    docFooter: { prev: 'Before', next: 'Next' },
  },
})
