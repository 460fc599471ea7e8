import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { CHROMIUM, describeWith } from '../support/machine.ts'

/** A public name that its owner resolves to this machine (DNS rebinding), and a name as containers have it. */
export const REBOUND = 'rebound.example'
export const CONTAINER = 'toolmock'

/** Only loopback names resolve, so that a page that loads anything from another host fails. */
export const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1, MAP ${CONTAINER} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
]

/** A page in a fresh profile, with the errors that it reported. */
export interface Tab {
  page: Page
  /** Console errors, refused resources and dialogs: a correct page has none. */
  complaints: string[]
}

/** Opens a tab, which is closed after the test. */
export type OpenTab = (options?: BrowserContextOptions) => Promise<Tab>

/** Tests with a real browser. */
export function describeInBrowser(title: string, tests: (open: OpenTab) => void): void {
  describeWith('chromium', title, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
    })
    afterAll(async () => {
      await browser?.close()
    })
    tests(async (options = {}) => {
      if (!browser) throw new Error('the browser has not started')
      const context = await browser.newContext(options)
      return watched(await context.newPage())
    })
    // Registered last, so it comes before the tests' own hooks: a server that stops waits for the tabs' connections.
    afterEach(async () => {
      await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
    })
  })
}

function watched(page: Page): Tab {
  const complaints: string[] = []
  page.setDefaultTimeout(45_000)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText ?? ''}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { page, complaints }
}

/** Does an action of a menu at the bottom of the open request. */
export async function menu(page: Page, label: string | RegExp, action: string): Promise<void> {
  await page.locator('.menu').filter({ hasText: label }).locator('summary').click()
  await page.locator('.menu[open]').getByRole('button', { name: action, exact: true }).click()
}
