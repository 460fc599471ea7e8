import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { createToolmock, type Toolmock } from '../../src/index.ts'
import { CONTAINER, describeInBrowser, menu } from './browser.ts'
import { Session } from './session.ts'

/** What is done with the requests of the timeline: they are compared, sent again, copied, sorted and found. */
describeInBrowser('the requests of the dashboard', (open) => {
  let mock: Toolmock
  afterEach(() => mock.close())

  const opened = async (hash: string, options: BrowserContextOptions = {}) => {
    mock = await createToolmock({ clock: '2026-01-31T12:00:00.000Z', freeze: true, idSeed: 7 })
    const session = await Session.start(mock)
    const tab = await open({ viewport: { width: 1440, height: 900 }, ...options })
    const place = hash.replace('REFUSED', session.refused).replace('RENEWED', session.renewed)
    await tab.page.goto(`${mock.url}/_mock/ui${place}`)
    return { ...tab, session }
  }
  const detail = (page: Page) => page.locator('.detail')
  const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

  it('compares a refused call with the last that succeeded: only what differs, ids and times apart', async () => {
    const { page } = await opened('#/timeline/REFUSED')
    await page.getByRole('button', { name: 'Compare' }).click()
    const request = page.getByRole('region', { name: 'Request', exact: true })
    await request.getByRole('row').filter({ hasText: 'body.tool_input.to' }).getByText('grace@example.com').waitFor()
    expect(await request.innerText()).not.toContain('identifier')
    expect(await page.getByRole('region', { name: 'Answer', exact: true }).innerText()).toContain('INVALID_TOOL_INPUT')
    expect(await page.getByRole('region', { name: 'What happened', exact: true }).innerText()).toContain('/messages')
    await page.getByRole('heading', { name: 'Ids and times' }).click()
    const apart = await page.getByRole('region', { name: 'Ids and times', exact: true }).innerText()
    expect(apart).toContain('headers.x-request-id')
  })

  it('shows the value of a number that no double has', async () => {
    const { page, session } = await opened('#/timeline')
    const call = '{"connected_account_id":"ca_1","tool_name":"mail_send_message","tool_input":{"n":9007199254740993}}'
    const { id } = await session.api('POST', '/execute_tool', call)
    await page.goto(`${mock.url}/_mock/ui#/timeline/${id}?tab=request`)
    await detail(page).getByText('9007199254740993').first().waitFor()
    expect(await detail(page).innerText()).not.toContain('9007199254740992')
  })

  it('says where a body was cut and why it cannot be sent, and compares what is kept of it', async () => {
    const { page, session } = await opened('#/timeline')
    const mail = { to: 'grace@example.com', subject: 'Long' }
    await session.send({ ...mail, body: 'short' })
    const { id } = await session.send({ ...mail, body: 'x'.repeat(200_000) })
    await page.goto(`${mock.url}/_mock/ui#/timeline/${id}`)
    await detail(page).locator('.json .cut', { hasText: 'the body had 200' }).waitFor()
    await detail(page).getByText('it cannot be sent or copied').waitFor()
    expect(await page.locator('.menu', { hasText: 'Send again' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Compare' }).click()
    await detail(page).getByText('Its body was cut').waitFor()
    await detail(page).getByRole('heading', { name: 'Request', exact: true }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'body.' }).count()).toBe(0)
  })

  it('folds lists that differ, below the cause of each answer', async () => {
    const { page, session } = await opened('#/timeline')
    const send = (from: number) =>
      session.api('POST', '/connected_accounts', { scopes: Array.from({ length: 20 }, (_, at) => String(from + at)) })
    const [one, two] = [await send(0), await send(100)]
    await page.goto(`${mock.url}/_mock/ui#/timeline/${one.id}?with=${two.id}`)
    await page.getByRole('rowheader', { name: 'body.scopes[4]' }).waitFor()
    await page.getByRole('rowheader', { name: 'body.scopes: 15 more elements' }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'body.scopes[5]' }).count()).toBe(0)
    expect(await detail(page).locator('.sides').innerText()).toContain('is required')
  })

  it('compares the two requests that x marks', async () => {
    const { page } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('weather_get_forecast is marked').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByRole('heading', { name: 'Compare two requests' }).waitFor()
    await page.getByText('weather_get_forecast is marked').waitFor({ state: 'detached' })
    expect(await page.locator('.sides').innerText()).toContain('create_connected_account')
    await page.goBack()
    await detail(page).waitFor({ state: 'detached' })
  })

  it('sends a request again as it was, and edited, with a token of its own', async () => {
    const { page, session } = await opened('#/timeline/REFUSED?tab=request')
    const before = page.url()
    await menu(page, 'Send again', 'As it was')
    await page.waitForURL((url) => url.href !== before)
    await detail(page).locator('.detail-head .status').getByText('400').waitFor()
    expect(page.url()).not.toContain(session.refused)
    await menu(page, 'Send again', 'Edit and send')
    const body = page.getByRole('dialog').getByLabel('Body')
    await body.fill((await body.inputValue()).replace('"subject"', '"to": "grace@example.com", "subject"'))
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await detail(page).locator('.detail-head .status').getByText('200').waitFor()
    const { requests } = await session.control<{ requests: { id: string; request: { body: object } }[] }>(
      'GET',
      '/requests',
    )
    expect(requests.find(({ id }) => page.url().includes(id))?.request.body).toMatchObject({
      tool_input: { to: 'grace@example.com', subject: 'Without a recipient' },
    })
  })

  it('says that there was no answer when the request that is sent again gets none', async () => {
    const { page } = await opened('#/timeline/RENEWED')
    await page.locator('.step').first().waitFor()
    await page.route('**/execute_tool', (route) => route.abort())
    await menu(page, 'Send again', 'As it was')
    await page.getByText('There was no answer: the connection ended.').waitFor()
  })

  it('sends a request again once while its key is held down', async () => {
    const { page, session } = await opened('#/timeline/REFUSED?tab=request')
    await page.locator('.menu').first().waitFor()
    let sent = 0
    let release = (): void => undefined
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/execute_tool', async (route) => {
      sent += 1
      await isReleased
      await route.continue()
    })
    for (let repeated = 0; repeated < 5; repeated += 1) await page.keyboard.down('r')
    release()
    await page.waitForURL((url) => !url.href.includes(session.refused))
    expect(sent).toBe(1)
  })

  it('copies a request in three languages, and ids', async () => {
    const { page, session } = await opened('#/timeline/REFUSED')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await detail(page).getByRole('tab', { name: 'Facts' }).click()
    await page.locator('dd').filter({ hasText: session.refused }).getByRole('button', { name: 'Copy' }).click()
    await expect.poll(() => clipboard(page)).toBe(session.refused)
    await page.keyboard.press('c')
    await expect.poll(() => clipboard(page)).toContain('curl -X POST')
    await page.locator('.menu', { hasText: 'Copied' }).waitFor()
    for (const [language, part] of [
      ['TypeScript', 'const response = await fetch('],
      ['Python', 'requests.request('],
    ] as const) {
      await menu(page, /Cop(y|ied)/, `As ${language}`)
      await expect.poll(() => clipboard(page)).toContain(part)
      expect(await clipboard(page)).toContain(`${mock.url}/api/v1/execute_tool`)
      expect(await clipboard(page)).toContain('Without a recipient')
    }
  })

  it('goes to accounts and requests, and does things, from the command palette, by keyboard alone', async () => {
    const { page, session } = await opened('#/timeline')
    const { keyboard } = page
    await page.locator('.line').first().waitFor()
    const command = async (text: string) => {
      // The palette stays open until the action of the command before is done, and takes no second Ctrl-K.
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await keyboard.press('Control+k')
      await page.getByRole('dialog').getByLabel('Command', { exact: true }).fill(text)
      await page.getByRole('dialog').getByRole('option', { selected: true }).waitFor()
    }
    await command('tracker')
    await page.getByRole('option', { name: 'grace@example.com at tracker' }).waitFor()
    while (!(await page.getByRole('dialog').getByRole('option', { selected: true }).innerText()).includes('at tracker'))
      await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    await detail(page).getByText('at tracker').waitFor()
    await command(session.refused)
    await keyboard.press('Enter')
    await detail(page).getByText('tool_input.to is required').first().waitFor()
    await command('advance 1h')
    await keyboard.press('Enter')
    await expect.poll(() => mock.clock.now()).toBe('2026-01-31T13:00:00.000Z')
    await command('start connection-reset')
    await keyboard.press('Enter')
    await mock.environment('worker-2')
    await command('environment worker-2')
    await keyboard.press('Enter')
    await page.waitForURL(/environment=worker-2/)
    await keyboard.press('Control+k')
    await keyboard.type('no such thing')
    await page.getByText('Nothing has these words.').waitFor()
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keyboard.press('?')
    await page.getByRole('dialog').getByText('Copy the request as curl').waitFor()
  })

  it('filters and groups by single keys', async () => {
    const { page } = await opened('#/timeline')
    const lines = page.locator('.line.entry')
    await lines.first().waitFor()
    const all = await lines.count()
    await page.keyboard.press('v')
    await expect.poll(() => lines.count()).toBe(3)
    await page.keyboard.press('v')
    await expect.poll(() => lines.count()).toBe(all)
    await page.keyboard.press('e')
    await expect.poll(() => lines.count()).toBe(await page.locator('.line.failed').count())
    await page.keyboard.press('t')
    await page.locator('.line.group').first().waitFor()
    await page.keyboard.press('0')
    await expect.poll(() => lines.count()).toBe(all)
  })

  it('sorts by each heading, and shows real time first on demand', async () => {
    const { page } = await opened('#/timeline')
    const column = (name: string) => page.locator(`.line.entry .${name}`).allInnerTexts()
    await page.locator('.line').first().waitFor()
    const newest = await column('what')
    const heads = page.getByRole('group', { name: 'Columns' })
    await heads.getByRole('button', { name: 'Status' }).click()
    const statuses = (await column('cell-status')).map(Number).filter((status) => status > 0)
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b))
    await heads.getByRole('button', { name: 'Status' }).click()
    expect((await column('cell-status'))[0]).toBe('500')
    await heads.getByRole('button', { name: 'Status' }).click()
    expect(await column('what')).toEqual(newest)
    expect((await column('time'))[0]).toBe('12:00:00.000')
    await heads.getByRole('button', { name: 'Show real time first' }).click()
    await heads.getByRole('button', { name: 'Real time' }).waitFor()
    expect((await column('real'))[0]).toBe('12:00:00')
    expect((await column('time'))[0]).not.toBe('12:00:00.000')
  })

  it('shows when each request ran within its test', async () => {
    const { page } = await opened('#/timeline?by=test&environment=*')
    await page.locator('.line.entry .bar-of-time').first().waitFor()
    const places = await page
      .locator('.line.entry .bar-of-time')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left))
    // The newest is first, so the bars go from right to left.
    expect(places).toEqual([...places].sort((a, b) => b - a))
    expect(new Set(places).size).toBeGreaterThan(5)
  })

  it('has the request and the answer in tabs, which arrow keys and digits open', async () => {
    const { page } = await opened('#/timeline/REFUSED')
    await detail(page).getByText('Without a recipient').waitFor()
    await page.getByRole('tab', { name: 'Request', selected: true }).press('ArrowRight')
    await page.getByRole('tab', { name: 'Response', selected: true }).waitFor()
    await detail(page).getByText('INVALID_TOOL_INPUT').first().waitFor()
    expect(page.url()).toContain('tab=answer')
    await page.keyboard.press('3')
    await page.getByRole('tab', { name: 'Facts', selected: true }).waitFor()
    await page.keyboard.press('f')
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toBe('401 unauthorized')
  })

  it('has the focus where it was before what is closed, and at the row of a request opened by its address', async () => {
    const { page } = await opened('#/timeline/REFUSED')
    const { keyboard } = page
    const focused = () => page.evaluate<string>('document.activeElement.className || document.activeElement.tagName')
    await page.locator('.step').first().waitFor()
    await detail(page).getByRole('button', { name: 'Close' }).click()
    await expect.poll(focused).toBe('list')
    expect(await page.locator('.line.current').innerText()).toContain('INVALID_TOOL_INPUT')
    await keyboard.press('Enter')
    await page.locator('summary', { hasText: 'Fail next' }).waitFor()
    await keyboard.press('f')
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toBe('401 unauthorized')
    await keyboard.press('Enter')
    await detail(page).getByRole('button', { name: 'Stop it' }).press('Enter')
    await page.getByText('is running.').waitFor({ state: 'detached' })
    await expect.poll(focused).not.toBe('BODY')
    await keyboard.press('Escape')
    await expect.poll(focused).toBe('list')
    await page.goto(`${mock.url}/_mock/ui#/accounts`)
    await page.locator('tbody a').first().press('Enter')
    await detail(page).waitFor()
    await keyboard.press('Escape')
    await expect.poll(focused).toBe('A')
  })

  it('copies at an address without a clipboard, also in a dialog', async () => {
    const { page, session } = await opened('#/timeline/REFUSED?tab=facts')
    await page.goto(`${mock.url.replace('127.0.0.1', CONTAINER)}/_mock/ui#/timeline/${session.refused}?tab=facts`)
    expect(await page.evaluate('navigator.clipboard === undefined')).toBe(true)
    await detail(page).locator('dd').getByRole('button', { name: 'Copy' }).first().click()
    await detail(page).locator('dd').getByText('Copied').waitFor()
    await menu(page, 'Send again', 'Edit and send')
    const path = page.getByRole('dialog').getByLabel('POST to')
    await path.fill('')
    await path.press('Control+v')
    expect(await path.inputValue()).toBe(session.refused)
  })

  it('lists no fact that the request does not have', async () => {
    const { page } = await opened('#/timeline/REFUSED?tab=facts')
    await detail(page).locator('dt').getByText('Request id').waitFor()
    expect(await detail(page).locator('dd:empty').count()).toBe(0)
  })

  it.each([1440, 1024, 390])(
    'has its filters in one row in a window of %i pixels, also beside an open request',
    async (width) => {
      const { page, session } = await opened('#/timeline', { viewport: { width, height: 900 } })
      for (const hash of [
        '#/timeline',
        `#/timeline/${session.refused}`,
        '#/accounts',
        `#/accounts/${session.account}`,
      ]) {
        await page.goto(`${mock.url}/_mock/ui${hash}`)
        await page.locator('main :is(.line, tr, .step, .lifecycle)').filter({ visible: true }).first().waitFor()
        const { height = 0 } = (await page.locator('.controls').boundingBox()) ?? {}
        expect([hash, height < 60]).toEqual([hash, true])
      }
    },
  )

  it('has room between the marks of a request in a narrow window', async () => {
    const { page, session } = await opened('#/timeline', { viewport: { width: 390, height: 900 } })
    const misspelt = { connector: 'mail', identifier: 'new@example.com', user_verify_ulr: 'http://localhost:3000' }
    await session.api('POST', '/connected_accounts/magic_link', misspelt)
    await page.locator('.line', { hasText: 'violation' }).filter({ hasText: 'state changed' }).first().waitFor()
    const gaps = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.line .marks')].flatMap((marks) => {
        const edges = [...marks.children].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())
        return edges.slice(1).map(({ left }, index) => left - edges[index].right)
      })`,
    )
    expect(gaps.length).toBeGreaterThan(0)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(8)
  })

  it('shows the rows of a table as cards where it is narrow: whole names, all at the left edge', async () => {
    const { page, session } = await opened('#/timeline', { viewport: { width: 390, height: 900 } })
    const edges = (cells: string) =>
      page
        .locator(`main :is(.scroll, .scroll-x) ${cells}`)
        .evaluateAll((all) => [...new Set(all.map((each) => Math.round(each.getBoundingClientRect().left)))])
    await page.goto(`${mock.url}/_mock/ui#/accounts`)
    await page.locator('tbody tr').first().waitFor()
    expect(await edges(':is(th a, td:nth-child(2))')).toHaveLength(1)
    await page.goto(`${mock.url}/_mock/ui#/scenarios/rate-limited`)
    const rules = page.getByRole('region', { name: 'Rules of the open scenario' })
    await rules.waitFor()
    const aligned = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.detail td')].map((each) => getComputedStyle(each).textAlign)",
    )
    expect([...new Set(aligned)]).toEqual(['left'])
    await page.goto(`${mock.url}/_mock/ui#/timeline/${session.refused}?with=${session.renewed}`)
    const name = page.getByRole('rowheader', { name: 'body.tool_input.subject' })
    await name.waitFor()
    expect((await name.boundingBox())?.height).toBeLessThan(30)
  })

  it.each([1280, 390])(
    'has room for the names of an account with a long identifier in a window of %i pixels',
    async (width) => {
      const { page, session } = await opened('#/timeline', { viewport: { width, height: 900 } })
      const identifier = `${'x'.repeat(200)}@example.com`
      await session.api('POST', '/connected_accounts/magic_link', { connector: 'mail', identifier })
      const [account] = await session.accounts(identifier)
      await page.goto(`${mock.url}/_mock/ui#/accounts`)
      await page.locator('tbody tr', { hasText: identifier }).waitFor()
      const list = page.locator('.scroll')
      expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
      await page.goto(`${mock.url}/_mock/ui#/accounts/${account?.id ?? ''}`)
      await page.getByText('consent approved unverified').waitFor()
      const widths = await page.locator('.arrow').evaluateAll((all) => all.map((each) => each.clientWidth))
      expect(Math.min(...widths)).toBeGreaterThan(100)
      await page.goto(`${mock.url}/_mock/ui#/accounts/${session.account}`)
      const control = page.locator('.detail li', { hasText: 'a magic link was completed' })
      await control.waitFor()
      const heights = await control.locator('.mono').evaluateAll((all) => all.map((each) => each.clientHeight))
      expect(Math.max(...heights)).toBeLessThan(30)
    },
  )

  it('has the open view in sight in a narrow window, and the findings whole in one of 1024 pixels', async () => {
    const { page } = await opened('#/snapshots', { viewport: { width: 390, height: 900 } })
    const snapshots = page.getByRole('navigation').getByRole('link', { name: 'Snapshots' })
    await page.locator('.views .badge').first().waitFor()
    await expect
      .poll(async () => {
        const { x, width } = (await snapshots.boundingBox()) ?? { x: 0, width: 390 }
        return x + width
      })
      .toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1024, height: 900 })
    await page.goto(`${mock.url}/_mock/ui#/contract`)
    const findings = page.locator('.finding > summary')
    await findings.first().waitFor()
    expect(await findings.evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth))).toEqual([
      0, 0, 0, 0,
    ])
  })

  it('names the client of the environment in the command for the first request', async () => {
    const { page } = await opened('#/timeline')
    const { clientId } = await mock.environment('fresh')
    await page.goto(`${mock.url}/_mock/ui#/timeline?environment=fresh`)
    await page.getByText(`client_id=${clientId} `).waitFor()
  })
})
