import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadScenarios, loadSeeds } from '../../src/files/load.ts'
import { parseScenario } from '../../src/files/scenario-files.ts'
import { connectorsIn } from '../../src/files/seed-checks.ts'
import { messagesOf } from '../files/files.ts'

const connectors = connectorsIn(await loadSeeds(['bundled'], DOCUMENT_CHECKS))

function problems(text: string): Promise<string[]> {
  return messagesOf(parseScenario({ file: 's.yaml', text }, DOCUMENT_CHECKS, connectors))
}

/** The problems of a rule, without file, line and column. */
async function ofRule(rule: string, head = ''): Promise<string[]> {
  const found = await problems(`name: s\n${head === '' ? '' : `${head}\n`}rules:\n  - { name: r, ${rule} }\n`)
  return found.map((message) => message.replace(/^s\.yaml:\d+:\d+: /, '').replace(/^`rules\[0\]\./, '`'))
}

describe('a scenario file is refused', () => {
  it('with line, column, what was found and what is allowed', async () => {
    const text =
      'name: s\nrules:\n  - name: r\n    at: service\n    on: { operation: execute_tols }\n    do: [{ latency: 5 }]\n'
    const [problem = '', ...others] = await problems(text)
    expect(others).toEqual([])
    expect(problem).toMatch(
      /^s\.yaml:5:22: `rules\[0\]\.on\.operation` is "execute_tols" \(did you mean execute_tool\?\); allowed: create_token, /,
    )
  })

  it.each([
    [
      'tool: mail_send_mesage',
      's.yaml:5:17: `rules[0].on.tool` is "mail_send_mesage" (did you mean mail_send_message?)',
    ],
    ['connector: maill', 's.yaml:5:22: `rules[0].on.connector` is "maill" (did you mean mail?)'],
  ])('with the place of the unknown %s', async (on, expected) => {
    const [problem = '', ...others] = await problems(
      `name: s\nrules:\n  - name: r\n    at: service\n    on: { ${on} }\n    do: [{ timeout: {} }]\n`,
    )
    expect([problem.slice(0, expected.length), others]).toEqual([expected, []])
  })

  it('with all problems at once, in the order of the file', async () => {
    const text =
      'name: s\nnmae: t\nrules:\n  - { name: r, at: servce, do: [{ latnecy: 5 }] }\n  - { name: r, at: service, do: [] }\n'
    const places = (await problems(text)).map((message) => /^s\.yaml:(\d+:\d+)/.exec(message)?.[1])
    expect(places).toEqual(['2:1', '4:20', '4:35', '5:13', '5:33'])
  })

  it.each([
    [
      'an unknown key',
      'at: service, whne: {}, do: [{ timeout: {} }]',
      /^`whne` is an unknown key \(did you mean when\?\); allowed: name, at, on/,
    ],
    [
      'an unknown field',
      'at: service, on: { operaton: x }, do: [{ timeout: {} }]',
      /^`on\.operaton` is an unknown key \(did you mean operation\?\); allowed: operation, mcp, tool/,
    ],
    [
      'an unknown fault',
      'at: service, do: [{ explode: {} }]',
      /^`do\[0\]\.explode` is an unknown key; allowed: respond, latency/,
    ],
    [
      'a tool of an operation that executes none',
      'at: service, on: { operation: verify_user, tool: mail_send_message }, do: [{ timeout: {} }]',
      /^`on\.tool` is set together with the operation verify_user, which executes no tool; allowed: the operation execute_tool, or none$/,
    ],
    [
      'a path without a slash',
      'at: third_party, on: { path: v1/messages }, do: [{ timeout: {} }]',
      /^`on\.path` is "v1\/messages"; allowed: a path that begins with \/ or \*, without a query$/,
    ],
    [
      'a path with a query',
      'at: third_party, on: { path: "/v1/messages?q=1" }, do: [{ timeout: {} }]',
      /^`on\.path` is "\/v1\/messages\?q=1"; allowed: a path that begins with/,
    ],
    [
      'two connectors of one account',
      'at: service, on: { connector: mail, account: { connector: calendar } }, do: [{ timeout: {} }]',
      /^`on\.account\.connector` is "calendar"; allowed: mail, the connector of on, or none$/,
    ],
    [
      'no chance at all',
      'at: service, when: { probability: 0 }, do: [{ timeout: {} }]',
      /^`when\.probability` is 0; allowed: /,
    ],
    [
      'an unknown place',
      'at: servce, do: [{ timeout: {} }]',
      /^`at` is "servce" \(did you mean service\?\); allowed: service, third_party, token_refresh, consent, webhook$/,
    ],
    [
      'an unknown connector',
      'at: service, on: { connector: maill }, do: [{ timeout: {} }]',
      /^`on\.connector` is "maill" \(did you mean mail\?\); allowed: mail, /,
    ],
    [
      'an unknown connector of the account',
      'at: service, on: { account: { connector: maill } }, do: [{ timeout: {} }]',
      /^`on\.account\.connector` is "maill"/,
    ],
    ['an unknown tool', 'at: service, on: { tool: mail_send }, do: [{ timeout: {} }]', /^`on\.tool` is "mail_send"/],
    [
      'a tool of another connector',
      'at: service, on: { tool: mail_send_message, connector: weather }, do: [{ timeout: {} }]',
      /^`on\.tool` is "mail_send_message".*allowed: weather_get_current, weather_get_forecast, weather_/,
    ],
    [
      'a field of another place',
      'at: consent, on: { operation: execute_tool }, do: [{ latency: 1 }]',
      /^`on\.operation` is unknown at consent; allowed: connector, account$/,
    ],
    [
      'a regular expression',
      'at: service, on: { client: "/ci-.*/i" }, do: [{ timeout: {} }]',
      /^`on\.client` is the regular expression "\/ci-\.\*\/i"; allowed: a value, a glob/,
    ],
    [
      'an anchored regular expression',
      'at: service, on: { body: { to: "^ada" } }, do: [{ timeout: {} }]',
      /^`on\.body\.to` is the regular expression "\^ada"/,
    ],
    [
      'a regular expression as an object',
      'at: service, on: { body: { to: { regex: ada } } }, do: [{ timeout: {} }]',
      /^`on\.body\.to\.regex` is a regular expression; allowed: a value, a glob/,
    ],
    [
      'a pattern that does not run in linear time',
      'at: service, on: { client: { matches: "^(?=ci)" } }, do: [{ timeout: {} }]',
      /^`on\.client\.matches` is "\^\(\?=ci\)"; allowed: a regular expression with no look-ahead/,
    ],
    [
      'a pattern that is none',
      'at: service, on: { body: { to: { matches: "(" } } }, do: [{ timeout: {} }]',
      /^`on\.body\.to\.matches` is "\("; allowed: a regular expression/,
    ],
    [
      'a pattern that is no text',
      'at: service, on: { headers: { x-run: { matches: 7 } } }, do: [{ timeout: {} }]',
      /^`on\.headers\.x-run\.matches` is 7; allowed: a regular expression/,
    ],
    [
      'a pattern in place of the whole body',
      'at: service, on: { body: { matches: a } }, do: [{ timeout: {} }]',
      /^`on\.body\.matches` is a regular expression; allowed: a value, a glob/,
    ],
    [
      'a matcher that is none',
      'at: service, on: { tool: { equal: mail_send_message } }, do: [{ timeout: {} }]',
      /^`on\.tool` is .*; allowed: .*\{ equals: TEXT \} or \{ matches: PATTERN \}/,
    ],
    [
      'a regular expression as a path',
      'at: third_party, on: { path: "/v1/(a|b)" }, do: [{ timeout: {} }]',
      /^`on\.path` is the regular expression/,
    ],
    [
      'an undeclared status',
      'at: service, on: { operation: list_connections }, do: [{ respond: { status: 409 } }]',
      /^`do\[0\]\.respond\.status` is 409; allowed: a status that the contract declares for list_connections: 200, 400, 401, 429, 500, 503, 504; anything with off_spec: true$/,
    ],
    [
      'a status that not every operation declares',
      'at: service, do: [{ respond: { status: 404 } }]',
      /^`do\[0\]\.respond\.status` is 404; .*every operation \(the rule names none\): 400, 401, 429/,
    ],
    [
      'an error code of another status',
      'at: service, do: [{ respond: { status: 401, error_code: ACCOUNT_NOT_FOUND } }]',
      /`do\[0\]\.respond\.error_code` is "ACCOUNT_NOT_FOUND"; allowed: one of the spec's for 401: UNAUTHENTICATED/,
    ],
    [
      'a success without a body',
      'at: service, on: { operation: list_connections }, do: [{ respond: { status: 200 } }]',
      /`do\[0\]\.respond\.body` is required; allowed: a body, because 200 is no error/,
    ],
    [
      'an error code at the third party',
      'at: third_party, do: [{ respond: { status: 500, error_code: INTERNAL } }]',
      /`do\[0\]\.respond\.error_code` is set at third_party; allowed: error_code at service/,
    ],
    [
      'no status',
      'at: third_party, do: [{ respond: { body: {} } }]',
      /`do\[0\]\.respond\.status` is required; allowed: a status/,
    ],
    [
      'a consent that answers no OAuth error',
      'at: consent, do: [{ respond: { body: {} } }]',
      /`do\[0\]\.respond\.body\.error` is required; allowed: an OAuth error such as access_denied/,
    ],
    [
      'a broken body of a consent',
      'at: consent, do: [{ truncate_body: {} }]',
      /`do\[0\]\.truncate_body` is set at consent; allowed: respond with an OAuth error/,
    ],
    [
      'a wait that is too long',
      'at: service, do: [{ latency: 11m }]',
      /^`do\[0\]\.latency` is "11m"; allowed: milliseconds as a number, or a duration[^,]*, of at most 10m, or an object$/,
    ],
    [
      'a barrier that waits too long',
      'at: service, do: [{ hold_until: { requests: 2, within: 2h } }]',
      /^`do\[0\]\.hold_until\.within` is "2h"; allowed: milliseconds as a number, or a duration[^,]*, of at most 1m$/,
    ],
    [
      'a barrier that does not wait',
      'at: service, do: [{ hold_until: { requests: 2, within: 0 } }]',
      /^`do\[0\]\.hold_until\.within` is 0; allowed: at least 1 ms$/,
    ],
    [
      'two counters',
      'at: service, when: { nth: 1, every: 2 }, do: [{ timeout: {} }]',
      /^`when\.every` is set together with nth; allowed: one of nth, first, every, after$/,
    ],
    [
      'per without a count',
      'at: service, when: { per: account }, do: [{ timeout: {} }]',
      /^`when\.per` is set without a count; allowed: per together with one of nth, first, every, after$/,
    ],
    [
      'scopes of no consent',
      'at: service, do: [{ grant_scopes: [a] }]',
      /grant_scopes` is set at service; allowed: grant_scopes at consent$/,
    ],
    [
      'times without after',
      'at: service, when: { times: 2 }, do: [{ timeout: {} }]',
      /^`when\.times` is set without after; allowed: times together with after/,
    ],
    [
      'a window that is never open',
      'at: service, when: { from: 2h, until: 1h }, do: [{ timeout: {} }]',
      /^`when\.until` is "1h"; allowed: a time after from, which is 7200 s/,
    ],
    [
      'an impossible probability',
      'at: service, when: { probability: 2 }, do: [{ timeout: {} }]',
      /^`when\.probability` is 2; allowed: at most 1$/,
    ],
    ['no fault', 'at: service', /^`do` is empty; allowed: at least one fault/],
    [
      'two faults in one item',
      'at: service, do: [{ latency: 1, timeout: {} }]',
      /^`do\[0\]` is latency and timeout; allowed: one fault in each item of do$/,
    ],
    [
      'two ends',
      'at: service, do: [{ timeout: {} }, { respond: { status: 500 } }]',
      /`do\[1\]\.respond` is set together with timeout; allowed: at most one of respond, /,
    ],
    [
      'a broken body of no answer',
      'at: service, do: [{ timeout: {} }, { slow_body: {} }]',
      /`do\[1\]\.slow_body` is set together with timeout/,
    ],
    [
      'a count that is a word',
      'at: service, when: { nth: two }, do: [{ timeout: {} }]',
      /^`when\.nth` is "two"; allowed: a whole number of at least 1$/,
    ],
    [
      'a status that is a word',
      'at: service, do: [{ respond: { status: high } }]',
      /respond\.status` is "high"; allowed: a whole number from 100 to 599$/,
    ],
    [
      'a latency of more than ten minutes',
      'at: service, do: [{ latency: { ms: 600001 } }]',
      /^`do\[0\]\.latency\.ms` is 600001; allowed: milliseconds as a number, or a duration/,
    ],
    [
      'a latency without its shortest time',
      'at: service, do: [{ latency: { max: 2 } }]',
      /^`do\[0\]\.latency\.min` is required; allowed: milliseconds as a number, or a duration/,
    ],
    [
      'a latency from more to less',
      'at: service, do: [{ latency: { min: 9, max: 3 } }]',
      /`do\[0\]\.latency\.max` is 3; allowed: at least min, which is 9/,
    ],
    [
      'a state without one to start in',
      'at: service, then: done',
      /^`initial` is required; allowed: the state to start in/,
    ],
    [
      'a header over two lines',
      'at: third_party, do: [{ respond: { status: 200, headers: { X-A: "b\\r\\nc: d" } } }]',
      /`do\[0\]\.respond\.headers\.X-A` is "b\\r\\nc: d"; allowed: /,
    ],
  ])('for %s', async (_name, rule, message) => {
    expect(await ofRule(rule)).toEqual([expect.stringMatching(message)])
  })

  it('for a state that no rule leads to', async () => {
    expect(await ofRule('at: service, when: { state: gone }, do: [{ timeout: {} }]', 'initial: here')).toEqual([
      '`when.state` is "gone"; allowed: a state that initial or then names (here)',
    ])
  })

  it('for a file of another kind', async () => {
    expect(await problems('clients: []')).not.toEqual([])
    expect(await problems('connector: mail')).toEqual([
      expect.stringContaining('the document is a connector; allowed: a scenario'),
    ])
  })
})

describe('a scenario file is accepted', () => {
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
  ])('%s', async (_name, rule) => {
    expect(await ofRule(rule)).toEqual([])
  })
})

const loadedText = async (text: string) =>
  (await parseScenario({ file: 's.yaml', text }, DOCUMENT_CHECKS, connectors)).rules

describe('--scenario', () => {
  const context = { checks: DOCUMENT_CHECKS, connectors }

  it('lists the bundled scenarios when a name is unknown', async () => {
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
  ])('refuses %s', async (name, message) => {
    await expect(loadScenarios([name], context)).rejects.toThrow(message)
  })

  it('reports that a file is missing', async () => {
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
  ])('takes token-dies-mid-run%s for other requests', async (parameters, on) => {
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

  it('refuses the same scenario twice', async () => {
    await expect(loadScenarios(['rate-limited', 'rate-limited'], context)).rejects.toThrow('given for the second time')
  })
})

describe('a rule after one that ends requests', () => {
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
  ])('is refused where it can never fire: %s', async (_, first, later) => {
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
  ])('is taken %s', async (_, first, later) => {
    expect(await second(first, later)).toEqual([])
  })
})
