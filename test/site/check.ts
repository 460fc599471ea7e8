import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { ROOT } from '../../.build/project.ts'
import { CHROMIUM } from '../support/machine.ts'
import { PAGES, serveSite, SITE } from './site-server.ts'

/*
 * `npm run check:site`, after a build: every link and anchor of every page, the words that users search for, and
 * accessibility in both themes. No page may load anything from elsewhere.
 */

/** What users search for, with a page that has to be among the first results. */
const SEARCHES: Readonly<Record<string, string>> = {
  pytest: '/test-runners',
  jest: '/test-runners',
  vitest: '/test-runners',
  playwright: '/test-runners',
  'how do I make the next call fail': '/failures',
  gitlab: '/ci',
  docker: '/containers',
  port: '/troubleshooting',
  seed: '/file-reference',
  'token expires': '/failures',
  'rate limit': '/errors',
  409: '/errors',
  ACCOUNT_NOT_ACTIVE: '/errors',
  execute_tool: '/api/execute_tool',
  'magic link': '/api/create_magic_link',
  auth_request_id: '/api/verify_user',
  'base url': '/sdk',
  msw: '/sdk',
  verdict: '/reports',
  'state file': '/state',
  grpc: '/grpc',
}

/** The questions whose page has to be the first result. */
const FIRST: ReadonlySet<string> = new Set(['how do I make the next call fail'])

const problems: string[] = []

checkLinks()
for (const file of readdirSync(join(ROOT, 'skills'), { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.md') && !existsSync(join(SITE, 'skills', file))) problems.push(`the site has no skills/${file}`)
const { address, close } = await serveSite()
const only = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', only] })
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(`${page.url()}: ${message.text()}`)
    })
    page.on('request', (request) => {
      if (!/^(?:data:|blob:)/.test(request.url()) && !request.url().startsWith(address))
        problems.push(`${page.url()} loads ${request.url()}`)
    })
    for (const path of PAGES) await judge(page, path, colorScheme)
    if (colorScheme === 'light') await search(page)
    await context.close()
  }
} finally {
  await browser.close()
  close()
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else
  console.log(
    `the site is sound: ${String(htmlFiles().length)} pages, ${String(Object.keys(SEARCHES).length)} searches`,
  )

function htmlFiles(): string[] {
  return readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
}

/** Each link of each page leads to a page, and its anchor to an id there. */
function checkLinks(): void {
  const ids = new Map<string, ReadonlySet<string>>()
  const texts = new Map(htmlFiles().map((file) => [`/${file}`, readFileSync(join(SITE, file), 'utf8')]))
  for (const [file, text] of texts)
    ids.set(file, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
  for (const [file, text] of texts) {
    if (file === '/404.html') continue
    for (const [, href = ''] of text.matchAll(/<a\b[^>]* href="([^"]+)"/g)) {
      if (/^(?:https?:|mailto:)/.test(href)) continue
      const [path = '', anchor = ''] = href.split('#')
      const place = path === '' ? file : posix.resolve(dirname(file), path)
      const target = [place, `${place}.html`, posix.join(place, 'index.html')].find((each) => ids.has(each))
      if (target === undefined) problems.push(`${file} links to ${href}, which is not there`)
      else if (anchor !== '' && !ids.get(target)?.has(decodeURIComponent(anchor)))
        problems.push(`${file} links to ${href}, which has no such anchor`)
    }
  }
}

async function judge(page: Page, path: string, theme: string): Promise<void> {
  await page.goto(address + path, { waitUntil: 'networkidle' })
  // The page gets names like this one once its script runs.
  await page.locator('.VPSwitchAppearance:not([title=""])').first().waitFor({ state: 'attached', timeout: 30_000 })
  await page.addScriptTag({ path: join(ROOT, 'test/node_modules/axe-core/axe.min.js') })
  const violations = await page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 140)).join(' | ')))`,
  )
  problems.push(...violations.map((violation) => `${path} in ${theme}: ${violation}`))
}

async function search(page: Page): Promise<void> {
  for (const [words, expected] of Object.entries(SEARCHES)) {
    await page.goto(`${address}/`, { waitUntil: 'networkidle' })
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click()
    await page.locator('.search-input').fill(words)
    const results = page.locator('.results a.result')
    await results
      .first()
      .waitFor({ timeout: 30_000 })
      .catch(() => undefined)
    await page.waitForTimeout(300)
    const links = await results.evaluateAll((all) =>
      all.map((each) => new URL((each as unknown as { href: string }).href).pathname),
    )
    if (FIRST.has(words) ? links[0] !== expected : !links.includes(expected))
      problems.push(
        `the search for ${words} does not find ${expected}${FIRST.has(words) ? ' first' : ''}, but ${[...new Set(links)].join(', ')}`,
      )
  }
}
