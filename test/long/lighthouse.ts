import { chromium } from 'playwright-core'
import { ARGUMENTS } from '../browser/browser.ts'
import { CHROMIUM } from '../support/machine.ts'
import { PAGES, serveSite } from '../site/site-server.ts'
import { MeasuredServer } from './server.ts'

/*
 * `npm run test:lighthouse` measures Lighthouse's categories for the timeline with 1,000 entries and for a page of each kind of
 * the site; each must reach 95. It needs the builds (`npm run build`, `npm run docs`), and is not part of `npm test`.
 */

/** What is read of a result of Lighthouse. */
interface Result {
  readonly categories: Readonly<Record<string, Category>>
  readonly audits: Readonly<Record<string, { readonly score: number | null; readonly title: string }>>
}

interface Category {
  readonly id: string
  readonly score: number | null
  readonly auditRefs: readonly { readonly id: string; readonly weight: number }[]
}

// The checks read this file where Lighthouse is not installed, so it is imported by a name that they do not resolve.
const LIGHTHOUSE: string = 'lighthouse'
const { default: lighthouse } = (await import(LIGHTHOUSE)) as {
  default: (url: string, flags: object) => Promise<{ readonly lhr: Result } | undefined>
}

const LEAST = 95
const PORT = 9222
const CATEGORIES = ['performance', 'accessibility', 'best-practices']

const server = await MeasuredServer.start()
const site = await serveSite()
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: [...ARGUMENTS, `--remote-debugging-port=${PORT}`],
})
try {
  for (let at = 0; at < 1000; at++) await server.getDetails()
  const pages = [`${server.url}/_mock/ui`, ...PAGES.map((page) => site.address + page)]
  for (const formFactor of ['desktop', 'mobile'] as const) for (const page of pages) await measure(page, formFactor)
} finally {
  await browser.close()
  site.close()
  await server.stop()
}

async function measure(url: string, formFactor: 'desktop' | 'mobile'): Promise<void> {
  const screen =
    formFactor === 'mobile'
      ? { mobile: true, width: 390, height: 844, deviceScaleFactor: 2, disabled: false }
      : { mobile: false, width: 1280, height: 800, deviceScaleFactor: 1, disabled: false }
  const result = await lighthouse(url, {
    port: PORT,
    onlyCategories: CATEGORIES,
    formFactor,
    screenEmulation: screen,
    // No simulated network: users open these pages on the machine that serves them.
    throttlingMethod: 'provided',
    logLevel: 'error',
  })
  if (result) judge(`${new URL(url).pathname} ${formFactor}`, result.lhr)
}

/** Prints the points of each category, and the failed audits of a category below the minimum. */
function judge(page: string, { categories, audits }: Result): void {
  for (const { id, score, auditRefs } of Object.values(categories)) {
    const points = Math.round((score ?? 0) * 100)
    console.log(`${page} ${id}: ${points}`)
    if (points >= LEAST) continue
    process.exitCode = 1
    const missed = auditRefs.filter(({ id: audit, weight }) => weight > 0 && (audits[audit]?.score ?? 1) < 1)
    for (const { id: audit } of missed) console.error(`  ${audit}: ${audits[audit]?.title ?? ''}`)
  }
}
