import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Application, startApplication } from './application.ts'
import { describeInBrowser } from './browser.ts'
import { type Mock, startMock } from './mock.ts'

const STATE = 'a b&c=<d>"日'

const heading = (page: Page) => page.locator('h1').innerText()

describeInBrowser('a user with a browser', (open) => {
  let mock: Mock
  let app: Application
  beforeEach(async () => {
    ;[mock, app] = await Promise.all([startMock(), startApplication()])
  })
  afterEach(async () => {
    await Promise.all([mock.close(), app.close()])
  })
  const linkFor = (connector: string, identifier: string) =>
    mock.magicLink({ connector, identifier, user_verify_url: app.verifyUrl, state: STATE })

  it('chooses a person, approves, and is redirected with an auth request that verify accepts', async () => {
    const { page, complaints } = await open()
    await page.goto(await linkFor('mail', 'grace@example.com'))
    expect(await heading(page)).toContain('Mail')
    expect(await page.getByLabel('grace@example.com').isChecked()).toBe(true)
    await page.getByLabel('ada@example.com').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(await heading(page)).toBe('Back in the app')
    expect(new URL(page.url()).hash).toBe('#accounts')
    const [answer] = app.returns
    expect(answer?.get('tab')).toBe('settings')
    expect(answer?.get('state')).toBe(STATE)
    expect(await mock.status('mail', 'grace@example.com')).toBe('PENDING_VERIFICATION')
    const next = await mock.verify(answer?.get('auth_request_id') ?? '', 'grace@example.com')
    expect(await mock.status('mail', 'grace@example.com')).toBe('ACTIVE')
    const { data } = await mock.call('/execute_tool', {
      connector: 'mail',
      identifier: 'grace@example.com',
      tool_name: 'mail_send_message',
      tool_input: { to: 'eve@example.com', subject: 'Hello' },
    })
    expect(data).toHaveProperty('message_id')
    await page.goto(next)
    expect(await heading(page)).toBe('You are connected')
    expect(await page.locator('main').innerText()).toContain('grace@example.com at Mail')
    expect(await page.locator('footer').innerText()).toMatch(/environment default · request req_/)
    expect(complaints).toEqual([])
  })

  it('lets another person sign in by name', async () => {
    const { page, complaints } = await open({ javaScriptEnabled: false })
    await page.goto(await linkFor('mail', 'grace@example.com'))
    const name = page.getByLabel('Name or e-mail address of the other person')
    expect(await name.isVisible()).toBe(false)
    await page.getByLabel('Another person', { exact: true }).check()
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await page.locator('.problem').innerText()).not.toBe('')
    await name.fill('eve@example.com')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(app.returns[0]?.get('auth_request_id')).toMatch(/^[\w-]{22,}$/)
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
  })

  it('denies, is redirected with the error, and may follow the link again', async () => {
    const { page, complaints } = await open()
    const link = await linkFor('mail', 'grace@example.com')
    await page.goto(link)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(Object.fromEntries(app.returns[0] ?? [])).toEqual({ tab: 'settings', error: 'access_denied', state: STATE })
    expect(await mock.status('mail', 'grace@example.com')).toBe('PENDING_AUTH')
    await page.goto(link)
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1)
    expect(complaints).toEqual([])
  })

  it('enters credentials, wrong at first and then right, and finds the link used up', async () => {
    const { page } = await open()
    const link = await linkFor('inventory', 'ada@example.com')
    await page.goto(link)
    await page.getByLabel('Username').fill('ada"><b>')
    await page.getByRole('button', { name: 'Connect' }).click()
    expect(await heading(page)).toContain('please check')
    expect(await page.locator('#field-1-problem').innerText()).toBe('Password is missing.')
    expect(await page.getByLabel('Username').inputValue()).toBe('ada"><b>')
    await page.getByLabel('Password').fill('s3cret')
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    await mock.verify(app.returns[0]?.get('auth_request_id') ?? '', 'ada@example.com')
    await mock.call('/execute_tool', {
      connector: 'inventory',
      identifier: 'ada@example.com',
      tool_name: 'inventory_get_item',
      tool_input: { sku: 'A-1' },
    })
    await page.goto(link)
    expect(await heading(page)).toBe('This link has been used')
  })

  it('cancels the credentials form', async () => {
    const { page, complaints } = await open()
    await page.goto(await linkFor('inventory', 'ada@example.com'))
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(app.returns[0]?.get('error')).toBe('access_denied')
    expect(complaints).toEqual([])
  })

  it('continues where no sign-in is needed', async () => {
    const { page, complaints } = await open()
    await page.goto(await linkFor('encyclopedia', 'ada@example.com'))
    expect(await heading(page)).toBe('No sign-in is needed')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(app.returns[0]?.get('state')).toBe(STATE)
    expect(complaints).toEqual([])
  })

  it.each(['mail', 'inventory', 'encyclopedia'])(
    'sees markup in an identifier as text on the pages of %s',
    async (connector) => {
      const { page, complaints } = await open()
      const identifier = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
      await page.goto(await linkFor(connector, identifier))
      expect(await page.locator('main').innerText()).toContain('onerror=alert(1)')
      expect(await page.locator('img, script').count()).toBe(0)
      expect(complaints).toEqual([])
    },
  )

  it('walks the consent page by keyboard, in a narrow and dark window', async () => {
    const { page } = await open({ colorScheme: 'dark', viewport: { width: 320, height: 568 } })
    await page.goto(await linkFor('mail', 'grace@example.com'))
    const wide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
    expect(wide).toBe(false)
    // The boxes of the scopes come first.
    const boxes = await page.getByRole('checkbox').count()
    for (let box = 0; box < boxes; box++) await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowUp')
    expect(await page.getByLabel('ada@example.com').isChecked()).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${new URL(app.verifyUrl).origin}/**`)
    expect(app.returns[0]?.has('auth_request_id')).toBe(true)
  })
})
