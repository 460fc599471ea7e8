import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import type { CaseResult } from '../../../src/journal/verdict/report-types.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

/** An agent without a model: it sends a message, and what the variables of its case ask for. */
const AGENT = `
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret, TOOLMOCK_CASE: name } = process.env
  if (process.env.SILENT) process.exit()
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const { access_token } = await (await fetch(url + '/oauth/token', { method: 'POST', body: form })).json()
  const headers = { Authorization: 'Bearer ' + access_token, 'Content-Type': 'application/json' }
  const call = async (method, path, body) =>
    (await fetch(url + '/api/v1' + path, { method, headers, body: body && JSON.stringify(body) })).json()
  const tool = (tool_name, tool_input) =>
    call('POST', '/execute_tool', { connector: 'mail', identifier: 'ada@example.com', tool_name, tool_input })
  const { data } = await tool('mail_send_message', { to: 'grace@example.com', subject: 'Hello', body: 'x' })
  console.log(name, data?.message_id)
  if (process.env.WORK) await eval('(async () => {' + process.env.WORK + '})()')
`

interface CaseText {
  readonly name: string
  readonly work?: string
  readonly more?: string
}

/** The file of cases, in a folder with a seed that has one account. */
function casesFile(folder: string, cases: readonly CaseText[]): string {
  mkdirSync(toolmock.path(folder), { recursive: true })
  writeFileSync(toolmock.path(`${folder}/ada.yaml`), 'accounts: [{ connector: mail, identifier: ada@example.com }]\n')
  const lines = cases.map(({ name, work, more = '' }) => {
    const env = work === undefined ? '' : `, env: { WORK: ${JSON.stringify(work)} }`
    return `  - { name: ${name}, seed: [bundled, ada.yaml]${env}${more === '' ? '' : `, ${more}`} }`
  })
  const file = `${folder}/cases.yaml`
  writeFileSync(toolmock.path(file), `cases:\n${lines.join('\n')}\n`)
  return file
}

const run = (file: string, flags: readonly string[] = [], command = agent()) =>
  toolmock.run(['run', '--cases', file, ...flags, '--', ...command])
const agent = (code = AGENT): string[] => [process.execPath, '--input-type=module', '-e', code]

