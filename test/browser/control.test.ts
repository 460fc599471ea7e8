import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Application, startApplication } from './application.ts'
import { CONTAINER, describeInBrowser, REBOUND } from './browser.ts'
import { ATTEMPTS, beacons, elements, fetching, forms } from './control-attempts.ts'
import { type Mock, startMock } from './mock.ts'
import { type Rebinding, startRebinding } from './rebinding.ts'

const WRITES = ATTEMPTS.filter(({ method }) => method !== 'GET')
const POSTS = WRITES.filter(({ method }) => method === 'POST')

describeInBrowser('a page of another origin', (open) => {
  let mock: Mock
  let app: Application
  let address: Rebinding | undefined
  let before: string
  beforeEach(async () => {
    ;[mock, app] = await Promise.all([startMock(), startApplication()])
    await fillMock(mock)
    before = await everything(mock)
  })
  afterEach(async () => {
    await Promise.all([mock.close(), app.close(), address?.close()])
    address = undefined
  })
  // To a browser, another name is another site; another port of the same name is the same site, but another origin.
  const origins = ['localhost', '127.0.0.1'].map((name) => ({ name }))
  let statuses: number[]
  const foreignPage = async (name: string): Promise<Page> => {
    const { page } = await open()
    statuses = []
    page.on('response', (response) => {
      if (response.url().startsWith(`${mock.url}/_mock/`)) statuses.push(response.status())
    })
    await page.goto(`http://${name}:${new URL(app.verifyUrl).port}/`)
    return page
  }
  /** A foreign page whose address now resolves to the mock. */
  const rebound = async (name: string): Promise<Page> => {
    const { page } = await open()
    address = await startRebinding(app.verifyUrl)
    await page.goto(`http://${name}:${address.port}/`)
    expect(await page.title()).toBe('App')
    address.leadTo(mock.url)
    return page
  }

  it.each(origins)('at another port of $name can neither read by fetch nor change data', async ({ name }) => {
    const page = await foreignPage(name)
    const answers = await page.evaluate(fetching(`${mock.url}/_mock`, ATTEMPTS))
    expect(answers).toEqual(ATTEMPTS.map(() => 'TypeError'))
    const typed = { headers: { 'Content-Type': 'application/json' }, credentials: 'include' }
    expect(await page.evaluate(fetching(`${mock.url}/_mock`, WRITES, typed))).toEqual(WRITES.map(() => 'TypeError'))
    expect(await everything(mock)).toBe(before)
  })

  it.each(origins)(
    'at another port of $name cannot change data by requests whose answers it does not read',
    async ({ name }) => {
      const page = await foreignPage(name)
      const blind = ATTEMPTS.filter(({ method }) => ['GET', 'POST'].includes(method))
      const answers = await page.evaluate(fetching(`${mock.url}/_mock`, blind, { mode: 'no-cors' }))
      expect(answers).toEqual(blind.map(() => 'opaque 0'))
      expect(await page.evaluate(beacons(`${mock.url}/_mock`, POSTS))).toBeGreaterThan(0)
      // The browser does not wait for the answers to its beacons; these come after them.
      await page.evaluate(fetching(`${mock.url}/_mock`, blind, { mode: 'no-cors' }))
      expect(new Set(statuses)).toEqual(new Set([403]))
      expect(await everything(mock)).toBe(before)
    },
  )

  it.each(origins)('at another port of $name cannot change data by forms of any encoding', async ({ name }) => {
    const page = await foreignPage(name)
    expect(await page.evaluate(forms(`${mock.url}/_mock`, POSTS))).toEqual([])
    expect(new Set(statuses)).toEqual(new Set([403]))
    expect(await everything(mock)).toBe(before)
  })

  it.each(origins)('at another port of $name can embed no usable content', async ({ name }) => {
    const page = await foreignPage(name)
    expect(await page.evaluate(elements(`${mock.url}/_mock`))).toEqual([])
    expect(await everything(mock)).toBe(before)
  })

  it('is refused under a name that was rebound to this machine, although the origin is the same', async () => {
    const page = await rebound(REBOUND)
    const typed = { headers: { 'Content-Type': 'application/json' } }
    const answers = await page.evaluate<string[]>(fetching('/_mock', ATTEMPTS, typed))
    expect(answers.map((answer) => answer.slice(0, 'basic 403'.length))).toEqual(ATTEMPTS.map(() => 'basic 403'))
    expect(answers.every((answer) => answer.includes('"HOST_REFUSED"') && answer.includes(REBOUND))).toBe(true)
    expect(await everything(mock)).toBe(before)
  })

  it('may use the control API when it is of the same origin under a name as containers have it', async () => {
    const page = await rebound(CONTAINER)
    const reset = ATTEMPTS.filter(({ path }) => path === '/reset')
    expect(await page.evaluate(fetching('/_mock', reset))).toEqual(['basic 200 {}'])
    expect(await everything(mock)).not.toBe(before)
  })

  it.each(['mail', 'inventory', 'encyclopedia'])('cannot frame what a magic link of %s opens', async (connector) => {
    const page = await foreignPage('127.0.0.1')
    const link = await mock.magicLink({ connector, identifier: 'ada@example.com', user_verify_url: app.verifyUrl })
    await page.evaluate(`new Promise((resolve) => {
      const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(link)}, onload: resolve })
      document.body.append(frame)
    })`)
    const [, frame] = page.frames()
    expect(frame?.url()).toMatch(/^chrome-error:/)
    expect(await frame?.getByRole('button', { name: /Approve|Connect|Continue/ }).count()).toBe(0)
    await page.goto(link)
    expect(await page.getByRole('button', { name: /Approve|Connect|Continue/ }).count()).toBe(1)
  })
})

/** Creates data to read, to change and to delete. */
async function fillMock(mock: Mock): Promise<void> {
  await mock.magicLink({ connector: 'mail', identifier: 'ada@example.com' })
  await control(mock, 'PUT', '/clock', { frozen: true })
  await control(mock, 'POST', '/scenarios/token-dies-mid-run/start')
  await control(mock, 'PUT', '/snapshots/ours')
}

/** All state that the control API shows. */
async function everything(mock: Mock): Promise<string> {
  const parts = ['/state', '/clock', '/scenarios', '/requests', '/snapshots', '/links', '/clock?environment=theirs']
  const texts = await Promise.all(parts.map((part) => control(mock, 'GET', part)))
  return texts.join('\n')
}

async function control(mock: Mock, method: string, path: string, body?: object): Promise<string> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`${mock.url}/_mock${path}`, {
    method,
    ...(body && { headers, body: JSON.stringify(body) }),
  })
  return response.text()
}
