import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { headingAnchor, RowAnchors } from '../../.build/site/anchors.ts'
import { GROUPS, MOVED } from '../../.build/site/groups.ts'

const folders = ['docs', 'docs/api']
const guides = (
  await Promise.all(
    folders.map(async (folder) => (await readdir(join(ROOT, folder))).map((name) => `${folder}/${name}`)),
  )
)
  .flat()
  .filter((name) => name.endsWith('.md'))
const published = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The files in this repository that a page links to, with the anchors. */
function linksOf(file: string): { target: string; anchor: string }[] {
  const links = textOf(file)
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)
  return [...links].map(([, path = '', anchor = '']) => ({
    target: path === '' ? file : normalize(join(dirname(file), path)),
    anchor,
  }))
}

/** The anchors of a page's headings, as code hosts derive them, and those that the site gives to the rows of tables. */
function anchorsOf(file: string): string[] {
  const text = textOf(file).replaceAll(/^```.*?^```/gms, '')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  return [...headings.map(headingAnchor), ...rowsOf(file).flatMap(({ anchor }) => anchor ?? [])]
}

/** The rows of a page's tables, by their first cell, with their anchors. */
function rowsOf(file: string): { cell: string; anchor: string | undefined }[] {
  const text = textOf(file).replaceAll(/^```.*?^```/gms, '')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  const anchors = new RowAnchors(headings)
  let section = ''
  return [...text.matchAll(/^(?:#+ (?<title>.+)|\| (?<cell>[^|]+?) +\|.*)$/gm)].flatMap(({ groups = {} }) => {
    const { title, cell = '' } = groups
    if (title !== undefined) section = title
    return title === undefined && cell !== '' ? [{ cell, anchor: anchors.of(cell, section) }] : []
  })
}

const isOperation = (guide: string): boolean => /^docs\/api\/\w+(?<!README)\.md$/.test(guide)

describe('the links of the README and the guides', () => {
  it.each(['README.md', ...guides])('%s: lead to existing files and headings', (file) => {
    const links = linksOf(file)
    expect(links.filter(({ target }) => !existsSync(join(ROOT, target)))).toEqual([])
    const named = links.filter(({ target, anchor }) => anchor !== '' && target.endsWith('.md'))
    expect(named.filter(({ target, anchor }) => !anchorsOf(target).includes(anchor))).toEqual([])
  })

  it.each(['README.md', ...guides])('%s: lead only to files of the package', (file) => {
    const inPackage = (target: string) =>
      target === 'README.md' || published.files.some((each) => target === each || target.startsWith(`${each}/`))
    expect(linksOf(file).filter(({ target }) => !inPackage(target))).toEqual([])
  })

  it('name every guide in the README and in the index of the guides, and every operation in the index of the API', () => {
    const missing = (page: string, among: readonly string[] = guides.filter((guide) => !isOperation(guide))) =>
      among.filter((guide) => !linksOf(page).some(({ target }) => target === guide))
    expect(missing('README.md')).toEqual(['docs/README.md'])
    expect(missing('docs/README.md')).toEqual(['docs/README.md'])
    expect(missing('docs/api/README.md', guides.filter(isOperation))).toEqual([])
  })
})

describe('the pages', () => {
  it.each(['commands', 'errors', 'file-reference'])('%s: each key, flag and code has an anchor of its own', (page) => {
    const rows = rowsOf(`docs/${page}.md`).filter(({ cell }) => /^\[?`/.test(cell))
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter(({ anchor }) => anchor === undefined)).toEqual([])
  })

  it.each(GROUPS.flatMap(({ pages }) => pages))('$file: has the title of its links', ({ file, title }) => {
    expect(/^# (.*)$/m.exec(textOf(`docs/${file}`))?.[1]).toBe(title)
  })
})

it.each(Object.entries(MOVED))('the pages that have moved: %s: leads to %s, which is there', (name, moved) => {
  const [page = '', anchor] = moved.split('#')
  expect(guides).not.toContain(`docs/${name}.md`)
  expect(guides).toContain(`docs/${page}.md`)
  if (anchor !== undefined) expect(anchorsOf(`docs/${page}.md`)).toContain(anchor)
})

it('README.md is one page of at most 12 kB', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThanOrEqual(12_000)
})

describe('the guides', () => {
  it.each(['README.md', ...guides])('%s: no block for a shell has a comment, which zsh would run', (file) => {
    const blocks = [...textOf(file).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
    expect(blocks.flatMap((block) => block.match(/^.*(?:^|\s)#.*$/gm) ?? [])).toEqual([])
  })

  it.each(['README.md', ...guides])('%s: no cell of a table has more than 250 characters', (file) => {
    const cells = textOf(file)
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    expect(cells.filter((cell) => cell.length > 250)).toEqual([])
  })

  it.each(['README.md', ...guides])('%s: no heading is more than one level below the one before it', (file) => {
    const headings =
      textOf(file)
        .replaceAll(/^```.*?^```/gms, '')
        .match(/^#+ .+$/gm) ?? []
    const levels = headings.map((heading) => heading.indexOf(' '))
    expect(headings.filter((_, at) => (levels[at] ?? 0) > (levels[at - 1] ?? 0) + 1)).toEqual([])
  })

  it.each(guides)('%s: has an introduction before the first heading, table, list or block', (file) => {
    const [, first = ''] = textOf(file)
      .replaceAll(/<!--.*?-->\n+/gs, '')
      .split(/\n{2,}/)
    expect(first).toMatch(/^(?![#|`-]{1,3} )[A-Z`].*\.$/s)
  })
})
