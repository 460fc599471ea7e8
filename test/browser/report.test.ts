import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withToolmock } from '../support/toolmock.ts'
import { rendered, withViolations } from '../journal/verdict/reports.ts'
import { describeInBrowser } from './browser.ts'

describeInBrowser('the page of a report, read from a file', (open) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-report-'))
  const file = join(folder, 'report.html')
  const address = pathToFileURL(file).href
  beforeAll(() => withViolations(async (mock) => writeFileSync(file, (await rendered(mock, 'html')).text)))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('loads no other resource, runs no script, and shows what a client sent as text', async () => {
    const { page, complaints } = await open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(address)
    expect(await page.locator('h1').innerText()).toBe('The verdict failed')
    const shown = page.getByRole('cell', { name: '<script>alert(1)</script>' })
    expect(await shown.first().isVisible()).toBe(true)
    expect(await page.locator('script, img, iframe').count()).toBe(0)
    expect({ asked, complaints }).toEqual({ asked: [address], complaints: [] })
  })

  it.each([320, 640, 800, 1280])('fits a screen %i pixels wide', async (width) => {
    const { page } = await open({ viewport: { width, height: 800 } })
    await page.goto(address)
    const across = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(across).toBe(width)
  })

  it('never breaks the id of a request over lines', async () => {
    const { page } = await open({ viewport: { width: 390, height: 800 } })
    await page.goto(address)
    const lines = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.origin code.short')].map((id) => id.getClientRects().length)",
    )
    expect(lines.length).toBeGreaterThan(0)
    expect(new Set(lines)).toEqual(new Set([1]))
  })

  it('is at most three screens long for a clean run', async () => {
    const clean = join(folder, 'clean.html')
    await withToolmock({}, async (mock) => {
      await mock.api.get('/connections')
      writeFileSync(clean, (await rendered(mock, 'html')).text)
    })
    const { page } = await open({ viewport: { width: 1280, height: 800 } })
    await page.goto(pathToFileURL(clean).href)
    expect(await page.locator('h1').innerText()).toBe('The contract was kept')
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(3 * 800)
  })

  it('labels each cell on a narrow screen, and is a table on a wide one', async () => {
    const { page } = await open({ viewport: { width: 360, height: 800 } })
    await page.goto(address)
    const label = () =>
      page.evaluate<string>("getComputedStyle(document.querySelector('#violations td'), '::before').content")
    expect(await label()).toContain('Found')
    expect(await page.locator('#violations table').first().getByRole('row').count()).toBeGreaterThan(1)
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await label()).toBe('none')
  })

  it('goes from the top to each kind, and from an operation to its details', async () => {
    const { page } = await open()
    await page.goto(address)
    for (const link of await page.locator('header a, .matrix a').all()) {
      const target = await link.getAttribute('href')
      await link.click()
      expect(await page.locator(target ?? '').isVisible(), target ?? '').toBe(true)
    }
  })

  it.each(['light', 'dark'] as const)('is black on white on paper with the color scheme %s', async (colorScheme) => {
    const { page } = await open({ colorScheme })
    await page.goto(address)
    await page.emulateMedia({ media: 'print' })
    const colours = '(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))'
    expect(await page.evaluate(colours)).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? []
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.length).toBeLessThan(30)
  })

  it('fits the width of a sheet', async () => {
    const { page } = await open({ viewport: { width: 700, height: 1000 } })
    await page.goto(address)
    await page.emulateMedia({ media: 'print' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700)
  })

  it('has the words of the dashboard above its columns', async () => {
    const { page } = await open({ viewport: { width: 1280, height: 800 } })
    await page.goto(address)
    const heads = await page.locator('#violations table').first().locator('thead th').allInnerTexts()
    expect(heads).toEqual(['Where', 'Found', 'Rule', 'Basis', 'Times', 'Tests and requests'])
  })
})
