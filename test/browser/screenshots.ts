import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { createToolmock } from '../../src/index.ts'
import { CHROMIUM } from '../support/machine.ts'
import { ARGUMENTS } from './browser.ts'
import { Session } from './session.ts'

// `npm run screenshots` takes the pictures of the README, light and dark, from a scripted session.

const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url))
const VIEWPORT = { width: 1200, height: 720 }

mkdirSync(FOLDER, { recursive: true })
const mock = await createToolmock({ clock: '2026-01-31T12:00:00.000Z', freeze: true, idSeed: 7 })
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
try {
  const session = await Session.start(mock)
  const views: Readonly<Record<string, readonly [hash: string, show: (page: Page) => Promise<void>]>> = {
    timeline: [`#/timeline/${session.renewed}`, (page) => page.locator('.step').first().waitFor()],
    account: [`#/accounts/${session.account}`, (page) => page.locator('.lifecycle').waitFor()],
    scenario: ['#/scenarios/rate-limited', misspell],
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme })
    for (const [name, [hash, show]] of Object.entries(views)) {
      await page.goto(`${mock.url}/_mock/ui${hash}`)
      await page.locator('.detail-body').waitFor()
      await show(page)
      await page.evaluate('document.fonts.ready')
      await page.screenshot({ path: `${FOLDER}/${name}-${colorScheme}.png` })
    }
    await page.close()
  }
} finally {
  await browser.close()
  await mock.close()
}

/** A mistake in the editor, with the problem that the server finds. */
async function misspell(page: Page): Promise<void> {
  const editor = page.getByLabel('The scenario as YAML')
  await editor.fill((await editor.inputValue()).replace('third_party', 'third-party'))
  await page.locator('.problems button').first().waitFor()
}
