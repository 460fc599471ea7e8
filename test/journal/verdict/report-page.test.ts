import { expect } from 'vitest'
import { it } from '../../support/toolmock.ts'
import { contractOf, control, rendered, withViolations } from './reports.ts'

/** The tags of a page, and the text between them. */
function read(page: string): { tags: string[]; text: string } {
  const body = page.replace(/<style>[^]*?<\/style>/, '')
  return { tags: body.match(/<[^>]*>/g) ?? [], text: body.replaceAll(/<[^>]*>/g, '') }
}

it('loads no resource: no script, no frame, no reference to another file', async () => {
  await withViolations(async (mock) => {
    const { text: page, type } = await rendered(mock, 'html')
    expect(type).toBe('text/html; charset=utf-8')
    const { tags } = read(page)
    expect(tags.filter((tag) => /^<(script|iframe|img|object|embed|base|form|svg)\b/i.test(tag))).toEqual([])
    expect(tags.filter((tag) => /\s(on\w+|src|srcset|action)=/i.test(tag))).toEqual([])
    const targets = tags.flatMap((tag) => /\shref="([^"]*)"/.exec(tag)?.[1] ?? [])
    expect(targets.filter((target) => !target.startsWith('#') && target !== 'data:,')).toEqual([])
    const [style = ''] = /<style>[^]*?<\/style>/.exec(page) ?? []
    expect(style).not.toMatch(/url\(|@import|expression/)
    expect(tags.some((tag) => tag.includes("default-src 'none'"))).toBe(true)
  })
})

it('escapes what a client sent', async () => {
  await withViolations(async (mock) => {
    const { text: page } = await rendered(mock, 'html')
    const { tags, text } = read(page)
    expect(tags.filter((tag) => tag.includes('alert('))).toEqual([])
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(text).toContain(']]&gt;&amp;amp;')
    expect(page.replaceAll(/[\n\t]|\P{Cc}/gu, '')).toBe('')
    expect(page.isWellFormed()).toBe(true)
  })
})

it('shows at its top the number of each kind, with a link to it', async () => {
  await withViolations(async (mock, { violations, warnings }) => {
    const { text: page } = await rendered(mock, 'html')
    expect(page).toContain('<h1>The verdict failed</h1>')
    expect(page).toContain(`<a href="#violations">${violations.length} violations</a>`)
    expect(page).toContain(`<a href="#warnings">${warnings.length} warnings</a>`)
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })
})

it('has a row for each environment', async ({ mock }) => {
  await control(mock, 'post', '/environments', { name: 'worker-2' })
  const { text: page } = await rendered(mock, 'html')
  const names = (await contractOf(mock)).environments.map(({ name }) => name)
  expect(names).toEqual(['default', 'worker-2'])
  for (const name of names) expect(page).toContain(`<th scope="row"><code>${name}</code></th>`)
})