describe('toolmock run --cases', () => {
  it('fails by each kind of expectation, in text, JUnit and JSON', async () => {
    const file = casesFile('failing', [
      { name: 'sends', more: 'expect: { requests: [{ tool: mail_send_message, status: 200, times: 1 }] }' },
      { name: 'request', more: 'expect: { requests: [{ tool: mail_send_message, body: { tool_input.to: bob } }] }' },
      { name: 'times', more: 'expect: { requests: [{ tool: mail_send_message, times: 2 }] }' },
      { name: 'never', more: 'expect: { never: [{ tool: mail_send_message }] }' },
      {
        name: 'item',
        more: 'expect: { items: [{ connector: mail, collection: messages, where: { subject: Hello }, times: 1 }, { connector: mail, collection: messages, account: ada@example.com, where: { to: bob } }] }',
      },
      {
        name: 'account',
        more: 'expect: { accounts: [{ identifier: ada@example.com, connector: mail, status: EXPIRED }] }',
      },
      { name: 'nobody', more: 'expect: { accounts: [{ identifier: bob, connector: mail, status: ACTIVE }] }' },
      { name: 'command', work: 'process.exit(7)' },
      { name: 'violation', work: "await call('GET', '/connected_accounts?page_size=101')" },
      { name: 'rule', more: 'scenario: token-dies-mid-run' },
    ])
    const [json, xml] = ['failing/report.json', 'failing/report.xml']
    const { code, stderr } = await run(file, ['--report', json, '--report', xml])
    expect(code).toBe(3)
    const lines = [
      /^ {2}violation +request: 0 requests match \{.*"tool_input.to":"bob"\}\}; wanted: at least 1\n +close: POST \/api\/v1\/execute_tool 200 \(req_\w+\): body.tool_input.to is "grace@example.com", not "bob"$/m,
      /^ {2}violation +times: 1 request matches \{"tool":"mail_send_message"\}; wanted: exactly 2$/m,
      /^ {2}violation +never: 1 request matches \{"tool":"mail_send_message"\}; wanted: none$/m,
      /^ {2}violation +item: 0 items of mail\/messages of ada@example.com with \{"to":"bob"\}; wanted: at least 1\n +there is \{/m,
      /^ {2}violation +account: ada@example.com of mail: ca_\w+ is ACTIVE; wanted: EXPIRED$/m,
      /^ {2}violation +nobody: bob of mail: no such account; there is only ada@example.com; wanted: ACTIVE$/m,
      /^ {2}violation +command: the command failed with exit code 7$/m,
      /^ {2}violation +list_connected_accounts: page_size must be .*\n +in the test violation \(failing\/cases.yaml:10\)$/m,
      /^ {2}violation +rule: rule "token expires" of scenario token-dies-mid-run at service never fired: /m,
      /^10 cases: 1 passed, 9 failed$/m,
      /^request: to explain a request: npx toolmock explain req_\w+ --journal \.toolmock\/failed-run\.request\.jsonl$/m,
    ]
    for (const line of lines) expect(stderr).toMatch(line)

    const report = JSON.parse(readFileSync(toolmock.path(json), 'utf8')) as { cases: CaseResult[]; verdict: object }
    const { cases } = report
    expect(cases.map(({ name, reasons }) => [name, ...reasons.map(({ code }) => code)])).toEqual([
      ['sends'],
      ['request', 'request'],
      ['times', 'request'],
      ['never', 'never'],
      ['item', 'item'],
      ['account', 'account'],
      ['nobody', 'account'],
      ['command', 'command'],
      ['violation', 'maximum'],
      ['rule', 'must_fire', 'must_fire'],
    ])
    for (const { code, ...reason } of cases.flatMap(({ reasons }) => reasons)) {
      const keys = ['kind', 'error_code', 'operation', 'field', 'found', 'allowed', 'did_you_mean', 'basis', 'request']
      expect(Object.keys(reason), code).toEqual(expect.arrayContaining(keys))
      if (code !== 'maximum') expect(reason).toMatchObject({ request: null, operation: null })
    }
    expect(report.verdict).toMatchObject({ ok: false })

    const junit = readFileSync(toolmock.path(xml), 'utf8')
    expect(junit).toContain('<testsuite name="cases" tests="10" failures="9" ')
    expect(junit).toMatch(
      /<testcase classname="failing\/cases.yaml" name="sends" file="failing\/cases.yaml" line="2" time="[\d.]+"\/>/,
    )
    expect(junit).toMatch(
      /name="never" file="\S+" line="5" time="[\d.]+"><failure type="contract" message="violation: 1 request matches /,
    )
    const merged = await toolmock.run(['report', 'merge', json])
    expect(merged).toMatchObject({ code: 3, stdout: expect.stringMatching(/ {2}violation +never: 1 request matches /) })
  })

  it('gives each case a mock of its own: equal ids, a frozen clock, and what the case says in place of flags', async () => {
    const work = "console.log(JSON.stringify(await (await fetch(url + '/_mock/clock')).json()))"
    const file = casesFile('own', [
      { name: 'one', work },
      { name: 'two', work },
      { name: 'other', work, more: "id_seed: 2, clock: '2026-02-01T00:00:00Z', extension: extra.yaml" },
      {
        name: 'served',
        work: "await call('GET', '/extra')",
        more: 'extension: extra.yaml, expect: { requests: [{ operation: extra, status: 202 }] }',
      },
      { name: 'given', work: 'console.log(process.env.MORE)' },
    ])
    const text = readFileSync(toolmock.path(file), 'utf8')
    writeFileSync(toolmock.path(file), text.replace('process.env.MORE)" }', 'process.env.MORE)", MORE: 5 }'))
    const responder = '{ name: get, on: { method: GET, path: /api/v1/extra }, respond: { status: 202, body: {} } }'
    writeFileSync(toolmock.path('own/extra.yaml'), `extension: extra\nresponders: [${responder}]\n`)
    const { code, stdout, stderr } = await run(file, ['--id-seed', '1'])
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('5 cases: 5 passed, 0 failed') })
    const [one, clock, two, , other, later, , given] = stdout.split('\n')
    expect(one).toMatch(/^one msg_\w+$/)
    expect(two).toBe(one?.replace('one', 'two'))
    expect(other?.replace('other', 'one')).not.toBe(one)
    expect(JSON.parse(clock ?? '')).toMatchObject({ now: '2026-01-01T00:00:00.000Z', frozen: true })
    expect(JSON.parse(later ?? '')).toMatchObject({ now: '2026-02-01T00:00:00.000Z', frozen: true })
    expect(given?.startsWith('given ')).toBe(true)
    expect(stdout.endsWith('\n5\n')).toBe(true)
  })

  it('runs cases in parallel, each output as a whole, and proves that equal runs are equal', async () => {
    const names = Array.from({ length: 6 }, (_, at) => `case-${at}`)
    const file = casesFile(
      'parallel',
      names.map((name) => ({ name, work: "await tool('mail_list_messages', {})" })),
    )
    const report = 'parallel/report.json'
    const { code, stdout, stderr } = await run(file, ['--parallel', '3', '--repeat', '2', '--report', report])
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('\n6 cases, 2 times each: 6 passed, 0 failed\n'),
    })
    const blocks = stdout.match(/^--- case-\d(?:, run 2)?\ncase-\d msg_\w+$/gm)
    expect(blocks?.length).toBe(12)
    const { cases } = JSON.parse(readFileSync(toolmock.path(report), 'utf8')) as { cases: { transcript: string }[] }
    expect(new Set(cases.map(({ transcript }) => transcript)).size).toBe(1)
  })

  it('fails where a run differs, and shows the first line that does', async () => {
    const file = casesFile('differing', [
      {
        name: 'same',
        work: "await fetch(url + '/_mock/clock', { method: 'PUT', headers, body: '{\"advance\":\"1h\"}' })",
      },
      { name: 'random', work: "await tool('mail_search_messages', { query: 'q' + Math.random() })" },
      {
        name: 'more',
        work: "const { existsSync, writeFileSync } = await import('node:fs'); if (existsSync('differing/ran')) await tool('mail_list_messages', {}); writeFileSync('differing/ran', '')",
      },
    ])
    const { code, stderr } = await run(file, ['--repeat', '3'])
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^ {2}violation +random: run 2 differs from run 1 at request 3, POST \/api\/v1\/execute_tool: request_body\n +run 1: ….*"q0\.\d+"\}\}\n +run 2: ….*"q0\.\d+"\}\}$/m,
    )
    expect(stderr).toMatch(
      /^ {2}violation +more: run 2 differs from run 1 at request 3, POST .*\n +run 1: nothing: it has ended\n +run 2: request 3, POST /m,
    )
    expect(stderr).toContain('\n3 cases, 3 times each: 1 passed, 2 failed\n')
  })

  it('fails a case that makes no request, unless it expects none', async () => {
    const file = casesFile('silent', [{ name: 'a' }, { name: 'b', more: 'expect: { never: [{}] }' }])
    const silent = agent(`process.exit()`)
    expect(await run(file, [], silent)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/failed for 1 reason\n {2}violation {2}a: no operation was called/),
    })
    expect(await run(file, ['--allow-no-requests'], silent)).toMatchObject({ code: 0 })
  })

  it('keeps a journal of each run where one is asked for, and nothing else', async () => {
    const file = casesFile('journals', [{ name: 'a' }, { name: 'b' }])
    expect(await run(file, ['--journal', 'journals/out/run.jsonl', '--repeat', '2'])).toMatchObject({ code: 0 })
    expect(readdirSync(toolmock.path('journals/out')).sort()).toEqual([
      'run.a.2.jsonl',
      'run.a.jsonl',
      'run.b.2.jsonl',
      'run.b.jsonl',
    ])
    const temporary = toolmock.path('journals/temporary')
    mkdirSync(temporary)
    const args = ['run', '--cases', file, '--parallel', '2', '--', ...agent()]
    expect(await toolmock.run(args, { TMPDIR: temporary })).toMatchObject({ code: 0 })
    expect(readdirSync(temporary)).toEqual([])
  })

  it.each([
    [['--parallel', '2', '--', 'true'], '--parallel says how cases are run: give --cases FILE with it. See '],
    [['--repeat', '2', '--', 'true'], '--repeat says how cases are run: give --cases FILE with it. See '],
    [['--cases', 'nowhere.yaml', '--', 'true'], 'nowhere.yaml: there is no such file or folder\n'],
    [['--cases', 'wrong.yaml', '--', 'true'], 'wrong.yaml:1:10: `cases[0].nam` is an unknown key'],
    [
      ['--cases', 'right.yaml', '--parallel', '0', '--', 'true'],
      '--parallel 0: expected a whole number from 1 to 1000',
    ],
  ])('%j is refused with 2 before a command', async (args, message) => {
    writeFileSync(toolmock.path('wrong.yaml'), 'cases: [{nam: a}]')
    writeFileSync(toolmock.path('right.yaml'), 'cases: [{ name: a }]')
    const { code, stdout, stderr } = await toolmock.run(['run', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('ends with 127 and one line when the command does not exist', async () => {
    const file = casesFile('unknown', [{ name: 'a' }, { name: 'b' }])
    const { code, stderr } = await run(file, ['--parallel', '2'], ['no-such-command'])
    expect({ code, stderr }).toEqual({
      code: 127,
      stderr: expect.stringMatching(/^toolmock: no-such-command: no program .*\n$/),
    })
  })
})

/** What has ended is seen at once; this is for a machine under load. */
const WITHIN = { timeout: 60_000 }

describe('the processes of toolmock run --cases', () => {
  const isRunning = (pid: string): boolean => {
    if (!existsSync(`/proc/${pid}/stat`)) return false
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('have ended after %s, with all that they have started', async (signal, expected) => {
    const file = casesFile(signal, [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    const list = toolmock.path(`${signal}/pids`)
    const work = ['sh', '-c', `sleep 1000 & echo $! $$ >> ${list}; wait`]
    const { child, end } = toolmock.begin(['run', '--cases', file, '--parallel', '2', '--', ...work])
    const pids = await vi.waitFor(() => pidsIn(list, 4), WITHIN)
    expect(pids.every(isRunning)).toBe(true)
    child.kill(signal)
    const { code, stderr } = await end
    expect(code).toBe(expected)
    expect(stderr.toString()).toMatch(/^toolmock: .* came before .*\n$/)
    await vi.waitFor(() => expect(pids.some(isRunning)).toBe(false), WITHIN)
    expect(pidsIn(list, 4)).toEqual(pids)
  })

  it('end with a message that names the cases, where a signal ends one before the next begins', async () => {
    const file = casesFile('one-by-one', [{ name: 'a' }, { name: 'b' }])
    const { child, end } = toolmock.begin(['run', '--cases', file, '--', 'sh', '-c', 'echo ready; exec sleep 1000'])
    expect(String(await once(child.stdout!, 'data'))).toBe('ready\n')
    child.kill('SIGINT')
    const { code, stderr } = await end
    expect([code, stderr.toString()]).toEqual([130, 'toolmock: a signal came before all cases had ended\n'])
  })

  it('that ignore a first signal are killed by a second', async () => {
    const file = casesFile('stubborn', [{ name: 'a' }])
    const work = "trap 'echo no' TERM; echo ready; while :; do sleep 1; done"
    const { child, end } = toolmock.begin(['run', '--cases', file, '--', 'sh', '-c', work])
    for (const said of ['ready\n', 'no\n']) {
      expect(String(await once(child.stdout!, 'data'))).toBe(said)
      child.kill('SIGTERM')
    }
    expect((await end).code).toBe(143)
  })

  it('that a command leaves behind end with its case', async () => {
    const file = casesFile('left', [{ name: 'a' }])
    const pids = toolmock.path('left/pids')
    const { code } = await run(file, ['--allow-no-requests'], ['sh', '-c', `sleep 1000 & echo pids $! >> ${pids}`])
    expect(code).toBe(0)
    await vi.waitFor(() => expect(pidsIn(pids, 1).some(isRunning)).toBe(false), WITHIN)
  })
})

/** @throws while there are not so many */
function pidsIn(file: string, count: number): string[] {
  const pids = existsSync(file) ? (readFileSync(file, 'utf8').match(/\d+(?=\s)/g) ?? []) : []
  if (pids.length < count) throw new Error(`there are ${pids.length} of ${count} processes`)
  return pids
}
