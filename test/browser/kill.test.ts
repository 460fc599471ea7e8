import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { describeInBrowser } from './browser.ts'
import { freePort } from '../support/free-port.ts'

const toolmock = ToolmockProcess.forThisFile()

describeInBrowser('the dashboard of a server that is killed', (open) => {
  it('stands still, and after a restart has the former requests below a divider', async () => {
    // The bundle of the tests has no dashboard.
    await cp(join(ROOT, 'src/ui/dashboard/generated'), toolmock.path('package/dist/ui'), { recursive: true })
    const state = ['--state', toolmock.path('state.json'), '--port', `${await freePort()}`]
    const killed = await toolmock.start(state)
    const { page } = await open({ viewport: { width: 1280, height: 800 } })
    const request = (url: string) => fetch(`${url}/api/v1/connections`)
    await request(killed.url)
    await page.goto(`${killed.url}/_mock/ui`)
    const lines = page.locator('.line.entry')
    await lines.filter({ hasText: '401' }).first().waitFor()
    const former = await lines.count()
    await killed.stop('SIGKILL')
    const clock = page.locator('.clock-now')
    await clock.getByText('stands still').waitFor()
    const stoodAt = await clock.innerText()
    await page.getByRole('navigation').getByRole('link', { name: 'Clock' }).click()
    await page.getByText('stands still, not connected').waitFor()
    // The real time goes on.
    const real = page.getByText('real time').locator('.mono')
    const before = await real.innerText()
    await expect.poll(() => real.innerText()).not.toBe(before)
    expect(await clock.innerText()).toBe(stoodAt)
    await page.getByRole('navigation').getByRole('link', { name: 'Timeline' }).click()
    const again = await toolmock.start(state)
    await page.getByText('Server restarted').waitFor()
    expect(await clock.innerText()).not.toContain('stands still')
    await request(again.url)
    await expect.poll(() => page.locator('.line.entry:not(.old)').count()).toBe(1)
    expect(await page.locator('.line.entry.old').count()).toBe(former)
    await page.locator('.line.entry.old').first().click()
    await page.getByText('This request is no longer in the journal.').waitFor()
    await again.stop()
  }, 90_000)
})
