// Programs of users of the package, which the checks compile and run.

/** A user's program. It is type-checked with strict options, and runs as an ES module once its types are removed. */
export const CONSUMER = `import { connect, createToolmock, ToolmockError } from 'toolmock'
import type { JournalEntry, Toolmock, ToolmockEnvironment, ToolmockOptions, Variables } from 'toolmock'

const options: ToolmockOptions = { scenario: 'token-dies-mid-run', clock: '2026-01-01T00:00:00Z', freeze: true }
const mock: Toolmock = await createToolmock(options)
const variables: Variables = mock.env
export const environment: Readonly<Record<string, string | undefined>> = variables
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: mock.clientId,
  client_secret: variables.TOOLMOCK_CLIENT_SECRET,
})
const token = await fetch(mock.url + '/oauth/token', { method: 'POST', body: form })
const entries: readonly JournalEntry[] = await mock.journal.requests({ operation: 'create_token' })
const { now } = await mock.clock.advance('2h')
const elsewhere = await connect(mock.url)
const other: ToolmockEnvironment = await elsewhere.environment('worker-2')
await other.seed({ accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] })
await other.connections.disable('mail')
await other.snapshots.take('before')
const refused: unknown = await other.accounts.expire('ca_none').catch((error: unknown) => error)
const code: string = refused instanceof ToolmockError ? refused.code : ''
const unfired = (await mock.scenarios.unfired()).map(({ rule }) => rule)
await other[Symbol.asyncDispose]()
await mock.close()
const seen: unknown = [token.status, entries[0]?.status, now, code, unfired.length]
if (JSON.stringify(seen) !== '[200,200,"2026-01-01T02:00:00.000Z","ACCOUNT_NOT_FOUND",2]') {
  throw new Error('unexpected results of the library: ' + JSON.stringify(seen))
}
`

/** The same package for a program in CommonJS: TypeScript finds the types of that form, Node the code. */
export const COMMONJS_CONSUMER = `import { createToolmock, ToolmockError, type Toolmock } from 'toolmock'

async function main(): Promise<void> {
  const mock: Toolmock = await createToolmock()
  const refused: unknown = await mock.accounts.expire('ca_none').catch((error: unknown) => error)
  await mock.close()
  const { ToolmockError: imported } = await import('toolmock')
  if (!(refused instanceof ToolmockError)) throw new Error('unexpected result of the library')
  if (imported.name !== ToolmockError.name || !(refused instanceof imported)) throw new Error('there are two libraries')
}
void main()
`

/** What users write with the adapters, in each form. */
export const ADAPTERS = `import type { ToolmockEnvironment } from 'toolmock'
import { useToolmock as useInJest } from 'toolmock/jest'
import { useToolmock } from 'toolmock/node-test'
import { test, toolmockTest, type Consent } from 'toolmock/playwright'
import { test as vitestTest, toolmockTest as toolmockVitest } from 'toolmock/vitest'

export const mocks: ToolmockEnvironment[] = [useInJest(), useToolmock({ scope: 'worker', strict: true })]
// @ts-expect-error -- there is no such scope
useToolmock({ scope: 'file' })
export const withApplication = toolmockTest({ scope: 'worker' }).extend<{ user: string }, { application: string }>({
  application: [async ({ toolmock }, use) => use(toolmock.env.TOOLMOCK_URL), { scope: 'worker' }],
  user: ({ application }, use) => use(application),
})
test('decides', async ({ page, mock, consent, toolmock }) => {
  const typed: Consent = consent
  await typed.approve({ as: toolmock.name, link: await mock.links.wait(), page })
  await typed.deny()
  // @ts-expect-error -- a user who denies does not sign in
  await typed.deny({ as: 'ada@example.com' })
  const found: string | null = await page.locator('h1').textContent()
  throw new Error(String(found))
})
toolmockVitest({ contract: {} })('counts', async ({ mock }) => {
  const count: number = await mock.journal.count()
  throw new Error(String(count))
})
vitestTest('has a server', ({ toolmock }) => toolmock.url)
`

/** A user's test with the fixture, which only a project with vitest can import. */
export const FIXTURE = `import { test, toolmockTest, type ToolmockFixtures } from 'toolmock/vitest'
const strict: typeof test = toolmockTest({ strict: true })
strict('has an environment', async ({ mock, toolmock }: ToolmockFixtures) => {
  if (mock.url !== toolmock.url || (await mock.journal.count()) !== 0) throw new Error('no environment of its own')
})
`

/** Packages that the adapters need beside them, as paths of this project. */
export const RUNNERS = {
  vitest: 'node_modules/vitest',
  '@playwright/test': 'test/runners/node_modules/@playwright/test',
}
