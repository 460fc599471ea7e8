import { describe, expect, it } from 'vitest'
import { ServiceResponse, everyPage } from '../../../src/compare/conform/service-response.ts'
import { CHECKS } from '../../../src/compare/conform/checks/table.ts'
import { conformReportText } from '../../../src/compare/conform/report-formats.ts'
import { checkConformance, type ConformOptions, type ConformReport } from '../../../src/compare/conform/run.ts'
import { createApp, type App } from '../../../src/app/app.ts'
import { withServer } from '../../support/server.ts'

const EVERYTHING = { controlApi: true, allowProviderChanges: true }

/** Runs the suite over a real port. */
async function conformed(
  options: Partial<ConformOptions>,
  look: (report: ConformReport, app: App) => void | Promise<void>,
  mcp = true,
): Promise<void> {
  const app = await createApp({ mcp })
  try {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const standard = { baseUrl: url, client: app.client, prefix: 'conform-test' }
    const report = await checkConformance({ ...standard, ...options })
    await look(report, app)
  } finally {
    await app.close()
  }
}

it('the checks are at least 150, with unique names, and each names its basis', () => {
  expect(CHECKS.length).toBeGreaterThanOrEqual(150)
  expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length)
  const basis = /^(document:\d(\.\d+)?|(convention|choice):(G\d+|States|Discovery|environments))$/
  expect(CHECKS.filter((check) => !basis.test(check.basis)).map(({ id }) => id)).toEqual([])
})

