import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestToolmock, withToolmock } from '../support/toolmock.ts'
import { control, rendered, withViolations } from '../journal/verdict/reports.ts'
import { describeInBrowser } from './browser.ts'

/** Sends what breaks the contract, in the environment of a test. */
async function breakInTest(mock: TestToolmock, name: string, test: object): Promise<void> {
  const { body } = await control(mock, 'post', '/environments', { name, ...test })
  const { client_id, client_secret } = body as { client_id: string; client_secret: string }
  const form = { client_id, client_secret, grant_type: 'client_credentials' }
  const { body: token } = await mock.http('post', '/oauth/token').type('form').send(form)
  const { access_token } = token as { access_token: string }
  for (const query of ['connections?page_size=ten', 'connections?page_size=101', 'connected_accounts?pagesize=1'])
    await mock.http('get', `/api/v1/${query}`).set('Authorization', `Bearer ${access_token}`)
}

describeInBrowser('the page of a report, read from a file', (open) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-report-'))
  const file = join(folder, 'report.html')
  const address = pathToFileURL(file).href
  beforeAll(() =>
    withViolations(async (mock) => {
      for (const name of ['searches', 'sends'])
        await breakInTest(mock, name, { label: `inbox > ${name}`, file: 'test/inbox.test.ts', line: 31 })
      writeFileSync(file, (await rendered(mock, 'html')).text)
    }),
  )
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
      "[...document.querySelectorAll('.requests .short')].map((id) => id.getClientRects().length)",
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
    expect(await label()).toContain('Sent')
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
    expect(await page.locator('.finding').count()).toBe(13)
    expect(pages.length).toBeLessThanOrEqual(6)
  })

  it('fits the width of a sheet', async () => {
    const { page } = await open({ viewport: { width: 700, height: 1000 } })
    await page.goto(address)
    await page.emulateMedia({ media: 'print' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700)
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([])
  })

  it('has a line of the index for each finding, and a row for each request of it', async () => {
    const { page } = await open()
    await page.goto(address)
    const links = await page.locator('.index a').all()
    expect(links).toHaveLength(13)
    const first = page.locator('#finding-1')
    expect(await links[0]?.innerText()).toBe('1. list_connected_accounts: page_size')
    await links[0]?.click()
    expect(await first.getByText('Must be an integer').isVisible()).toBe(true)
    expect(await first.locator('thead th').allInnerTexts()).toEqual(['Request', 'Sent', 'At', 'Id'])
    const rows = await first.locator('tbody tr').allInnerTexts()
    expect(rows.map((row) => row.split(/\s+/).slice(0, 3))).toEqual([
      ['GET', '/api/v1/connected_accounts', '?page_size=ten'],
      ['GET', '/api/v1/connected_accounts', '?page_size=many'],
    ])
  })

  it('collapses the findings of a test', async () => {
    const { page } = await open()
    await page.goto(address)
    const test = page.locator('#warnings details')
    expect(await test.locator('summary').innerText()).toBe('inbox > searches (test/inbox.test.ts:31) 1 finding')
    expect(await test.getByText('Also in inbox > sends (test/inbox.test.ts:31)').isVisible()).toBe(true)
    await test.locator('summary').click()
    expect(await test.locator('.finding').isVisible()).toBe(false)
  })
})

/** The words between spaces that are on two lines. */
const BROKEN_WORDS = `(() => {
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const broken = []
  for (let node = nodes.nextNode(); node; node = nodes.nextNode())
    for (const { index, 0: word } of node.data.matchAll(/(?<!\\S)\\w{2,24}(?!\\S)/g)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word)
    }
  return broken
})()`
