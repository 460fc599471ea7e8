import { expect, type Page, test as playwrightTest } from '@playwright/test'
import type {
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestType,
} from '@playwright/test'
import type { LinkView, Toolmock } from '../../index.ts'
import { ANYTHING, checkOptions, TEXT } from '../library/arguments.ts'
import { startServer, TestRun, type ToolmockFixtures, type ToolmockTestOptions } from './test-runs.ts'

export type { ToolmockFixtures, ToolmockTestOptions }

/** Where a user decides. */
export interface ConsentPlace {
  /** The page on which it is done, such as a popup; the test's own when absent. */
  readonly page?: Page
  /** The magic link, which is opened first; without it the page is there already, or on its way there. */
  readonly link?: string | LinkView
}

/** What a user does on the pages of a magic link: of the third party, or of the service where it asks for credentials. */
export interface Consent {
  /**
   * Approves, and returns once the browser has left for the application.
   * @param options `as`: who signs in; the choice of the page when absent
   */
  approve(options?: ConsentPlace & { readonly as?: string }): Promise<void>
  /** Denies. */
  deny(options?: ConsentPlace): Promise<void>
}

export interface ToolmockTestFixtures extends Pick<ToolmockFixtures, 'mock'> {
  consent: Consent
}
export type ToolmockWorkerFixtures = Pick<ToolmockFixtures, 'toolmock'>

export type ToolmockTest = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & ToolmockTestFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & ToolmockWorkerFixtures
>

/**
 * Playwright's `test` with `mock`, an environment for each test on one server for each worker, and `consent`. When a test fails,
 * the explanation of every answer of 400 and above is among its errors.
 *
 *     const test = toolmockTest({ scope: 'worker' })
 *     test('connects a mailbox', async ({ page, consent }) => { … await consent.approve({ as: 'ada@example.com' }) })
 */
export function toolmockTest(options: ToolmockTestOptions = {}): ToolmockTest {
  return playwrightTest.extend<ToolmockTestFixtures, ToolmockWorkerFixtures>({
    toolmock: [
      // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures that this one needs from the pattern: none
      async ({}, use) => {
        const toolmock: Toolmock = await startServer(options)
        await use(toolmock)
        await toolmock.close()
      },
      { scope: 'worker' },
    ],
    mock: [
      async ({ toolmock }, use, info) => {
        const { titlePath, file, line } = info
        await using run = await TestRun.begin(toolmock, options, { label: titlePath.slice(1).join(' > '), file, line })
        await use(run.mock)
        const explanation = await run.end(info.status !== info.expectedStatus)
        if (explanation !== undefined) throw withoutStack(explanation)
      },
      // A test of a program that has the credentials of the worker need not name it.
      { auto: options.scope === 'worker' },
    ],
    consent: async ({ page }, use) => {
      await use({
        approve: (options = {}) => decideConsent(page, 'approve', options),
        deny: (options = {}) => decideConsent(page, 'deny', options),
      })
    },
  })
}

/** Playwright's `test` with the fixtures of toolmock: the bundled seed, in memory. */
export const test: ToolmockTest = toolmockTest()

/** Playwright shows the place where an error was thrown, which is not a place in the test. */
function withoutStack(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}

/** A consent page of a third party, or the page of a magic link. */
const CONSENT = /\/third-party\/[^/?]+\/authorize(\?|$)/
const DECISION = /\/(third-party\/[^/?]+\/authorize|magic\/[\w-]+)(\?|$)/
/** Where the service says that a consent came too late; it redirects every other one. */
const PROBLEM = /\/connect\/callback(\?|$)/

async function decideConsent(
  consentPage: Page,
  decision: 'approve' | 'deny',
  options: ConsentPlace & { readonly as?: string },
) {
  // Playwright runs TypeScript without a look at its types.
  checkOptions(`consent.${decision}`, options, { page: ANYTHING, link: ANYTHING, as: TEXT })
  const { page = consentPage, link, as } = options
  if (link !== undefined) await page.goto(typeof link === 'string' ? link : link.link)
  await expect(page, 'the page of a magic link is open').toHaveURL(DECISION)
  if (!CONSENT.test(page.url())) {
    // Forms of credentials, and types that need no user: each has a decision that fills in what the third party accepts.
    const url = new URL(page.url())
    url.search = new URLSearchParams({ decision, ...(as !== undefined && { as }) }).toString()
    await page.goto(url.href)
    await expect(page, 'the decision was accepted').not.toHaveURL(DECISION)
    return
  }
  if (as !== undefined) await signIn(page, as)
  const button = page.getByRole('button', { name: decision === 'approve' ? 'Approve' : 'Deny', exact: true })
  const left = page.waitForURL((url) => !DECISION.test(url.href), { waitUntil: 'commit' })
  const accepted = Promise.all([left, button.click()]).then(() =>
    expect(page, 'the decision was accepted').not.toHaveURL(PROBLEM),
  )
  await accepted.catch((error: unknown) => {
    // A popup may close itself at the end.
    if (!page.isClosed()) throw error
  })
}

async function signIn(page: Page, person: string): Promise<void> {
  const personRadio = page.getByRole('radio', { name: person, exact: true })
  if ((await personRadio.count()) > 0) {
    await personRadio.check()
    return
  }
  await page.getByLabel('Another person', { exact: true }).check()
  await page.getByLabel('Name or e-mail address of the other person').fill(person)
}
