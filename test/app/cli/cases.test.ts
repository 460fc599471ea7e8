import { describe, expect, it } from 'vitest'
import { readCases } from '../../../src/app/cli/cases.ts'
import { unmetExpectations } from '../../../src/app/cli/expectations.ts'
import { withToolmock } from '../../support/toolmock.ts'
import { SourceText } from '../../../src/files/source-text.ts'

const problemsOf = async (text: string): Promise<readonly string[]> => {
  const { problems } = await readCases(new SourceText(text, 'cases.yaml'), { seed: ['bundled'] })
  return problems.map(({ message }) => message)
}
const withCase = (members: string): string => `cases:\n  - { name: a, ${members} }\n`

describe('a file of cases', () => {
  it.each([
    ['no case', 'cases: []', ['cases.yaml:1:8: `cases` is an empty list; allowed: at least 1 item']],
    [
      'an unknown key',
      withCase('expects: {}'),
      [
        'cases.yaml:2:16: `cases[0].expects` is an unknown key (did you mean expect?); allowed: name, seed, scenario, extension, clock, id_seed, env, expect',
      ],
    ],
    ['a case without a name', 'cases: [{ seed: bundled }]', ['cases.yaml:1:9: `cases[0].name` is required; allowed: ']],
    [
      'a name that no file can have',
      'cases: [{ name: a/b }]',
      ['cases.yaml:1:17: `cases[0].name` is "a/b"; allowed: 1 to 64 letters, digits, dots, underscores and hyphens'],
    ],
    [
      'two cases of one name',
      'cases: [{ name: a }, { name: a }]',
      ['cases.yaml:1:30: `cases[1].name` is "a" for the second time; allowed: a name that differs from item 0'],
    ],
    [
      'a seed that is no path',
      withCase('seed: [7]'),
      ['cases.yaml:2:22: `cases[0].seed` is a list; allowed: a text, or a list of texts, none of them empty'],
    ],
    [
      'a seed that does not exist',
      withCase('seed: [bundled, nowhere.yaml]'),
      [
        'cases.yaml:2:22: `cases[0].seed` is not usable (nowhere.yaml: there is no such file or folder); allowed: what --seed takes',
      ],
    ],
    [
      'a scenario that does not exist',
      withCase('scenario: rate-limitd'),
      [
        'cases.yaml:2:26: `cases[0].scenario` is not usable (there is no bundled scenario "rate-limitd" (did you mean rate-limited?)',
      ],
    ],
    [
      'an extension that does not exist',
      withCase('extension: [organisations]'),
      [
        'cases.yaml:2:27: `cases[0].extension` is not usable (there is no bundled extension "organisations" (did you mean organizations?)',
      ],
    ],
    [
      'a clock without a time zone',
      withCase('clock: 2026-01-31T12:00:00'),
      [
        'cases.yaml:2:23: `cases[0].clock` is "2026-01-31T12:00:00"; allowed: an RFC 3339 date and time such as 2026-01-31T12:00:00Z',
      ],
    ],
    ['an id seed below 0', withCase('id_seed: -1'), ['cases.yaml:2:25: `cases[0].id_seed` is -1; allowed: at least 0']],
    [
      'a variable without a text',
      withCase('env: { A: [] }'),
      ['cases.yaml:2:21: `cases[0].env` is an object; allowed: an object whose values are texts'],
    ],
    [
      'names of variables that the mock sets, and that are none',
      withCase('env: { TOOLMOCK_URL: x, a-b: 1 }'),
      [
        'cases.yaml:2:23: `cases[0].env.TOOLMOCK_URL` is one that the mock sets; allowed: names without TOOLMOCK_',
        'cases.yaml:2:40: `cases[0].env.a-b` is no name; allowed: letters, digits and underscores',
      ],
    ],
    [
      'an unknown operation',
      withCase('expect: { requests: [{ operation: exectue_tool }] }'),
      [
        'cases.yaml:2:50: `cases[0].expect.requests[0].operation` is "exectue_tool" (did you mean execute_tool?); allowed: create_token, ',
      ],
    ],
    [
      'an unknown part of a request',
      withCase('expect: { never: [{ operations: execute_tool }] }'),
      [
        'cases.yaml:2:36: `cases[0].expect.never[0].operations` is an unknown key (did you mean operation?); allowed: operation, status, ',
      ],
    ],
    [
      'a status that is none',
      withCase('expect: { requests: [{ status: 4x }] }'),
      [
        'cases.yaml:2:47: `cases[0].expect.requests[0].status` is "4x"; allowed: a status from 100 to 599, 0 for no answer, or a glob such as 4*',
      ],
    ],
    [
      'a body that is no object',
      withCase('expect: { requests: [{ body: hello }] }'),
      ['cases.yaml:2:45: `cases[0].expect.requests[0].body` is "hello"; allowed: an object of dotted paths and values'],
    ],
    [
      'a tool that no connector has',
      withCase('expect: { never: [{ tool: mail_send_mesage }] }'),
      [
        'cases.yaml:2:42: `cases[0].expect.never[0].tool` is "mail_send_mesage", which is not there (did you mean mail_send_message?); allowed: mail_send_message, ',
      ],
    ],
    [
      'a number of times below 0',
      withCase('expect: { requests: [{ operation: execute_tool, times: -1 }] }'),
      ['cases.yaml:2:71: `cases[0].expect.requests[0].times` is -1; allowed: at least 0'],
    ],
    [
      'items of an unknown connector',
      withCase('expect: { items: [{ connector: mial, collection: messages }] }'),
      [
        'cases.yaml:2:47: `cases[0].expect.items[0].connector` is "mial", which is not there (did you mean mail?); allowed: mail, ',
      ],
    ],
    [
      'items of an unknown collection',
      withCase('expect: { items: [{ connector: mail, collection: message }] }'),
      [
        'cases.yaml:2:65: `cases[0].expect.items[0].collection` is "message", which is not there (did you mean messages?); allowed: ',
      ],
    ],
    [
      'an unknown operator',
      withCase('expect: { items: [{ connector: mail, collection: messages, where: { id: { like: x } } }] }'),
      ['cases.yaml:2:90: `cases[0].expect.items[0].where.id.like` is an unknown operator; allowed: eq, not, gt, '],
    ],
    [
      'an unknown state of an account',
      withCase('expect: { accounts: [{ identifier: a, connector: mail, status: ACTIV }] }'),
      ['cases.yaml:2:79: `cases[0].expect.accounts[0].status` is "ACTIV" (did you mean ACTIVE?); allowed: ACTIVE, '],
    ],
  ])('with %s is refused with line, column and what is allowed', async (_title, text, messages) => {
    expect(await problemsOf(text)).toEqual(messages.map((message) => expect.stringContaining(message) as string))
  })

  it('with all that it may have is valid', async () => {
    const text = withCase(
      `seed: bundled, scenario: [rate-limited], extension: organizations, clock: 2026-01-31T12:00:00Z, id_seed: 0, env: { A: 1 },
      expect: { requests: [{ operation: organizations, tool: 'mail_*', status: [200, 4*], body: { a.b: 1 }, times: 0 }],
      never: [{}], items: [{ connector: mail, collection: messages, account: a, where: { id: { gt: 1 } }, times: 2 }],
      accounts: [{ identifier: a, connector: mail, status: EXPIRED }] }`,
    )
    expect(await problemsOf(text)).toEqual([])
  })
})

describe('what a case expects, of a program that creates two accounts', () => {
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
  ])('%j is unmet by %j', (expected, unmet) =>
    withToolmock({}, async ({ app, api }) => {
      for (const identifier of ['ada', 'grace'])
        await api.post('/connected_accounts', { connector: 'mail', identifier })
      const expectations = { requests: [], never: [], items: [], accounts: [], ...expected }
      const reasons = await unmetExpectations(expectations, app.services)
      expect(reasons.map(({ code, sentence }) => `${code} ${/wanted: .*/.exec(sentence)?.[0] ?? sentence}`)).toEqual(
        unmet,
      )
    }),
  )
})
