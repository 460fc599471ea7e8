import { expect, it } from 'vitest'
import { readCases } from '../../../src/app/cli/cases.ts'
import { unmetExpectations } from '../../../src/app/cli/expectations.ts'
import { expectProblems, goldenCases } from '../../files/golden.ts'
import { withToolmock } from '../../support/toolmock.ts'
import { SourceText } from '../../../src/files/source-text.ts'

const problemsOf = async (text: string): Promise<readonly string[]> => {
  const { problems } = await readCases(new SourceText(text, 'cases.yaml'), { seed: ['bundled'] })
  return problems.map(({ message }) => message)
}
const withCase = (members: string): string => `cases:\n  - { name: a, ${members} }\n`

it.each(goldenCases('cases'))(
  'a file of cases: with %s is refused with line, column and what is allowed',
  async (_, text, problems) => {
    expectProblems(await problemsOf(text), problems)
  },
)

it('a file of cases: with all that it may have is valid', async () => {
  const text = withCase(
    `seed: bundled, scenario: [rate-limited], extension: organizations, clock: 2026-01-31T12:00:00Z, id_seed: 0, env: { A: 1 },
      expect: { requests: [{ operation: organizations, tool: 'mail_*', status: [200, 4*], body: { a.b: 1 }, times: 0 }],
      never: [{}], items: [{ connector: mail, collection: messages, account: a, where: { id: { gt: 1 } }, times: 2 }],
      accounts: [{ identifier: a, connector: mail, status: EXPIRED }] }`,
  )
  expect(await problemsOf(text)).toEqual([])
})

const CREATE = 'create_connected_account'
const threads = { connector: 'mail', collection: 'threads', where: { id: ['thr_lunch', 'thr_offer'] } }
it.each<[object, string[]]>([
  [{ requests: [{ operation: CREATE }, { operation: CREATE, times: 2 }] }, []],
  [{ requests: [{ operation: CREATE, times: 1 }] }, ['request wanted: exactly 1']],
  [{ requests: [{ operation: CREATE, times: 3 }] }, ['request wanted: exactly 3']],
  [{ requests: [{ operation: CREATE, times: 0 }] }, ['request wanted: none']],
  [{ requests: [{ operation: 'verify_user' }] }, ['request wanted: at least 1']],
  [{ requests: [{ operation: 'verify_user', times: 0 }], never: [{ operation: 'verify_user' }] }, []],
  [{ never: [{ operation: 'verify_user' }, { operation: CREATE }] }, ['never wanted: none']],
  [{ items: [{ ...threads, account: 'ada', times: 2 }, threads, { ...threads, times: 4 }] }, []],
  [{ items: [{ ...threads, times: 3 }] }, ['item wanted: exactly 3']],
  [{ items: [{ ...threads, times: 5 }] }, ['item wanted: exactly 5']],
  [{ items: [{ ...threads, times: 0 }] }, ['item wanted: none']],
  [{ accounts: [{ identifier: 'ada', connector: 'mail', status: 'PENDING_AUTH' }] }, []],
  [{ accounts: [{ identifier: 'ada', connector: 'mail', status: 'ACTIVE' }] }, ['account wanted: ACTIVE']],
])('what a case expects, of a program that creates two accounts: %j is unmet by %j', (expected, unmet) =>
  withToolmock({}, async ({ app, api }) => {
    for (const identifier of ['ada', 'grace']) await api.post('/connected_accounts', { connector: 'mail', identifier })
    const expectations = { requests: [], never: [], items: [], accounts: [], ...expected }
    const reasons = await unmetExpectations(expectations, app.services)
    expect(reasons.map(({ code, sentence }) => `${code} ${/wanted: .*/.exec(sentence)?.[0] ?? sentence}`)).toEqual(
      unmet,
    )
  }),
)