describe('the conformance suite against toolmock', () => {
  it('passes every check, and deletes everything it has created', async () => {
    await conformed(EVERYTHING, ({ checks, summary, leftBehind }, { services: { registry } }) => {
      expect(checks.filter(({ result }) => result !== 'held')).toEqual([])
      expect(summary).toEqual({ total: CHECKS.length, held: CHECKS.length, broken: 0, skipped: 0 })
      expect(leftBehind).toBe(0)
      expect(registry.environments().map(({ name }) => name)).toEqual(['default'])
      const { accounts, mcp_configs } = registry.environment('default')!.model.tables
      expect([...accounts.values(), ...mcp_configs.values()]).toEqual([])
    })
  }, 60_000)

  it('skips what needs consent, a clock or a changed provider unless that is allowed, with the reason', async () => {
    await conformed(
      {},
      ({ checks, summary }, { services: { registry } }) => {
        expect(summary.broken).toBe(0)
        expect(summary.skipped).toBeGreaterThan(60)
        const reasons = new Set(checks.filter(({ result }) => result === 'skipped').map(({ reason }) => reason))
        expect([...reasons].join('\n')).toMatch(/--consent control-api/)
        expect([...reasons].join('\n')).toMatch(/--allow-provider-changes/)
        expect([...reasons].join('\n')).toMatch(/serves no configs of MCP/)
        const { connections, providers } = registry.environment('default')!.model.tables
        expect([...providers.values()].filter(({ is_custom }) => is_custom)).toEqual([])
        // The two sign-on connections have no provider.
        expect(connections.size).toBe(providers.size + 2)
      },
      false,
    )
  })

  it('does not change accounts that it has not created', async () => {
    const app = await createApp()
    try {
      const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
      const client = app.client
      const first = await checkConformance({ baseUrl: url, client, prefix: 'conform-a', only: ['create/created'] })
      expect(first.summary.held).toBe(1)
      const form = new URLSearchParams({ client_id: client.id, client_secret: client.secret })
      form.set('grant_type', 'client_credentials')
      const issued = await (await fetch(`${url}/oauth/token`, { method: 'POST', body: form })).text()
      const headers = { authorization: `Bearer ${JSON.parse(issued).access_token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' })
      expect((await fetch(`${url}/api/v1/connected_accounts`, { method: 'POST', headers, body })).status).toBe(201)
      await checkConformance({ baseUrl: url, client, prefix: 'conform-b', ...EVERYTHING })
      const left = [...app.services.registry.environment('default')!.model.tables.accounts.values()]
      expect(left.map(({ identifier }) => identifier)).toEqual(['ada@example.com'])
    } finally {
      await app.close()
    }
  })

  it('deletes what it has created when it is interrupted', async () => {
    const interrupted = new AbortController()
    const options = { signal: interrupted.signal, progress: (done: number) => done === 60 && interrupted.abort() }
    await conformed({ ...EVERYTHING, ...options }, ({ summary }, { services: { registry } }) => {
      expect(summary.skipped).toBeGreaterThan(100)
      expect([...registry.environment('default')!.model.tables.accounts.values()]).toEqual([])
    })
  })

  it('runs only checks that are named, or that have a basis', async () => {
    await conformed({ only: ['verify/m*', 'token/type'] }, ({ checks }) => {
      expect(checks.length).toBeGreaterThan(4)
      for (const { id } of checks) expect(id).toMatch(/^(verify\/m|token\/type$)/)
    })
    await conformed({ basis: 'document', only: ['create/*'] }, ({ checks }) => {
      expect(checks.length).toBeGreaterThan(5)
      for (const { basis } of checks) expect(basis).toMatch(/^document:/)
    })
  })

  it.each([
    ['a name that no check has', { only: ['nothing/*'] }, /no check is called nothing/],
    ['credentials that are wrong', { client: { id: 'nobody', secret: 'x' } }, /cannot be checked: .*401/],
    ['a server that is not there', { baseUrl: 'http://127.0.0.1:9' }, /127\.0\.0\.1:9 cannot be checked/],
  ])('cannot run with %s', async (_what, options, message) => {
    await expect(conformed(options, () => undefined)).rejects.toThrow(message)
  })
})

describe('the conformance suite against something else', () => {
  it('reports broken checks, and throws no error, when every answer is invalid', async () => {
    const report = await withServer(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(request.url === '/oauth/token' ? '{"access_token":"x"}' : '<html>')
      },
      (baseUrl) => checkConformance({ baseUrl, client: { id: 'a', secret: 'b' }, prefix: 'conform-test' }),
    )
    expect(report.summary.broken).toBeGreaterThan(150)
    for (const { result, reason } of report.checks)
      if (result === 'broken') expect(reason).toMatch(/^expected .*found/s)
  })
})

it('a broken check does not show a token of the service', () => {
  const answer = new ServiceResponse('POST /oauth/token', 200, {}, '{"access_token":"secret","expires_in":5}')
  expect(() => answer.is(401)).toThrow('found 200 {"access_token":"…","expires_in":5}')
})

it('the pages of a list have no end when a page token leads to the page that answered it', async () => {
  const answer = new ServiceResponse('GET /connections', 200, {}, '{"next_page_token":"same"}')
  await expect(everyPage(() => Promise.resolve(answer))).rejects.toThrow('expected a last page, found "2 pages')
})

const report: ConformReport = {
  checks: [
    {
      id: 'verify/twice',
      title: 'a "second" verify',
      basis: 'document:3.1',
      result: 'broken',
      reason: 'found <200> & \u0001',
    },
    { id: 'token/type', title: 'the type', basis: 'convention:G13', result: 'held', reason: '' },
    { id: 'time/link', title: 'a link', basis: 'document:2.3', result: 'skipped', reason: 'no clock' },
  ],
  summary: { total: 3, held: 1, broken: 1, skipped: 1 },
  leftBehind: 0,
}

it('reports are JSON with checks and summary', () => {
  const { checks, summary } = report
  expect(JSON.parse(conformReportText(report, 'json'))).toEqual({ checks, summary })
})

it('reports are JUnit XML with a failure for what is broken, escaped', () => {
  const text = conformReportText(report, 'junit')
  expect(text).toContain('<testsuite name="conformance" tests="3" failures="1" errors="0" skipped="1" time="0">')
  expect(text).toContain('a &quot;second&quot; verify')
  expect(text).toContain('<failure type="contract" message="found &lt;200&gt; &amp; \ufffd">')
})

it('reports are text with the reason under what is broken, and the summary at the end', () => {
  const lines = conformReportText(report, 'text').split('\n')
  expect(lines[0]).toMatch(/^broken {2}verify\/twice +a "second" verify \(document:3\.1\)$/)
  expect(lines[1]).toContain('found <200>')
  expect(lines.at(-1)).toBe('3 checks: 1 held, 1 broken, 1 skipped')
})
