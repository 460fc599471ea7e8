import { afterEach, beforeEach, expect, it } from 'vitest'
import { createToolmock, type Toolmock } from '../../src/index.ts'
import { CONTAINER, describeInBrowser } from './browser.ts'
import { Session } from './session.ts'

describeInBrowser('the event stream of the dashboard', (open) => {
  let mock: Toolmock
  let session: Session
  beforeEach(async () => {
    mock = await createToolmock({ clock: '2026-01-31T12:00:00.000Z', freeze: true })
    session = await Session.start(mock)
  })
  afterEach(() => mock.close())

  it.each(['127.0.0.1', CONTAINER])(
    'is one for ten tabs at %s, so that each lives and a consent page opens',
    async (host) => {
      const address = `http://${host}:${new URL(mock.url).port}`
      const { page, complaints } = await open()
      const tabs = [page]
      while (tabs.length < 10) tabs.push(await page.context().newPage())
      for (const tab of tabs) await tab.goto(`${address}/_mock/ui`)
      const { link } = (
        await session.api('POST', '/connected_accounts/magic_link', {
          connector: 'mail',
          identifier: 'new@example.com',
        })
      ).body
      for (const tab of tabs) await tab.locator('.line', { hasText: 'new@example.com' }).waitFor()
      const consent = await page.context().newPage()
      const { pathname, search } = new URL(String(link))
      await consent.goto(`${address}${pathname}${search}`)
      await consent.getByRole('button', { name: 'Approve' }).or(consent.getByRole('heading')).first().waitFor()
      // A browser heeds that header at trustworthy addresses only, and says so elsewhere. A tab that is hidden gives up its requests.
      const expected = /Cross-Origin-Opener-Policy|net::ERR_ABORTED/
      expect(complaints.filter((text) => !expected.test(text))).toEqual([])
    },
  )

  it('is of each environment that a tab shows', async () => {
    await mock.environment('worker-2')
    const { page } = await open()
    const other = await page.context().newPage()
    await page.goto(`${mock.url}/_mock/ui`)
    await other.goto(`${mock.url}/_mock/ui#/timeline?environment=worker-2`)
    await other.getByText('No request yet.').waitFor()
    await page.locator('.line').first().waitFor()
    await session.api('GET', '/connections')
    await page.locator('.line', { hasText: 'list_connections' }).waitFor()
    expect(await other.locator('.line').count()).toBe(0)
    await other.goto(`${mock.url}/_mock/ui#/timeline`)
    await other.locator('.line', { hasText: 'list_connections' }).waitFor()
  })

  it('ends while the tab is hidden, and brings what came meanwhile', async () => {
    const { page } = await open()
    const other = await page.context().newPage()
    for (const tab of [other, page]) {
      await tab.goto(`${mock.url}/_mock/ui`)
      await tab.locator('.line').first().waitFor()
    }
    const become = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await become('hidden')
    await session.api('GET', '/connections')
    await other.locator('.line', { hasText: 'list_connections' }).waitFor()
    expect(await page.locator('.line', { hasText: 'list_connections' }).count()).toBe(0)
    await become('visible')
    await page.locator('.line', { hasText: 'list_connections' }).waitFor()
  })

  it.each([
    [6000, 'waiting'],
    [16_000, 'no answer'],
  ])('that has brought nothing for %d ms is not live', async (silence, text) => {
    const { page } = await open()
    await page.clock.install()
    await page.goto(`${mock.url}/_mock/ui`)
    const state = page.locator('.connection')
    await state.getByText('live').waitFor()
    await page.clock.fastForward(silence)
    await state.getByText(text).waitFor()
    // The server sends something every two seconds.
    await state.getByText('live').waitFor()
  })
})
