import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeBlocks, tab } from '../recipes/markdown.ts'
import { CHROMIUM, describeWith } from '../support/machine.ts'
import { ARGUMENTS } from '../browser/browser.ts'
import { APPLICATION } from './application.ts'
import { RunnerProjects } from './project.ts'

const projects = RunnerProjects.forThisFile()
/** The time limit of each test, which starts other programs. */
const timeout = 300_000

const GUIDE = 'docs/test-runners.md'
const textOfGuide = (): string => readFileSync(new URL(`../../${GUIDE}`, import.meta.url), 'utf8')

/** The program under test, the test of the guide, and the same for a user without an account, which fails. */
function filesOfGuide(runner: string): { program: string; test: string } {
  const program = tab(GUIDE, 'A test', runner === 'vitest' ? 'TypeScript' : 'JavaScript')
  const example = tab(GUIDE, 'A test', runner)
  const [test = ''] = /^test\([^]*/m.exec(example) ?? []
  const [call] = /sendMessage\(mock.env, 'ada@example.com'\)/.exec(test) ?? []
  expect(call).toBeDefined()
  const failing = test
    .replace('sends one message', 'fails')
    .replace(call ?? '', "sendMessage(mock.env, 'eve@example.com')")
  return { program, test: `${example}\n${failing}` }
}

/** The explanation of the refused call, as \`explain\` prints it. */
const EXPLANATION =
  /toolmock, environment \S+: why requests were answered with 400 and above[^]*POST \/api\/v1\/execute_tool \(execute_tool\) by client \S+ was answered with 404 \w+\./

const explanations = (output: string): number =>
  output.match(/why requests were answered with 400 and above/g)?.length ?? 0

describe.each(['node', 'jsdom'])('Jest with the test environment %s', (environment) => {
  const JEST = ['node_modules/jest/bin/jest.js', '--env', environment]
  const packages = ['jest', `jest-environment-${environment}`]
  // jsdom has no fetch; that of Node takes the parts of a request from Node alone.
  const fetchOfNode =
    environment === 'jsdom' ? `const { fetch, URLSearchParams } = require('vm').runInThisContext('globalThis')\n` : ''

  it(
    'runs the test of the guide without a flag, and a failing one with its explanation',
    async () => {
      const { program, test } = filesOfGuide('Jest')
      // The first line is the one that the guide has for CommonJS.
      const [, commonJs = ''] = /begins with `(.*?)`/.exec(textOfGuide()) ?? []
      const files = { 'send-message.js': fetchOfNode + program.replace(/^.*/, commonJs), 'mail.test.js': test }
      const project = await projects.project(files, packages)
      const { code, output } = await projects.run(project, JEST)
      expect(output).toContain('Tests:       1 failed, 1 passed, 2 total')
      expect(output).toMatch(/✓ sends one message/)
      expect(output).toMatch(EXPLANATION)
      expect(output.match(/● fails/g)).toHaveLength(2)
      expect(explanations(output)).toBe(1)
      expect(code).toBe(1)
    },
    timeout,
  )
})

const JEST = ['node_modules/jest/bin/jest.js']

it(
  'Jest has the environment once the hooks have run, and an error that says so before',
  async () => {
    const test = `
      const { connect, createToolmock, ToolmockError } = require('toolmock')
      const { useToolmock } = require('toolmock/jest')
      const mock = useToolmock({ freeze: true, clock: '2026-01-01T00:00:00Z' })
      const early = (() => { try { return mock.url } catch (error) { return error } })()
      beforeEach(() => jest.useFakeTimers())
      const names = new Set()
      const seen = () => names.add(mock.name).size
      test('one', async () => {
        expect(early).toBeInstanceOf(ToolmockError)
        expect(early).toMatchObject({ code: 'NO_ENVIRONMENT', message: expect.stringMatching(/it has no url; read it in a test or in beforeEach/) })
        expect(await mock.clock.now()).toBe('2026-01-01T00:00:00.000Z')
        expect(Object.keys(mock)).toContain('journal')
        expect(seen()).toBe(1)
      })
      describe('of', () => test('two', () => expect(seen()).toBe(2)))
      afterEach(async () => expect(await mock.journal.count()).toBe(0))
      describe('a worker', () => {
        const mock = useToolmock({ scope: 'worker' })
        let url
        beforeAll(async () => { url = mock.url; await mock.seed({ accounts: [{ connector: 'mail', identifier: 'eve@example.com' }] }) })
        test('has one environment', () => expect(mock).toMatchObject({ url, name: 'default' }))
        test('is reset', async () => { expect(mock.url).toBe(url); expect(await mock.journal.count()).toBe(0) })
      })
      describe('a wrong option', () => {
        useToolmock({ scope: 'file' })
        test('is refused', () => undefined)
      })`
    const project = await projects.project({ 'mock.test.js': test }, ['jest'])
    const { code, output } = await projects.run(project, JEST)
    expect(output).toContain('toolmock: scope is "file"; allowed: one of test, worker')
    expect(output).toContain('Tests:       1 failed, 4 passed, 5 total')
    expect(code).toBe(1)
  },
  timeout,
)

it.each(['mjs', 'cjs'])(
  'node:test runs the test of the guide as .%s, and a failing one with its explanation',
  async (form) => {
    const { program, test: esm } = filesOfGuide('node:test')
    const cjs = esm.replaceAll(/^import (.+) from (.+)$/gm, 'const $1 = require($2)')
    const test = form === 'mjs' ? esm : cjs
    const project = await projects.project({ 'send-message.mjs': program, [`mail.test.${form}`]: test })
    const { code, output } = await projects.run(project, ['--test', '--test-reporter', 'spec'])
    expect(output).toMatch(/✔ sends one message/)
    expect(output).toMatch(/✖ fails/)
    expect(output).toMatch(/ℹ pass 1\n[^]*ℹ fail 1\n/)
    expect(output).toMatch(EXPLANATION)
    expect(explanations(output)).toBe(1)
    expect(code).toBe(1)
  },
  timeout,
)

it(
  'node:test gives a subtest the environment of its test, and refuses tests that run at the same time',
  async () => {
    const test = `
      import assert from 'node:assert/strict'
      import { describe, it, test } from 'node:test'
      import { useToolmock } from 'toolmock/node-test'
      import { sendMessage } from './send-message.mjs'
      const mock = useToolmock()
      const send = async (...args) => (await sendMessage(...args)).status
      test('whole', async (t) => {
        const { name } = mock
        await t.test('part', () => assert.equal(mock.name, name))
        await t.test('failing part', async () => assert.equal(await send(mock.env, 'eve@example.com'), 200))
        assert.equal(mock.name, name)
        assert.equal(await send(mock.env, 'eve@example.com'), 404)
      })
      test('next', () => assert.equal(typeof mock.name, 'string'))
      describe('at the same time', { concurrency: 2 }, () => {
        it('one', () => mock.journal.wait({ operation: 'execute_tool' }, { timeoutMs: 1 }).catch(() => undefined))
        it('two', () => undefined)
      })`
    const { program } = filesOfGuide('node:test')
    const project = await projects.project({ 'send-message.mjs': program, 'parts.test.mjs': test })
    const { output } = await projects.run(project, ['--test', '--test-reporter', 'spec'])
    expect(output).toMatch(/✔ part/)
    expect(output).toMatch(/✖ failing part/)
    expect(output).toMatch(/✔ next/)
    // Its own refused request is explained with the part, the one of the whole test is not: that did not fail by itself.
    expect(explanations(output)).toBe(1)
    expect(output).toMatch(/✖ two[^]*"at the same time > two" begins while "at the same time > one" runs/)
  },
  timeout,
)

it(
  'vitest runs the test of the guide, and a failing one with its explanation',
  async () => {
    const { program, test } = filesOfGuide('vitest')
    const project = await projects.project({ 'send-message.ts': program, 'mail.test.ts': test }, ['vitest'])
    const { code, output } = await projects.run(project, ['node_modules/vitest/vitest.mjs', 'run', '--root', project])
    expect(output).toMatch(/Tests +1 failed \| 1 passed/)
    expect(output).toMatch(/stderr \| mail\.test\.ts > fails/)
    expect(output).toMatch(EXPLANATION)
    expect(explanations(output)).toBe(1)
    expect(code).toBe(1)
  },
  timeout,
)

describeWith('chromium', 'Playwright', () => {
  const PLAYWRIGHT = ['node_modules/@playwright/test/cli.js', 'test', '--reporter', 'list', '--workers', '1']
  const CONFIG = `import { defineConfig } from '@playwright/test'
    const launchOptions = { executablePath: ${JSON.stringify(CHROMIUM)}, args: ${JSON.stringify(ARGUMENTS)} }
    export default defineConfig({ timeout: 120_000, expect: { timeout: 15_000 }, use: { launchOptions },
      projects: [{ name: 'passing', testIgnore: '**/refused.spec.ts' }, { name: 'refused', testMatch: '**/refused.spec.ts', expect: { timeout: 5000 } }] })`
  const run = async (files: Record<string, string>) => {
    const all = { 'playwright.config.ts': CONFIG, 'application.ts': APPLICATION, ...files }
    return projects.run(await projects.project(all, ['@playwright/test']), PLAYWRIGHT)
  }

  it(
    'runs the test of the guide, and a failing one with its explanation',
    async () => {
      const [example = ''] = codeBlocks(GUIDE, 'Playwright', 'ts')
      const failing = `
      test('fails', async ({ page, toolmock }) => {
        await toolmock.connections.disable('mail')
        await page.goto('/connect')
        await expect(page.getByText('Connected')).toBeVisible({ timeout: 1 })
      })
      test('begins at the seed', async ({ mock, toolmock }) => {
        expect(mock.name).toBe(toolmock.name)
        expect(await mock.links.list()).toEqual([])
      })`
      const { code, output } = await run({ 'connect.spec.ts': example + failing })
      expect(output).toMatch(/1 failed[^]*2 passed/)
      expect(output).toMatch(/✓ +1 .*connects a mailbox/)
      expect(output).toMatch(
        /Error: toolmock, environment default: why requests were answered with 400 and above[^]*CONNECTION_DISABLED/,
      )
      expect(explanations(output)).toBe(1)
      expect(code).toBe(1)
    },
    timeout,
  )

  it(
    'decides as a user would, on every kind of page',
    async () => {
      const begin = `
      import { expect } from '@playwright/test'
      import { test as withMock } from 'toolmock/playwright'
      import { startApplication } from './application'

      const test = withMock.extend({
        baseURL: async ({ mock }, use) => {
          const { url, stop } = await startApplication(mock.env)
          await use(url)
          await stop()
        },
      })`
      const passing = `
      test('denied, then approved as one of the people', async ({ page, consent, mock }) => {
        await page.goto('/connect')
        await consent.deny()
        await expect(page.getByText('Refused: access_denied')).toBeVisible()
        await consent.approve({ link: await mock.links.wait(), as: 'grace@example.com' })
        await expect(page.getByText('Connected as ada@example.com')).toBeVisible()
        expect(JSON.stringify(await mock.journal.requests())).toContain('grace')
      })
      test('as anybody else', async ({ page, consent, mock }) => {
        await page.goto('/connect')
        await consent.approve({ as: 'eve@elsewhere.example' })
        await expect(page.getByText('Connected as ada@example.com')).toBeVisible()
        expect(JSON.stringify(await mock.journal.requests())).toContain('eve')
      })
      test('in a popup', async ({ page, consent }) => {
        await page.goto('/')
        const opened = page.waitForEvent('popup')
        await page.getByText('In a popup').click()
        await consent.approve({ page: await opened })
        await expect(page.getByText('Connected as ada@example.com')).toBeVisible()
      })
      test('where credentials are asked for', async ({ page, consent }) => {
        await page.goto('/connect?connector=CONNECTOR')
        await consent.deny()
        await expect(page.getByText('Refused: access_denied')).toBeVisible()
        await page.goto('/connect?connector=CONNECTOR')
        await consent.approve()
        await expect(page.getByText('Connected as ada@example.com')).toBeVisible()
      })`.replaceAll('CONNECTOR', 'weather')
      const refused = `
      test('nowhere', async ({ page, consent }) => {
        await page.goto('/')
        await consent.approve()
      })
      test('used', async ({ page, consent, mock }) => {
        await page.goto('/connect')
        const link = await mock.links.wait()
        await consent.approve()
        await consent.approve({ link })
      })
      test('too late', async ({ page, consent, mock }) => {
        await page.goto('/connect')
        await mock.clock.advance('1h')
        await consent.approve()
      })
      test('as a text', async ({ page, consent }) => {
        await page.goto('/connect')
        await consent.approve('grace@example.com')
      })`
      const { output } = await run({ 'consent.spec.ts': begin + passing, 'refused.spec.ts': begin + refused })
      expect(output).toMatch(/4 failed[^]*4 passed/)
      expect(output).toContain('consent.approve takes an object with page, link, as; found "grace@example.com"')
      expect(output).toMatch(/Error: the page of a magic link is open\n/)
      expect(output.match(/^ +Error: the decision was accepted$/gm)).toHaveLength(2)
      expect(output).toMatch(/LINK_COMPLETED|This link has been used/)
    },
    timeout,
  )
})
