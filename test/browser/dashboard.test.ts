import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { createToolmock, type Toolmock } from '../../src/index.ts'
import { Receiver, SECRET } from '../service/webhooks/receiver.ts'
import { describeInBrowser, menu } from './browser.ts'
import { Session } from './session.ts'

/** A change of the hash keeps the page and what it has loaded. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source)
}

/** The violations that axe finds in the page, of some rules or of all, each with its element. */
async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  await loadAxe(page)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`)
}

/** The rules of axe that judge colors: a theme changes nothing else. */
const COLORS = ['color-contrast', 'link-in-text-block']

/** Leaving a view aborts its requests, which is not an error. */
function serious(complaints: readonly string[]): string[] {
  return complaints.filter((text) => !text.includes('net::ERR_ABORTED'))
}

/** Whether the page is wider than its window. */
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > window.innerWidth')

/** What decides where the letters of an element are, as an expression of the page. */
const TEXT_LAYOUT = `(element) => {
  const { fontFamily, fontSize, fontVariantNumeric } = getComputedStyle(element)
  return [fontFamily, fontSize, fontVariantNumeric, element.scrollWidth]
}`

describeInBrowser('the dashboard', (open) => {
  let mock: Toolmock
  afterEach(() => mock.close())

  /** Opens the dashboard at an address, for a mock that has served a {@link Session}. */
  const opened = async (hash: string, options: BrowserContextOptions = {}) => {
    mock = await createToolmock({ clock: '2026-01-31T12:00:00.000Z', freeze: true, idSeed: 7, mcp: true })
    const session = await Session.start(mock)
    const tab = await open({ viewport: { width: 1280, height: 800 }, ...options })
    await tab.page.goto(`${mock.url}/_mock/ui${hash}`)
    return { ...tab, session }
  }
  const view = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click()
  const detail = (page: Page) => page.locator('.detail')

  it('opens from / with the newest request first', async () => {
    const { page, session, complaints } = await opened('')
    await page.goto(mock.url)
    expect(page.url()).toBe(`${mock.url}/_mock/ui`)
    const first = page.locator('.line').first()
    expect(await first.innerText()).toContain(session.newest)
    expect(await page.locator('.connection').innerText()).toBe('live')
    await page.evaluate('document.fonts.ready')
    expect(await page.evaluate("[...document.fonts].map(({ family, status }) => family + ' ' + status)")).toEqual([
      'Geist loaded',
      'Geist Mono loaded',
    ])
    expect(await page.evaluate("document.querySelector('.brand img').naturalWidth")).toBeGreaterThan(0)
    expect(serious(complaints)).toEqual([])
  })

  it('shows new requests, in the chosen environment', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    await session.api('GET', '/connections')
    await page.locator('.line').first().getByText('list_connections').waitFor()
    const other = await mock.environment('worker-2')
    await page.getByLabel('Environment').selectOption('worker-2')
    await page.getByText('No request yet.').waitFor()
    await other.seed({ accounts: [{ connector: 'mail', identifier: 'only@example.com' }] })
    await page.locator('.line').getByText('a seed was added').waitFor()
    await view(page, 'Accounts')
    await page.getByRole('link', { name: 'only@example.com' }).waitFor()
    await page.getByLabel('Environment').selectOption('default')
    await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('groups the requests of all environments by their tests', async () => {
    const { page } = await opened('#/timeline?environment=*&by=test')
    const made = await fetch(`${mock.url}/_mock/environments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'w', label: 'mail > sends' }),
    })
    expect(made.status).toBe(201)
    await fetch(`${mock.url}/_mock/clock?environment=w`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: '{"frozen":true}',
    })
    const group = page.locator('.line.group').filter({ hasText: 'mail > sends' })
    await group.waitFor()
    const before = await page.locator('.line.entry').count()
    await page.locator('.line.group').filter({ hasText: 'default' }).click()
    expect(await page.locator('.line.entry').count()).toBeLessThan(before)
  })

  it('filters by text, status and mark, pauses and clears', async () => {
    const { page, session } = await opened('#/timeline')
    const lines = page.locator('.line.entry')
    await lines.first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('blocked nothing')
    await page.getByText('No request matches.').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByLabel('Mark', { exact: true }).selectOption('violation')
    await expect.poll(() => lines.count()).toBe(3)
    await page.getByLabel('Mark', { exact: true }).selectOption('unserved')
    await expect.poll(() => lines.count()).toBe(1)
    expect(await lines.innerText()).toContain('violation')
    await page.getByLabel('Mark', { exact: true }).selectOption('')
    await page.getByLabel('Status', { exact: true }).selectOption('4')
    expect((await lines.locator('.status').allInnerTexts()).every((text) => text.startsWith('4'))).toBe(true)
    await page.getByLabel('Status', { exact: true }).selectOption('')
    await page.getByRole('button', { name: 'Pause' }).click()
    await session.api('GET', '/connections')
    await page.getByRole('button', { name: 'Resume (1 new)' }).click()
    await lines.first().getByText('list_connections').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('No request yet.').waitFor()
    await session.api('GET', '/connected_accounts')
    await lines.first().getByText('list_connected_accounts').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('INVALID_TOOL_INPUT').first().waitFor()
    await lines.first().getByText('list_connected_accounts').waitFor()
  })

  it('finds what a request asked for, its body and its test, also where only the server has it, and marks the hits', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    await session.api('GET', '/connected_accounts/details?connector=mail&identifier=gone%40example.com')
    const search = page.getByLabel('Search requests')
    const lines = page.locator('.line.entry')
    await lines.first().getByText('gone@example.com at mail').waitFor()
    const hits = () => page.evaluate<number>("CSS.highlights.get('hits')?.size ?? 0")
    await search.fill('Minutes of the meeting')
    await expect.poll(() => lines.count()).toBe(1)
    await lines.first().click()
    await detail(page).getByRole('tab', { name: 'Request' }).click()
    await detail(page).getByText('They are attached.').waitFor()
    await expect.poll(hits).toBeGreaterThan(3)
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await search.fill('gone@')
    await expect.poll(() => lines.count()).toBe(1)
    await expect.poll(hits).toBe(1)
    await session.control('POST', '/environments', { name: 'w', label: 'mail > sends' })
    await session.control('PUT', '/clock?environment=w', { frozen: true })
    await page.goto(`${mock.url}/_mock/ui#/timeline?environment=*&q=sends`)
    await expect.poll(() => lines.count()).toBe(1)
    await search.fill('sends frozen')
    await expect.poll(() => lines.count()).toBe(1)
    await search.fill('')
    await expect.poll(hits).toBe(0)
    expect(serious(complaints)).toEqual([])
  })

  it('keeps the line under the pointer where it is while requests come', async () => {
    const { page, session } = await opened('#/timeline')
    const place = async (text: string) => (await page.locator('.line').filter({ hasText: text }).boundingBox())?.y
    await page.locator('.line').filter({ hasText: 'INVALID_TOOL_INPUT' }).hover()
    const { height = 0 } = (await page.locator('.line').first().boundingBox()) ?? {}
    const before = await place('INVALID_TOOL_INPUT')
    for (let at = 0; at < 3; at++) await session.api('GET', '/connections')
    await expect.poll(() => page.locator('.line').filter({ hasText: 'list_connections' }).count()).toBe(3)
    expect(await place('INVALID_TOOL_INPUT')).toBe(before)
    await page.mouse.move(5, 5)
    await expect.poll(() => place('INVALID_TOOL_INPUT')).toBe((before ?? 0) + 3 * height)
  })

  it('collapses groups of more than fifty requests, puts those with errors first, and collapses all', async () => {
    const { page, session } = await opened('#/timeline?by=operation')
    for (let at = 0; at < 51; at++) await session.api('GET', '/connections')
    const groups = page.locator('.line.group')
    await groups.filter({ hasText: '▸' }).filter({ hasText: '51 requests' }).waitFor()
    const texts = await groups.allInnerTexts()
    const failed = texts.map((text) => text.includes('error'))
    expect(failed).toEqual([...failed].sort((a, b) => Number(b) - Number(a)))
    expect(failed[0]).toBe(true)
    await page.getByRole('button', { name: 'Collapse all' }).click()
    expect(await page.locator('.line.entry').count()).toBe(0)
    await groups.filter({ hasText: '51 requests' }).click()
    await expect.poll(() => page.locator('.line.entry').count()).toBeGreaterThan(15)
    await page.getByRole('button', { name: 'Collapse all' }).waitFor()
  })

  it('names the open request in the title of the page', async () => {
    const { page } = await opened('#/timeline')
    await page.locator('.line').filter({ hasText: 'INVALID_TOOL_INPUT' }).click()
    await expect.poll(() => page.title()).toBe('400 mail_send_message · Timeline · default · toolmock')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.title()).toBe('Timeline · default · toolmock')
  })

  it('keeps the text of a scenario that is not saved, and asks what to do with it', async () => {
    const { page, complaints } = await opened('#/scenarios')
    await page.getByRole('link', { name: 'New scenario' }).click()
    const editor = page.getByLabel('The scenario as YAML')
    const text = `${await editor.inputValue()}# not saved\n`
    await editor.fill(text)
    await page.getByText('Not saved: kept as a draft').waitFor()
    await page.goBack()
    await page.getByText('The text of the new scenario is not saved.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await view(page, 'Clock')
    await page.getByRole('button', { name: 'Go back to it' }).click()
    expect(await editor.inputValue()).toBe(text)
    await page.reload()
    expect(await editor.inputValue()).toBe(text)
    await view(page, 'Links')
    await page.getByRole('button', { name: 'Discard it' }).click()
    await view(page, 'Scenarios')
    await page.getByRole('link', { name: 'New scenario' }).click()
    expect(await editor.inputValue()).not.toContain('not saved')
    expect(serious(complaints)).toEqual([])
  })

  it('has the caret of the editor at the letter that is shown, also far to the right', async () => {
    const { page } = await opened('#/scenarios')
    await page.getByRole('link', { name: 'New scenario' }).click()
    const editor = page.getByLabel('The scenario as YAML')
    await editor.fill(`# ${'illicit '.repeat(40)}`)
    await page.locator('.colours').getByText('illicit').waitFor()
    const [field, shown] = await Promise.all(
      [editor, page.locator('.colours')].map((text) => text.evaluate(TEXT_LAYOUT)),
    )
    expect(field).toEqual(shown)
  })

  it('keeps the text that a suggestion has changed', async () => {
    const { page } = await opened('#/scenarios')
    await page.getByRole('link', { name: 'New scenario' }).click()
    const editor = page.getByLabel('The scenario as YAML')
    await editor.fill((await editor.inputValue()).replace('at: service', 'at: servce'))
    await page.getByRole('button', { name: 'Write service' }).click()
    await page.getByText('No problem found.').waitFor()
    await editor.fill((await editor.inputValue()).replace('at: service', 'at: servce').replace('once.', 'twice.'))
    await page.getByRole('button', { name: 'Write service' }).click()
    await page.reload()
    expect(await editor.inputValue()).toContain('twice.')
    expect(await editor.inputValue()).toContain('at: service')
  })

  it('says that an access token has expired, and whether anything can renew it', async () => {
    const { page, session } = await opened('#/accounts')
    const account = page.locator('tr').filter({ hasText: 'ada@example.com' })
    await account.waitFor()
    await mock.clock.advance('1h9m')
    await account.getByText('expired 9 min').waitFor()
    expect(await account.locator('.tag').getAttribute('class')).toContain('warning')
    expect(await account.locator('.state').innerText()).toBe('ACTIVE')
    await account.getByRole('link').click()
    await detail(page).getByText('; the next call renews it.').waitFor()
    await mock.accounts.revokeRefreshToken(session.account)
    await detail(page).getByText('Nothing can renew it').waitFor()
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(400)
    await detail(page).locator('.detail-head').getByText('EXPIRED').waitFor()
  })

  it('shows who will sign in, and names them afterwards, on the page of the third party too', async () => {
    const { page, session } = await opened('#/links')
    const linus = page.locator('tr').filter({ hasText: 'linus@example.com' })
    await expect.poll(() => linus.getByLabel('Sign in as').inputValue()).toBe('ada@example.com')
    const link = await linus.getByRole('link', { name: 'Open' }).getAttribute('href')
    await linus.getByLabel('Sign in as').fill('nobody@example.com')
    await linus.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('signed in as nobody@example.com').waitFor()
    expect(link).not.toBeNull()
    await session.api('POST', '/connected_accounts/magic_link', { connector: 'mail', identifier: 'eve@example.com' })
    const eve = await page
      .locator('tr')
      .filter({ hasText: 'eve@example.com' })
      .getByRole('link', { name: 'Open' })
      .getAttribute('href')
    await page.goto(eve ?? '')
    expect(await page.getByLabel('ada@example.com').isChecked()).toBe(true)
    await page.getByText('Another person', { exact: true }).click()
    expect(await page.getByLabel('Name or e-mail address of the other person').inputValue()).toBe('eve@example.com')
    await page.getByLabel('ada@example.com').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Signed in as ada@example.com.').waitFor()
  })

  it('lists what a move of the clock has changed, with links', async () => {
    const { page } = await opened('#/clock')
    await page.getByRole('button', { name: '+1 h', exact: true }).click()
    const passed = page.locator('.card').filter({ hasText: 'From' })
    await passed.getByText('1 access token expired').waitFor()
    await passed.getByText('2 links ended').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await passed.getByRole('link', { name: 'ada@example.com at mail' }).first().click()
    await detail(page).getByText('; the next call renews it.').waitFor()
  })

  it.each(['light', 'dark'] as const)('has contrast at the moment when the theme changes from %s', async (from) => {
    const { page, session } = await opened('', { colorScheme: from })
    for (const hash of ['#/timeline', `#/timeline/${session.renewed}`, `#/accounts/${session.account}`, '#/links']) {
      await page.goto(`${mock.url}/_mock/ui${hash}`)
      await page.locator('main :is(.line, tr, li, .step)').filter({ visible: true }).first().waitFor()
      await loadAxe(page)
      await page.emulateMedia({ colorScheme: from === 'light' ? 'dark' : 'light' })
      expect([hash, await violationsOf(page, COLORS)]).toEqual([hash, []])
      await page.emulateMedia({ colorScheme: from })
    }
    const moving = await page.evaluate(
      "[...document.querySelectorAll('*')].filter((each) => getComputedStyle(each).transitionDuration !== '0s').length",
    )
    expect(moving).toBe(0)
  })

  it('shows why a tool call was refused, and lets the next one fail', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    await page.locator('.line').filter({ hasText: 'INVALID_TOOL_INPUT' }).click()
    const details = detail(page)
    await details.getByText('tool_input.to is required').first().waitFor()
    await details.getByRole('button', { name: 'Fail next: 429' }).click()
    await details.getByText('The next mail_send_message fails: 429 too many requests.').waitFor()
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(429)
    await details.getByText('It failed as asked: The next mail_send_message fails').waitFor()
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(200)
    await menu(page, 'Fail next', '500 server error')
    await details.getByRole('button', { name: 'Stop it' }).click()
    await details.getByText('is running.').waitFor({ state: 'detached' })
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(200)
    expect(serious(complaints)).toEqual([])
  })

  it('keeps a failure that waits while another is asked for, and calls one that took place spent', async () => {
    const { page, session } = await opened('#/timeline')
    const fail = async (tool: string) => {
      await page.locator('.line').filter({ hasText: tool }).first().click()
      await detail(page).getByRole('heading', { name: tool }).waitFor()
      await menu(page, 'Fail next', '429 too many requests')
      await detail(page).getByText(`The next ${tool} fails`).waitFor()
    }
    await fail('mail_send_message')
    await fail('weather_get_forecast')
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(429)
    await page.goto(`${mock.url}/_mock/ui#/scenarios`)
    const line = (tool: string) => page.locator('.list-side tbody tr').filter({ hasText: `The next ${tool} fails` })
    await line('mail_send_message').getByText('spent', { exact: true }).waitFor()
    await line('weather_get_forecast').getByText('running', { exact: true }).waitFor()
    expect(await line('mail_send_message').getByText('running', { exact: true }).count()).toBe(0)
    await page.getByText(/^1 of \d+ running$/).waitFor()
    await page.getByLabel('Search scenarios').fill('Weather_get')
    await line('mail_send_message').waitFor({ state: 'detached' })
    expect(await page.locator('.list-side tbody tr').count()).toBe(1)
  })

  it('draws the renewal between the calls of the third party, and copies the request as curl', async () => {
    const { page, session } = await opened('#/timeline')
    await page.goto(`${mock.url}/_mock/ui#/timeline/${session.renewed}`)
    const steps = detail(page).locator('.step')
    await steps.first().waitFor()
    const texts = (await steps.allInnerTexts()).join('\n')
    expect(texts).toMatch(/oauth\/token[\s\S]*credentials renewed[\s\S]*\/v1\/messages/)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await menu(page, 'Copy', 'As curl')
    await page.locator('.menu', { hasText: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      `curl -X POST ${mock.url}/api/v1/execute_tool`,
    )
  })

  it('shows the events that a request caused beside it, and from each the way back', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    const receiver = new Receiver()
    await session.control('PUT', '/webhooks/app', { url: await receiver.listen(), secret: SECRET })
    const who = { connector: 'mail', identifier: 'events@example.com' }
    const { id } = await session.api('POST', '/connected_accounts', who)
    await receiver.answered(1)
    await page.goto(`${mock.url}/_mock/ui#/timeline/${id}`)
    await detail(page).getByRole('heading', { name: 'Events sent' }).waitFor()
    await detail(page).getByRole('link', { name: 'created' }).click()
    await detail(page).getByText('The application acknowledged the event.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await detail(page).getByRole('tab', { name: 'Facts' }).click()
    await detail(page).getByRole('link', { name: id }).click()
    await detail(page).getByRole('heading', { name: 'create_connected_account' }).waitFor()
    expect(serious(complaints)).toEqual([])
    await receiver.close()
  })

  it('is navigated by keyboard, goes back, and restores the view', async () => {
    const { page } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await detail(page).waitFor()
    await page.keyboard.press('Escape')
    await detail(page).waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Due next' }).waitFor()
    await page.goBack()
    await page.locator('.line').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('go to Clock').waitFor()
    await page.keyboard.press('Escape')
    await view(page, 'Scenarios')
    await page.goto('about:blank')
    await page.goto(`${mock.url}/_mock/ui`)
    await page.getByRole('link', { name: 'New scenario' }).waitFor()
  })

  it('applies events to an account, jumps to its expiry and tries a tool', async () => {
    const { page, session, complaints } = await opened('#/accounts')
    await page.getByRole('link', { name: 'ada@example.com' }).click()
    const account = detail(page)
    await account.getByLabel('to', { exact: true }).fill('grace@example.com')
    await account.getByLabel('subject', { exact: true }).fill('Hello')
    await account.getByRole('button', { name: 'Run mail_send_message' }).click()
    await account.locator('.answer .status').getByText('200').waitFor()
    await account.getByRole('button', { name: 'revoke refresh token' }).click()
    await account.getByRole('button', { name: 'Jump there' }).click()
    await account.getByText('Jump there').waitFor({ state: 'detached' })
    expect((await mock.clock.now()) > '2026-01-31T12:30').toBe(true)
    await account.getByRole('button', { name: 'disconnect' }).click()
    await account.locator('.detail-head').getByText('DISCONNECTED').waitFor()
    expect(await account.getByRole('button', { name: 'disconnect' }).count()).toBe(1)
    expect((await session.send({ to: 'a@example.com', subject: 'Hi' })).status).toBe(400)
    await account.getByRole('link', { name: 'create a magic link' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.locator('tr').filter({ hasText: 'ada@example.com' }).getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Approved: ada@example.com').waitFor()
    await expect.poll(async () => (await session.accounts('ada')).map(({ status }) => status)).toEqual(['ACTIVE'])
    expect(serious(complaints)).toEqual([])
  })

  it('moves, freezes and sets the clock, and jumps to the time of a due event', async () => {
    const { page, complaints } = await opened('#/clock')
    const time = page.locator('.clock-time')
    await expect.poll(() => time.innerText()).toBe('12:00:00')
    await page.getByRole('row').filter({ hasText: 'and 1 more: its link stops working' }).waitFor()
    await page.getByRole('button', { name: 'Access token expires in 1 h 00 min' }).waitFor()
    await page.getByRole('button', { name: 'Link ends in 15 min 00 s' }).click()
    await expect.poll(() => time.innerText()).toBe('12:15:00')
    await page.getByLabel('Set to (UTC)').fill('2026-01-31T12:00:00')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.locator('.axis').getByRole('button', { name: 'ada@example.com at mail, its access token' }).click()
    await expect.poll(() => time.innerText()).toBe('13:00:00')
    await page.getByLabel('Set to (UTC)').fill('2026-01-31T12:00:00')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await expect.poll(() => time.innerText()).toBe('12:00:00')
    await page.getByRole('button', { name: '+1 min', exact: true }).click()
    await expect.poll(() => time.innerText()).toBe('12:01:00')
    await page.getByRole('button', { name: '+1 h', exact: true }).click()
    await page.getByRole('button', { name: '+1 d', exact: true }).click()
    await expect.poll(() => time.innerText()).toBe('13:01:00')
    await page.getByLabel('Set to (UTC)').fill('2026-01-31T11:00:00')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await expect.poll(() => time.innerText()).toBe('11:00:00')
    await page
      .getByRole('button', { name: /^Jump there.*access token/ })
      .first()
      .click()
    await expect.poll(() => time.innerText()).toBe('13:00:00')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'Freeze' }).waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('writes a scenario with its problems beside the lines, starts it and stops it', async () => {
    const { page, complaints } = await opened('#/scenarios')
    await page.getByRole('link', { name: 'New scenario' }).click()
    const editor = page.getByLabel('The scenario as YAML')
    const right = await editor.inputValue()
    await editor.fill(right.replace('respond', 'respnd'))
    await page.getByRole('button', { name: 'Line 8' }).waitFor()
    await page.locator('.colours .code-key').getByText('respnd').waitFor()
    await page.getByText('allowed values').click()
    await page.getByRole('button', { name: 'latency', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Write respond' }).click()
    await page.getByText('No problem found.').waitFor()
    expect(await editor.inputValue()).toBe(right)
    await editor.fill(right.replace('respond', 'respnd'))
    await page.getByRole('button', { name: 'Line 8' }).waitFor()
    expect(await page.getByRole('button', { name: 'Save and start' }).isDisabled()).toBe(true)
    await editor.fill(right)
    await page.getByText('No problem found.').waitFor()
    await page.getByRole('button', { name: 'Save and start' }).click()
    await detail(page).getByRole('heading', { name: 'my-scenario' }).waitFor()
    await page.getByRole('button', { name: 'Stop my-scenario' }).click()
    await page.getByRole('button', { name: 'Stop my-scenario' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Start connection-reset' }).click()
    await page.getByRole('button', { name: 'Stop connection-reset' }).waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('shows findings with their requests, and saves reports', async () => {
    const { page, complaints } = await opened('#/contract')
    await page.getByText('The verdict fails').waitFor()
    const findings = (name: string) => page.getByRole('region', { name }).locator('.finding')
    await findings('Violations').first().waitFor()
    const badge = Number.parseInt(await page.getByRole('navigation').locator('.badge.error').innerText(), 10)
    expect((await findings('Violations').count()) + (await findings('Warnings').count())).toBe(badge)
    await page.getByRole('tab', { name: `Findings (${badge})` }).waitFor()
    expect(await page.getByRole('columnheader', { name: '409' }).count()).toBe(0)
    await page.getByRole('tab', { name: 'Coverage' }).click()
    await page.getByRole('columnheader', { name: '409' }).waitFor()
    await page.getByRole('tab', { name: 'Findings' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'JUnit' }).click()
    expect((await saved).suggestedFilename()).toBe('toolmock-junit.xml')
    await findings('Violations').filter({ hasText: 'tool_input.to' }).getByRole('link').click()
    await detail(page).getByRole('heading', { name: 'mail_send_message' }).waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('counts a finding of two environments once, with the test and the line of each request', async () => {
    const { page, session } = await opened('#/timeline')
    const label = { name: 'w', label: 'inbox > searches by sender', file: 'inbox.test.ts', line: 31 }
    const client = await session.control<{ client_id: string; client_secret: string }>('POST', '/environments', label)
    const form = { grant_type: 'client_credentials', client_id: client.client_id, client_secret: client.client_secret }
    const answer = await fetch(`${mock.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token } = (await answer.json()) as { access_token: string }
    const headers = { Authorization: `Bearer ${access_token}` }
    expect((await fetch(`${mock.url}/api/v1/conected_accounts`, { headers })).status).toBe(404)
    await page.goto(`${mock.url}/_mock/ui#/contract?environment=*`)
    const finding = page.locator('.finding').filter({ hasText: 'conected_accounts' })
    await finding.getByText('inbox.test.ts:31 · inbox > searches by sender').waitFor()
    expect(await finding.count()).toBe(1)
    expect(await finding.getByRole('link').count()).toBe(2)
    const badge = await page.getByRole('navigation').locator('.badge.error').innerText()
    expect(await page.locator('.finding').count()).toBe(Number.parseInt(badge, 10))
  })

  it('filters accounts by their connector and sorts them', async () => {
    const { page, complaints } = await opened('#/accounts')
    const names = async () => (await page.locator('tbody th').allInnerTexts()).map((text) => text.split('@')[0])
    await expect.poll(names).toEqual(['grace', 'grace', 'linus', 'ada'])
    await page.getByLabel('Connector', { exact: true }).selectOption('mail')
    await expect.poll(names).toEqual(['linus', 'ada'])
    await page.getByRole('button', { name: 'Account', exact: true }).click()
    await expect.poll(names).toEqual(['ada', 'linus'])
    expect(await page.getByRole('columnheader', { name: 'Account' }).getAttribute('aria-sort')).toBe('ascending')
    await page.getByRole('button', { name: 'Account ▲' }).click()
    await expect.poll(names).toEqual(['linus', 'ada'])
    expect(serious(complaints)).toEqual([])
  })

  it('cuts no name of a request while one is open', async () => {
    const { page, session } = await opened('#/timeline')
    await page.goto(`${mock.url}/_mock/ui#/timeline/${session.renewed}`)
    await detail(page).locator('.step').first().waitFor()
    const cut = await page.evaluate(`[...document.querySelectorAll('.line:has(.status) .what')].filter((cell) =>
      cell.firstElementChild.getBoundingClientRect().right > cell.getBoundingClientRect().right).map(({ innerText }) => innerText)`)
    expect(cut).toEqual([])
  })

  it('shows the items of a collection as a table', async () => {
    const { page, session, complaints } = await opened('#/collections')
    const fields = { id: 'n_{{sequence}}', title: '' }
    const collections = { notes: { per: 'environment', fields, seed: [{ title: 'Alpha' }, { title: 'Beta' }] } }
    await session.control('PUT', '/connectors/jotter', {
      connector: 'jotter',
      authorization_type: 'API_KEY',
      collections,
    })
    await page.getByLabel('Collection', { exact: true }).selectOption('jotter/notes')
    await page.getByRole('cell', { name: 'Beta' }).waitFor()
    expect(await page.getByRole('region', { name: 'jotter/notes' }).getByRole('row').count()).toBe(3)
    expect(serious(complaints)).toEqual([])
  })

  it('shows the items of an extension, and its requests by its name', async () => {
    const { page, session, complaints } = await opened('#/collections')
    const on = { method: 'POST', path: '/api/v1/memos' }
    const responders = [{ name: 'take', on, steps: [{ create: 'memos' }] }]
    await session.control('PUT', '/extensions/memos', { extension: 'memos', collections: { memos: {} }, responders })
    await session.api('POST', '/memos', { id: 'memo_1', text: 'Gamma' })
    await page.getByLabel('Collection', { exact: true }).selectOption('extension.memos/memos')
    await page.getByRole('cell', { name: 'Gamma' }).click()
    await page.locator('.detail .json').getByText('"Gamma"').waitFor()
    await view(page, 'Timeline')
    await page.locator('.line').filter({ hasText: 'memos' }).waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('shows what a client of MCP takes, with which one calls, and its requests', async () => {
    const { page, session, complaints } = await opened('#/connectors/mail')
    const { mcpServers } = JSON.parse(await page.locator('.detail .command pre').innerText()) as {
      mcpServers: { mail: { url: string; headers: Record<string, string> } }
    }
    const { url, headers } = mcpServers.mail
    expect(headers).toEqual({ Authorization: 'Bearer ACCESS_TOKEN', identifier: 'ada@example.com' })
    const client = new Client({ name: 'test-client', version: '1.2.3' }, { versionNegotiation: { mode: 'auto' } })
    const Authorization = headers['Authorization']?.replace('ACCESS_TOKEN', session.token) ?? ''
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers, Authorization } } }),
    )
    await client.listTools()
    await client.callTool({ name: 'mail_get_message', arguments: { message_id: 'none' } })
    await client.close()

    await view(page, 'Timeline')
    const listed = page.locator('.line').filter({ hasText: 'tools/list /mcp/v3/connections/mail' })
    expect(await listed.innerText()).not.toContain('not served')
    await listed.click()
    await detail(page).getByRole('heading', { name: 'tools/list /mcp/v3/connections/mail' }).waitFor()
    await page.locator('.line').filter({ hasText: 'mail_get_message' }).first().click()
    const call = detail(page).locator('.step').filter({ hasText: 'tools/call /mcp/v3/connections/mail' })
    await call.getByText('execute_tool · mail_get_message').waitFor()
    await detail(page).getByRole('tab', { name: 'Facts' }).click()
    const facts = detail(page).locator('dl').filter({ hasText: 'Request id' })
    expect((await facts.innerText()).replaceAll(/\s+/g, ' ')).toContain(
      'Protocol mcp Client test_client MCP client test-client 1.2.3',
    )
    expect(serious(complaints)).toEqual([])
  })

  it('sends an event again and by hand, and shows what each attempt was answered', async () => {
    const { page, session, complaints } = await opened('#/webhooks')
    await page.getByText('No webhook yet.').waitFor()
    const receiver = new Receiver()
    await session.control('PUT', '/webhooks/app', { url: await receiver.listen(), secret: SECRET })
    await page.getByText('Nothing was sent yet.').waitFor()
    await page.getByRole('link', { name: 'Send an event' }).click()
    await page
      .getByRole('dialog')
      .getByLabel('Event', { exact: true })
      .selectOption('connected_account.token_refresh_failed')
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await receiver.answered(1)
    const rows = page.locator('tbody tr')
    await rows.filter({ hasText: 'token_refresh_failed' }).getByText('200').waitFor()
    await rows.getByRole('button', { name: 'Send again' }).click()
    await receiver.answered(2)
    await expect.poll(() => rows.count()).toBe(2)
    expect(receiver.events[1]).toEqual(receiver.events[0])
    await rows.first().getByRole('link').click()
    await detail(page).getByText('The application acknowledged the event.').waitFor()
    expect(serious(complaints)).toEqual([])
    await receiver.close()
  })

  it('compares two runs by their tests: environments, and a saved journal', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    const { requests } = await session.control<{ requests: object[] }>('GET', '/requests')
    await mock.scenarios.clear()
    await session.send({ subject: 'Without a recipient' })
    await session.api('GET', '/connections')
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
    await page.getByLabel('The run after').selectOption('default')
    const chooser = page.waitForEvent('filechooser')
    await page.getByLabel('The run before').selectOption('a saved journal')
    const lines = requests.map((request) => JSON.stringify(request)).join('\n')
    await (await chooser).setFiles({ name: 'run.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines) })
    await page.getByText('2 changes, 1 new failure').waitFor()
    const rows = page.locator('tbody tr')
    await rows.first().filter({ hasText: 'mail_send_message' }).getByText('fails now').waitFor()
    await rows.nth(1).filter({ hasText: 'list_connections' }).getByText('new').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await rows.filter({ hasText: 'list_connections' }).getByRole('link').click()
    await detail(page).getByRole('heading', { name: 'list_connections' }).waitFor()
    await mock.environment('empty')
    await view(page, 'Runs')
    await page.getByLabel('The run before').selectOption('empty')
    await rows.filter({ hasText: 'create_token' }).getByText('new').waitFor()
    await page.getByLabel('The run after').selectOption('empty')
    await page.getByText('Both runs have the same answers.').waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('saves what led to a request as a scenario', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    await page.goto(`${mock.url}/_mock/ui#/timeline/${session.renewed}`)
    await detail(page).getByRole('button', { name: 'Save as scenario' }).click()
    const saved: string[] = []
    page.on('download', (file) => saved.push(file.suggestedFilename()))
    await detail(page).getByRole('button', { name: 'Download scenario and seed' }).click()
    await expect.poll(() => saved.length).toBe(2)
    const command = await detail(page).locator('.actions .command pre').innerText()
    for (const name of saved) expect(command).toContain(` ${name} `)
    expect(command).toContain('--clock 2026-01-31T12:00:00.000Z')
    await detail(page).getByText('Saved as').getByRole('link').click()
    expect(await page.getByLabel('The scenario as YAML').inputValue()).toMatch(/^name: replay-/)
    await page.getByText('No problem found.').waitFor()
    await page.goto(`${mock.url}/_mock/ui#/timeline/${session.refused}`)
    await detail(page).getByRole('button', { name: 'Save as scenario' }).click()
    await detail(page).getByText('Its rule does nothing').waitFor()
    expect(serious(complaints)).toEqual([])
  })

  it('saves, compares and restores snapshots, and resets', async () => {
    const { page, session, complaints } = await opened('#/snapshots')
    await page.getByLabel('Name').fill('before')
    await page.getByRole('button', { name: 'Save a snapshot' }).click()
    await page.getByRole('button', { name: 'Restore' }).waitFor()
    await mock.accounts.expire(session.account)
    await page.getByRole('link', { name: 'before' }).click()
    await page.getByRole('cell', { name: '"EXPIRED"' }).waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('No changes since before.').waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await saved).suggestedFilename()).toBe('toolmock-state-default.json')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Upload' }).click()
    await (await chooser).setFiles({ name: 'bad.json', mimeType: 'text/plain', buffer: Buffer.from('{}') })
    await page.locator('.problem').waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await page.getByText('The environment is reset to its seed.').waitFor()
    expect(await session.accounts('ada')).toEqual([])
    // The file is refused, and items of the account can have been asked for right before the reset.
    const expected = /status of 400|status of 404 .*\/_mock\/collections\//
    expect(serious(complaints).filter((text) => !expected.test(text))).toEqual([])
  })

  it('shows hostile text of a client as text in every view', async () => {
    const { page, session, complaints } = await opened('#/timeline')
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    await session.api('POST', '/connected_accounts', { connector: 'mail', identifier: hostile })
    await session.api('GET', `/${encodeURIComponent(hostile)}`)
    await session.api('POST', '/execute_tool', {
      connector: 'mail',
      identifier: hostile,
      tool_name: hostile,
      tool_input: { [hostile]: hostile },
    })
    await session.api('POST', '/connected_accounts/magic_link', { connector: 'mail', identifier: hostile })
    await page.locator('.line').filter({ hasText: 'onerror' }).first().click()
    await detail(page).locator('.step').first().waitFor()
    for (const name of [
      'Accounts',
      'Links',
      'Clock',
      'Contract',
      'Webhooks',
      'Connectors',
      'Collections',
      'Snapshots',
    ]) {
      await view(page, name)
      await page.waitForTimeout(0)
    }
    await view(page, 'Links')
    await page.getByText('onerror=alert(1)').first().waitFor()
    expect(await page.locator('img:not(.brand img), main script').count()).toBe(0)
    expect(serious(complaints)).toEqual([])
  })

  it('requests the admin token, and keeps it for the session', async () => {
    mock = await createToolmock({ adminToken: 's3cret' })
    const { page } = await open()
    await page.goto(`${mock.url}/_mock/ui`)
    await page.getByLabel('Admin token', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('This is not the admin token.').waitFor()
    await page.getByLabel('Admin token', { exact: true }).fill('s3cret')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('No request yet.').waitFor()
    await page.reload()
    await page.getByText('No request yet.').waitFor()
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('s3cret')
  })

  it('shows that the server has stopped, and connects to the next one at its address', async () => {
    const { page } = await opened('#/timeline')
    await page.locator('.line').first().waitFor()
    const { port } = new URL(mock.url)
    await mock.close()
    await page.getByText('not connected, trying again').waitFor()
    await page.locator('.clock-now').getByText('stands still').waitFor()
    const former = await page.locator('.line.entry').count()
    mock = await createToolmock({ port: Number(port) })
    await page.getByText('Server restarted').waitFor()
    await expect.poll(() => page.locator('.line.entry.old').count()).toBe(former)
    expect(await page.locator('.line.entry:not(.old)').count()).toBe(0)
    expect(await page.locator('.connection').innerText()).toBe('live')
    expect(await page.locator('.clock-now').innerText()).not.toContain('stands still')
    expect(await violationsOf(page)).toEqual([])
  })

  const THEMES = ['light', 'dark'] as const
  const PLACES = [
    '#/timeline',
    '#/timeline/REQUEST',
    '#/timeline/REQUEST?tab=facts',
    '#/timeline/REQUEST?tab=answer',
    '#/timeline/REFUSED?with=REQUEST',
    '#/accounts',
    '#/accounts/ACCOUNT',
    '#/links',
    '#/clock',
    '#/scenarios',
    '#/scenarios/rate-limited',
    '#/contract',
    '#/contract?tab=coverage',
    '#/links/a%20new%20one',
    '#/connectors/mail',
    '#/collections',
    '#/snapshots',
    '#/webhooks',
    '#/runs',
  ]
  it.each(THEMES.flatMap((theme) => [390, 1280].map((width) => ({ theme, width }))))(
    'is accessible and fits in a $theme window of $width pixels',
    async ({ theme, width }) => {
      const { page, session, complaints } = await opened('', { colorScheme: theme, viewport: { width, height: 800 } })
      const found: unknown[] = []
      for (const place of PLACES) {
        const hash = place
          .replace('REQUEST', session.renewed)
          .replace('REFUSED', session.refused)
          .replace('ACCOUNT', session.account)
        await page.goto(`${mock.url}/_mock/ui${hash}`)
        await page
          .locator('main :is(.line, tr, li, .step, .verdict, .json, .empty)')
          .filter({ visible: true })
          .first()
          .waitFor()
        if (await isTooWide(page)) found.push([place, 'is too wide'])
        found.push(...(await violationsOf(page, theme === 'dark' ? COLORS : undefined)).map((text) => [place, text]))
      }
      expect(found).toEqual([])
      expect(serious(complaints)).toEqual([])
    },
    120_000,
  )
})
