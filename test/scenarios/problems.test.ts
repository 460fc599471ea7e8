import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadScenarios, loadSeeds } from '../../src/files/load.ts'
import { parseScenario } from '../../src/files/scenario-files.ts'
import { connectorsIn } from '../../src/files/seed-checks.ts'
import { messagesOf } from '../files/files.ts'
import { expectProblems, goldenCases } from '../files/golden.ts'

const connectors = connectorsIn(await loadSeeds(['bundled'], DOCUMENT_CHECKS))

function problems(text: string): Promise<string[]> {
  return messagesOf(parseScenario({ file: 's.yaml', text }, DOCUMENT_CHECKS, connectors))
}

/** The problems of a rule, without file, line and column. */
async function ofRule(rule: string, head = ''): Promise<string[]> {
  const found = await problems(`name: s\n${head === '' ? '' : `${head}\n`}rules:\n  - { name: r, ${rule} }\n`)
  return found.map((message) => message.replace(/^s\.yaml:\d+:\d+: /, '').replace(/^`rules\[0\]\./, '`'))
}

it('a scenario file is refused: with line, column, what was found and what is allowed', async () => {
  const text =
    'name: s\nrules:\n  - name: r\n    at: service\n    on: { operation: execute_tols }\n    do: [{ latency: 5 }]\n'
  const [problem = '', ...others] = await problems(text)
  expect(others).toEqual([])
  expect(problem).toMatch(
    /^s\.yaml:5:22: `rules\[0\]\.on\.operation` is "execute_tols" \(did you mean execute_tool\?\); allowed: create_token, /,
  )
})

it.each([
  ['tool: mail_send_mesage', 's.yaml:5:17: `rules[0].on.tool` is "mail_send_mesage" (did you mean mail_send_message?)'],
  ['connector: maill', 's.yaml:5:22: `rules[0].on.connector` is "maill" (did you mean mail?)'],
])('a scenario file is refused: with the place of the unknown %s', async (on, expected) => {
  const [problem = '', ...others] = await problems(
    `name: s\nrules:\n  - name: r\n    at: service\n    on: { ${on} }\n    do: [{ timeout: {} }]\n`,
  )
  expect([problem.slice(0, expected.length), others]).toEqual([expected, []])
})

it('a scenario file is refused: with all problems at once, in the order of the file', async () => {
  const text =
    'name: s\nnmae: t\nrules:\n  - { name: r, at: servce, do: [{ latnecy: 5 }] }\n  - { name: r, at: service, do: [] }\n'
  const places = (await problems(text)).map((message) => /^s\.yaml:(\d+:\d+)/.exec(message)?.[1])
  expect(places).toEqual(['2:1', '4:20', '4:35', '5:13', '5:33'])
})

it.each(goldenCases('scenario'))('a scenario file is refused: for %s', async (_name, text, expected) => {
  expectProblems(await problems(text), expected)
})

it('a scenario file is refused: for a state that no rule leads to', async () => {
  expect(await ofRule('at: service, when: { state: gone }, do: [{ timeout: {} }]', 'initial: here')).toEqual([
    '`when.state` is "gone"; allowed: a state that initial or then names (here)',
  ])
})

it('a scenario file is refused: for a file of another kind', async () => {
  expect(await problems('clients: []')).not.toEqual([])
  expect(await problems('connector: mail')).toEqual([
    expect.stringContaining('the document is a connector; allowed: a scenario'),
  ])
})

it.each([
  ['with an undeclared status of off_spec: true', 'at: service, off_spec: true, do: [{ respond: { status: 418 } }]'],
  ['with a glob for connectors that come later', 'at: service, on: { connector: "acme*" }, do: [{ timeout: {} }]'],
  ['with a fault that has nothing after its colon', 'at: service, do: [{ timeout: }]'],
  [
    'with __proto__ as a path into the body',
    'at: service, on: { body: { __proto__: 1, constructor: a } }, do: [{ timeout: {} }]',
  ],
  [
    'a literal that looks like a regular expression',
    'at: service, on: { client: { equals: "^ci*" }, body: { to: { equals: "/a/i" } } }, do: [{ timeout: {} }]',
  ],
  [
    'patterns',
    'at: service, on: { tool: { matches: "^mail_" }, query: { q: { matches: "[a-z]+" } } }, do: [{ timeout: {} }]',
  ],
])('a scenario file is accepted: %s', async (_name, rule) => {
  expect(await ofRule(rule)).toEqual([])
})

const loadedText = async (text: string) =>
  (await parseScenario({ file: 's.yaml', text }, DOCUMENT_CHECKS, connectors)).rules

const context = { checks: DOCUMENT_CHECKS, connectors }

it('--scenario lists the bundled scenarios when a name is unknown', async () => {
  await expect(loadScenarios(['rate-limted'], context)).rejects.toThrow(
    /no bundled scenario "rate-limted" \(did you mean rate-limited\?\); there are account-already-exists, .*path of a file/,
  )
})

it.each([
  [
    'rate-limited?tool=mail_send_message',
    'the parameter tool is unknown; allowed: none, because no rule names a tool or',
  ],
  ['token-dies-mid-run?user=ada', 'the parameter user is unknown; allowed: tool, connector, identifier'],
  ['token-dies-mid-run?tool=', '`rules[0].on.tool` is'],
  ['token-dies-mid-run?tool=helpdesk_find', '`rules[0].on.tool` is "helpdesk_find"'],
  ['token-dies-mid-run?tool=files_search&connector=mail', '`rules[0].on.tool` is "files_search"'],
  ['token-dies-mid-runs?tool=a', 'no bundled scenario "token-dies-mid-runs" (did you mean token-dies-mid-run?)'],
])('--scenario refuses %s', async (name, message) => {
  await expect(loadScenarios([name], context)).rejects.toThrow(message)
})

it('--scenario reports that a file is missing', async () => {
  await expect(loadScenarios(['./nowhere.yaml'], context)).rejects.toThrow('./nowhere.yaml: there is no such file')
})

it.each([
  ['?identifier=*', { tool: 'mail_send_message', account: { connector: 'mail', identifier: '*' } }],
  ['?tool=mail_*', { tool: 'mail_*', account: { identifier: 'ada@example.com' } }],
  ['?tool=*&connector=crm&identifier=a+b%40c&x', 'the parameter x'],
  [
    '?tool=*&connector=crm&identifier=a+b%2C%40c=d/e',
    { tool: '*', account: { connector: 'crm', identifier: 'a+b,@c=d/e' } },
  ],
])('--scenario takes token-dies-mid-run%s for other requests', async (parameters, on) => {
  const loading = loadScenarios([`token-dies-mid-run${parameters}`], context)
  if (typeof on === 'string') return expect(loading).rejects.toThrow(on)
  const [scenario] = await loading
  expect(scenario).toMatchObject({
    name: 'token-dies-mid-run',
    rules: [{ on: { operation: 'execute_tool', ...on } }, {}],
  })
  expect(scenario?.rules[0]?.on.account).toEqual(on.account)
  // What is shown and edited says what runs.
  expect(await loadedText(scenario?.text ?? '')).toEqual(scenario?.rules)
})

it('--scenario refuses the same scenario twice', async () => {
  await expect(loadScenarios(['rate-limited', 'rate-limited'], context)).rejects.toThrow('given for the second time')
})

const END = 'do: [{ timeout: {} }]'
const second = (first: string, later: string) =>
  problems(`name: s\ninitial: a\nrules:\n  - { name: first, ${first} }\n  - { name: later, ${later} }\n`)

it.each([
  ['the same requests', `at: service, ${END}`, `at: service, ${END}`],
  [
    'some of its requests',
    `at: service, ${END}`,
    `at: service, on: { operation: verify_user }, when: { nth: 2 }, ${END}`,
  ],
  ['the same state', `at: service, when: { state: a }, ${END}`, `at: service, when: { state: a, first: 1 }, ${END}`],
])('a rule after one that ends requests is refused where it can never fire: %s', async (_, first, later) => {
  expect(await second(first, later)).toEqual([
    's.yaml:5:5: `rules[1]` is one that can never fire, because the rule "first" before it ends every request that it matches; allowed: a rule that matches other requests, or a when of the earlier rule',
  ])
})

it.each([
  ['at another place', `at: service, ${END}`, `at: third_party, ${END}`],
  ['of other requests', `at: service, on: { operation: verify_user }, ${END}`, `at: service, ${END}`],
  ['of requests that the first one leaves', `at: service, when: { first: 1 }, ${END}`, `at: service, ${END}`],
  ['of another state', `at: service, when: { state: a }, then: a, ${END}`, `at: service, ${END}`],
  ['that ends no request', `at: service, ${END}`, 'at: service, do: [{ latency: 5 }]'],
  ['after one that ends none', 'at: service, do: [{ latency: 5 }]', `at: service, ${END}`],
])('a rule after one that ends requests is taken %s', async (_, first, later) => {
  expect(await second(first, later)).toEqual([])
})
