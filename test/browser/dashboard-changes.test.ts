import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { createToolmock, type Toolmock } from '../../src/index.ts'
import { describeInBrowser, menu } from './browser.ts'
import { Session } from './session.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

/** The data on the page changes: by another tab, by a client, by the server. */
describeInBrowser('the dashboard, while something else changes', (open) => {
  let mock: Toolmock
  // A server that is started again has the port of the one before.
  let port: number
  afterEach(() => mock.close())

  const opened = async (hash: string, options: BrowserContextOptions = {}) => {
    port = await freePort()
    mock = await createToolmock({ port, clock: '2026-01-31T12:00:00.000Z', freeze: true, idSeed: 7 })
    const session = await Session.start(mock)
    const { page } = await open({ viewport: { width: 1280, height: 800 }, ...options })
    await goTo(page, hash)
    return { page, session }
  }
  const goTo = async (page: Page, hash: string) => {
    await page.goto(`${mock.url}/_mock/ui${hash}`)
    await page.locator('.dot.live, .dot.refused').waitFor()
  }
  const refused = (page: Page) => page.locator('.line').filter({ hasText: 'INVALID_TOOL_INPUT' })

  it('shows in every tab which failure is awaited, and that it took place', async () => {
    const { page, session } = await opened('#/timeline')
    await refused(page).click()
    await page.waitForURL(/#\/timeline\/req_/)
    const other = await page.context().newPage()
    await goTo(other, new URL(page.url()).hash)
    await menu(page, 'Fail next', '429 too many requests')
    await other.getByText('The next mail_send_message fails: 429 too many requests.').waitFor()
    await other.getByRole('button', { name: 'Stop it' }).click()
    await menu(page, 'Fail next', 'no response')
    await other.getByText('The next mail_send_message fails: no response.').waitFor()
    await page.getByRole('button', { name: 'Stop it' }).click()
    await menu(other, 'Fail next', '500 server error')
    await page.getByText('The next mail_send_message fails: 500 server error.').waitFor()
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(500)
    await page.getByText('It failed as asked').waitFor()
    await other.getByText('It failed as asked').waitFor()
  }, 60_000)

  it('reports that an environment was removed, and shows it again once it exists', async () => {
    const { page } = await opened('#/timeline')
    const worker = await mock.environment('worker-2')
    await page.getByLabel('Environment').selectOption('worker-2')
    await page.getByText('No request yet.').waitFor()
    await worker.close()
    await page.getByText('There is no environment "worker-2"').waitFor()
    await page.getByText('not connected', { exact: true }).waitFor()
    const again = await mock.environment('worker-2')
    await again.seed({ accounts: [{ connector: 'mail', identifier: 'only@example.com' }] })
    await page.locator('.line').getByText('a seed was added').waitFor()
    expect(await page.locator('.line').count()).toBe(1)
    expect(await page.locator('.connection').innerText()).toBe('live')
  })

  it('keeps an open request after a reset, and reports that it is no longer in the journal', async () => {
    const { page } = await opened('#/timeline')
    await refused(page).click()
    await page.locator('.step').first().waitFor()
    await mock.reset()
    await page.getByText('This request is no longer in the journal.').waitFor()
    expect(await page.locator('.step').count()).toBeGreaterThan(1)
    await expect.poll(() => refused(page).count()).toBe(0)
  })

  it('has each request once, in order, after the server was started again', async () => {
    const { page } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    await mock.close()
    await page.getByText('not connected, trying again').waitFor()
    mock = await createToolmock({ port })
    const { links } = await Session.start(mock).then((session) =>
      session.control<{ links: readonly object[] }>('GET', '/links'),
    )
    expect(links).toHaveLength(2)
    await page.locator('.connection').getByText('live', { exact: true }).waitFor()
    const { requests } = (await (await fetch(`${mock.url}/_mock/requests?kind=*`)).json()) as {
      requests: { id: string }[]
    }
    await page.getByText(`${requests.length} requests`, { exact: true }).waitFor()
    const titles = await page.locator('.line.entry:not(.old) .what').allInnerTexts()
    expect(titles[0]).toBe('weather_get_forecast')
    expect(titles.at(-1)).toBe('create_token')
  })

  it('shows what takes the server longer than the pause between two changes', async () => {
    const { page, session } = await opened('#/timeline')
    let changes = 0
    const traffic = setInterval(() => void session.api('GET', '/connections').then(() => (changes += 1)), 250)
    await page.route(/_mock\/(contract|requests)\?/, async (route) => {
      const before = changes
      await until(() => changes > before + 5)
      await route.continue()
    })
    try {
      await page.getByLabel('Search requests').fill('Minutes of the meeting')
      // Only the server finds the words of a body.
      await page.locator('.line').getByText('mail_send_message').first().waitFor()
      await page.getByRole('navigation').getByRole('link', { name: 'Contract' }).click()
      await page.locator('.verdict').waitFor()
    } finally {
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      clearInterval(traffic)
    }
  }, 120_000)

  it('requests the admin token again when the server has another one', async () => {
    port = await freePort()
    mock = await createToolmock({ port, adminToken: 'first' })
    const { page } = await open()
    const enter = async (token: string) => {
      await page.getByLabel('Admin token', { exact: true }).fill(token)
      await page.getByRole('button', { name: 'Use it' }).click()
    }
    await page.goto(`${mock.url}/_mock/ui`)
    await enter('first')
    await page.getByText('No request yet.').waitFor()
    await mock.close()
    mock = await createToolmock({ port, adminToken: 'second' })
    await page.getByText('This is not the admin token.').waitFor()
    await enter('second')
    await page.locator('.connection').getByText('live', { exact: true }).waitFor()
    await page.getByText('No request yet.').waitFor()
  })

  it.each([
    ['#/timeline/req_gone', 'This request is no longer in the journal.'],
    ['#/accounts/ca_gone', 'There is no such account.'],
    ['#/scenarios/gone', 'There is no such scenario.'],
    ['#/timeline?environment=gone', 'There is no environment "gone"'],
    ['#/nowhere', 'There is no view named nowhere.'],
  ])('shows at %s: %s', async (hash, text) => {
    mock = await createToolmock()
    const { page } = await open()
    await goTo(page, hash)
    await page.getByText(text).first().waitFor()
  })

  it('goes back and forward through the opened views', async () => {
    const { page } = await opened('#/timeline')
    await refused(page).click()
    await page.getByRole('heading', { name: 'mail_send_message' }).waitFor()
    await page.locator('.line').filter({ hasText: 'weather_get_forecast' }).click()
    await page.getByRole('heading', { name: 'weather_get_forecast' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'mail_send_message' }).waitFor()
    await page.goBack()
    await page.locator('.detail').waitFor({ state: 'detached' })
    await page.goForward()
    await page.getByRole('heading', { name: 'mail_send_message' }).waitFor()
  })

  it('is used by keyboard alone, from the refused call to the expiry of a connected account', async () => {
    const { page, session } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    const { keyboard } = page
    const focused = () =>
      page.evaluate(
        'document.activeElement.innerText || document.activeElement.labels?.[0]?.innerText || document.activeElement.outerHTML',
      )
    /** Presses Tab until an element with this text has the focus, at most `most` times. */
    const tabTo = async (text: string, most = 12) => {
      for (let at = 0; at < most; at++) {
        await keyboard.press('Tab')
        if (String(await focused()).startsWith(text)) return
      }
      throw new Error(`${text} is more than ${most} tabs away`)
    }
    await keyboard.press('/')
    await keyboard.type('INVALID_TOOL_INPUT')
    await keyboard.press('Escape')
    await keyboard.press('j')
    await keyboard.press('Enter')
    await page.getByText('tool_input.to is required').first().waitFor()
    await tabTo('Fail next')
    // The first button fails it with 429; the second one opens the list.
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await tabTo('no response')
    await keyboard.press('Enter')
    await page.getByText('The next mail_send_message fails: no response.').waitFor()
    await keyboard.press('g')
    await keyboard.press('l')
    await tabTo('New link')
    await keyboard.press('Enter')
    // The link is for the first connector of the list, which the page loads from the server.
    await page.getByRole('form', { name: 'New link' }).locator('option').first().waitFor({ state: 'attached' })
    await keyboard.type('grace@example.com')
    await keyboard.press('Enter')
    await page.locator('tr').filter({ hasText: 'grace@example.comat mail' }).waitFor()
    for (const other of ['linus@example.com at mail', 'grace@example.com at tracker', 'grace@example.com at mail']) {
      await tabTo('Approve')
      expect(await page.evaluate('document.activeElement.closest("tr").innerText.replaceAll(/\\s+/g, " ")')).toContain(
        other,
      )
    }
    await keyboard.press('Enter')
    await page.getByText('Approved: grace@example.com').waitFor()
    await keyboard.press('g')
    await keyboard.press('a')
    await page.locator('tr').filter({ hasText: 'grace@example.com' }).filter({ hasText: 'ACTIVE' }).first().waitFor()
    await keyboard.press('/')
    await keyboard.type('grace@example.com')
    await keyboard.press('Escape')
    await page.getByText('3 accounts').waitFor()
    await keyboard.press('j')
    await keyboard.press('Enter')
    await page.locator('.detail-title').getByText('at mail').waitFor()
    await tabTo('Jump there')
    await keyboard.press('Enter')
    await expect.poll(() => mock.clock.now()).toBe('2026-01-31T13:00:00.000Z')
    expect((await session.accounts('grace')).map(({ status }) => status)).toContain('ACTIVE')
  })

  it('animates nothing when the browser prefers reduced motion', async () => {
    const { page } = await opened('#/timeline', { reducedMotion: 'reduce' })
    await page.locator('.line').first().waitFor()
    const durations = await page.evaluate<string[]>(
      '[...document.querySelectorAll("*")].map((each) => getComputedStyle(each).transitionDuration + getComputedStyle(each).animationName)',
    )
    expect([...new Set(durations)]).toEqual(['0snone'])
  })

  it.each([640, 320])('is no wider than a window of %i pixels, as a zoomed one is', async (width) => {
    const { page, session } = await opened('', { viewport: { width, height: 400 } })
    const wide: string[] = []
    for (const hash of [
      '#/timeline',
      `#/timeline/${session.renewed}`,
      `#/accounts/${session.account}`,
      '#/links',
      '#/clock',
      '#/scenarios/rate-limited',
      '#/contract',
      '#/connectors/mail',
      '#/collections',
      '#/snapshots',
      '#/webhooks',
    ]) {
      await goTo(page, hash)
      await page.locator('main :is(.line, tr, li, .step, .verdict, .empty)').filter({ visible: true }).first().waitFor()
      if (await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')) wide.push(hash)
    }
    expect(wide).toEqual([])
    const environment = await page.getByLabel('Environment').boundingBox()
    expect(environment?.width).toBeGreaterThan(100)
  })

  it('names GET /_mock/openapi in a browser without JavaScript', async () => {
    mock = await createToolmock()
    const { page } = await open({ javaScriptEnabled: false })
    await page.goto(`${mock.url}/_mock/ui`)
    const message = page.locator('noscript')
    expect(await message.innerText()).toContain('GET /_mock/openapi')
    expect((await message.boundingBox())?.y).toBeLessThan(100)
  })

  it('shows the beginning of a body of a megabyte, and text that runs from right to left as text', async () => {
    const { page, session } = await opened('#/timeline')
    const hebrew = '\u202Eשלום@example.com'
    await session.api('POST', '/connected_accounts', { connector: 'mail', identifier: hebrew })
    await session.send({ to: 'a@example.com', subject: 'Long', body: 'x'.repeat(1_000_000) })
    const line = page.locator('.line').filter({ hasText: 'שלום' })
    await line.waitFor()
    const [time, status] = await Promise.all([
      line.locator('.time').boundingBox(),
      line.locator('.cell-status').boundingBox(),
    ])
    expect(time && status && time.x < status.x).toBe(true)
    expect(await line.innerText()).toContain('\\u{202e}שלום@example.com')
    await goTo(page, `#/accounts?q=${encodeURIComponent(hebrew)}`)
    await page.locator('th').filter({ hasText: 'שלום' }).click()
    await page.locator('.detail').getByRole('heading', { name: 'שלום' }).waitFor()
    await expect.poll(() => page.title()).toContain('\\u{202e}שלום')
    const texts = await page.evaluate<
      string[]
    >(`[document.title, ...[...document.querySelectorAll('*')].flatMap((each) =>
      [...each.attributes].filter(({ name }) => /title|label|placeholder/.test(name)).map(({ value }) => value))]`)
    expect(texts.filter((text) => text.includes('שלום')).length).toBeGreaterThan(1)
    expect(texts.filter((text) => text.includes('\u202E'))).toEqual([])
    await goTo(page, `#/links/a%20new%20one?identifier=${encodeURIComponent(hebrew)}`)
    const field = page.getByLabel('Identifier of the account')
    expect(await field.inputValue()).toBe(hebrew)
    await page.getByRole('form', { name: 'New link' }).getByText('\\u{202e}שלום').waitFor()
    await page.keyboard.press('Escape')
    await goTo(page, '#/timeline')
    // Both requests may come in one message of the stream, or one after the other.
    await page.locator('.line').first().getByText('mail_send_message').click()
    await page.getByRole('tab', { name: 'Request' }).click()
    await page.getByText('the body had 1000').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false)
  })
})
