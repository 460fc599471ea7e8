import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { byKind } from '../../journal/verdict/reports.ts'
import { contractReportSchema, coverageReportSchema } from '../../journal/verdict/report-schemas.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()
const FIXTURES = join(ROOT, 'test/fixtures')

/** A program that calls the mock: `call(method, path, body)` with a bearer token, `raw(path)` without. */
function program(work: string): string[] {
  const client = `
    const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
    const raw = (path, init) => fetch(url + path, init)
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const { access_token } = await (await raw('/oauth/token', { method: 'POST', body: form })).json()
    const headers = { Authorization: 'Bearer ' + access_token, 'Content-Type': 'application/json' }
    const call = (method, path, body) => raw('/api/v1' + path, { method, headers, body: body && JSON.stringify(body) })
    ${work}`
  return ['--', process.execPath, '--input-type=module', '-e', client]
}
const REFUSED = `
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id } = process.env
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: 'wrong' })
  fetch(url + '/oauth/token', { method: 'POST', body: form })
    .then(() => fetch(url + '/api/v1/connections', { headers: { Authorization: 'Bearer stale' } }))`
const CLEAN = "await call('GET', '/connections')"
const VIOLATION = "await call('GET', '/connected_accounts?page_size=101')"
const UNKNOWN_PATH = "await raw('/api/v1/conections')"
const WARNING = "await call('GET', '/connected_accounts?colour=red')"
const run = (args: readonly string[], variables = {}) => toolmock.run(['run', ...args], variables)

describe('the verdict of toolmock run', () => {
  it.each([
    ['a client that keeps the contract', [], CLEAN, 0, /^\ntoolmock: the contract was kept\n2 requests\n/],
    [
      'warnings only',
      [],
      WARNING,
      0,
      /the contract was kept\nwarnings, which do not fail the verdict:\n {2}warning {4}.*colour/,
    ],
    [
      'a violation',
      [],
      VIOLATION,
      3,
      /failed for 1 reason\n {2}violation {2}list_connected_accounts: page_size must be/,
    ],
    ['an unknown path', [], UNKNOWN_PATH, 3, /violation {2}GET \/api\/v1\/conections is not served: did you mean/],
    ['a rule that never fired', ['--scenario', 'token-dies-mid-run'], CLEAN, 3, /violation {2}rule "token expires"/],
    ['too few operations', ['--min-operations', '3'], CLEAN, 3, /2 of 20 operations were driven; the minimum is 3/],
    ['too few of a hundred', ['--min-operations', '11%'], CLEAN, 3, /2 of 20 operations .* the minimum is 11% \(3\)/],
    ['too few statuses', ['--min-statuses', '3'], CLEAN, 3, /2 of \d+ statuses were driven; the minimum is 3/],
    ['enough of both', ['--min-operations', '10%', '--min-statuses', '2'], CLEAN, 0, /the contract was kept/],
    [
      'an allowed violation',
      [
        '--allow-violation',
        'list_connected_accounts:page_size',
        '--allow-violation',
        'unknown_path:/api/v1/conections',
      ],
      `${VIOLATION}; ${UNKNOWN_PATH}`,
      0,
      /the contract was kept\nallowed by --allow-violation:\n {2}violation .* page_size must be .*\n.*\n {2}violation {2}GET \/api\/v1\/conections /,
    ],
    ['a command that fails', [], 'process.exit(7)', 7, /^\ntoolmock: the command failed with exit code 7, which/],
    [
      'one that fails and breaks it',
      [],
      `${VIOLATION}; process.exit(1)`,
      1,
      /exit code 1, .*\n.*failed for 1 reason\n/,
    ],
    [
      'a signal',
      [],
      "process.kill(process.pid, 'SIGKILL')",
      137,
      /^\ntoolmock: the command was ended by SIGKILL, which/,
    ],
    [
      'a command that calls nothing',
      ['--', 'true'],
      '',
      3,
      /failed for 1 reason\n {2}violation {2}no operation was called, so nothing was judged: let the program use TOOLMOCK_URL.*--allow-no-requests/,
    ],
    [
      'a command whose credentials are all refused',
      ['--', process.execPath, '-e', REFUSED],
      '',
      3,
      /failed for 1 reason\n {2}violation {2}nothing was judged: 2 requests, both 401 \(the client's secret is wrong, the bearer token is unknown\)/,
    ],
    [
      'a command whose credentials are all refused, as they may',
      ['--allow-no-requests', '--', process.execPath, '-e', REFUSED],
      '',
      0,
      /^\ntoolmock: there is nothing to check\n2 requests\n/,
    ],
    [
      'a command that calls nothing, as it may',
      ['--allow-no-requests', '--', 'true'],
      '',
      0,
      /^\ntoolmock: there is nothing to check\nno operation was called\n/,
    ],
  ])('%s', async (_title, flags, work, code, said) => {
    const ended = await run(flags.includes('--') ? flags : [...flags, ...program(work)])
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(said) })
    expect(ended.stderr.includes('\nexit code 3: the command passed, the verdict did not\n')).toBe(code === 3)
  })

  it('is complete where stderr is no terminal, and ends with the command that explains a request', async () => {
    const work = "for (let nth = 0; nth < 50; nth++) await raw('/nowhere/' + nth)"
    const { code, stderr } = await run(program(work))
    expect(code).toBe(3)
    expect(
      stderr.match(
        /^ {2}violation {2}GET \/nowhere\/\d+ is not served \(choice:G8\)\n {13}GET \S+ at \S+ \(req_\w+\)$/gm,
      ),
    ).toHaveLength(50)
    const [, id = '', journal = ''] =
      /\nto explain a request: npx toolmock explain (\S+) --journal (\S+)\n$/.exec(stderr) ?? []
    const explained = await toolmock.run(['explain', id, '--journal', journal])
    expect(explained).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^GET \/nowhere\/0 was answered with 404/),
    })
    const asJson = await toolmock.run(['explain', id, '--journal', journal, '--json'])
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      id,
      findings: [{ kind: 'violation', error_code: 'PATH_NOT_FOUND' }],
    })
    expect(journal).toBe('.toolmock/failed-run.jsonl')
  })

  it('leaves nothing in the temporary directory when it fails, nor where its journal cannot stay', async () => {
    const [work, temporary] = [toolmock.path('failing'), toolmock.path('temporary-of-failing')]
    for (const folder of [work, temporary]) mkdirSync(folder)
    const fail = async () => {
      const args = ['run', ...program("await raw('/nowhere')")]
      const { code, stderr } = await toolmock.begin(args, { cwd: work, variables: { TMPDIR: temporary } }).end
      expect(code).toBe(3)
      return stderr.toString()
    }
    expect(await fail()).toContain(' --journal .toolmock/failed-run.jsonl\n')
    expect(await fail()).toContain(' --journal .toolmock/failed-run.jsonl\n')
    expect([readdirSync(work), readdirSync(join(work, '.toolmock'))]).toEqual([['.toolmock'], ['failed-run.jsonl']])
    rmSync(join(work, '.toolmock'), { recursive: true })
    writeFileSync(join(work, '.toolmock'), '')
    expect(await fail()).not.toContain('--journal')
    expect(readdirSync(temporary)).toEqual([])
  })

  it('removes its temporary journal after a passing run, and keeps the file of --journal', async () => {
    const temporary = toolmock.path('journals')
    mkdirSync(temporary)
    expect((await run(program(CLEAN), { TMPDIR: temporary })).stderr).not.toContain('toolmock explain')
    expect(readdirSync(temporary)).toEqual([])
    const journal = toolmock.path('kept.jsonl')
    const { stderr } = await run(['--journal', journal, ...program(CLEAN)], { TMPDIR: temporary })
    expect(stderr).toMatch(/\nthe requests are in \S+kept\.jsonl\n$/)
    expect(readdirSync(temporary)).toEqual([])
    const unknown = await toolmock.run(['explain', 'req_nothing', '--journal', journal])
    expect(unknown).toEqual({
      code: 1,
      stdout: '',
      stderr: `toolmock: the journal ${journal} has no request "req_nothing" among its 2 entries; ids are those of X-Request-Id\n`,
    })
    writeFileSync(journal, '{"id":7}\n', { flag: 'a' })
    const broken = await toolmock.run(['explain', 'req_nothing', '--journal', journal])
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringMatching(/kept\.jsonl:3: expected an entry/) })
    const missing = await toolmock.run(['explain', 'x', '--journal', toolmock.path('no.jsonl')])
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/no\.jsonl cannot be read \(ENOENT\)/) })
  })

  it('annotates the test files on GitHub, and writes each report that is requested', async () => {
    const files = ['a.json', 'b.txt', 'c.xml', 'd.sarif', 'e.html', 'gl-code-quality-report.json'].map((name) =>
      toolmock.path(`reports/${name}`),
    )
    const reports = files.flatMap((file) => ['--report', file])
    const { code, stderr } = await run([...reports, ...program(VIOLATION)], { GITHUB_ACTIONS: 'true', CI: 'true' })
    expect(code).toBe(3)
    expect(stderr).toMatch(/^::error title=toolmock%3A contract-violation::list_connected_accounts: page_size /)
    const [json = '', text = '', junit = '', sarif = '', page = '', gitlab = ''] = files.map((file) =>
      readFileSync(file, 'utf8'),
    )
    expect(JSON.parse(json)).toMatchObject({ verdict: { ok: false, reasons: [{ kind: 'violation' }] } })
    expect(text).toMatch(/^toolmock: the verdict failed for 1 reason\n/)
    expect(junit).toContain('<testsuites name="toolmock"')
    expect(JSON.parse(sarif)).toMatchObject({ version: '2.1.0' })
    expect(page).toContain(' · toolmock</title>')
    expect(JSON.parse(gitlab)).toMatchObject([{ check_name: 'toolmock/contract-violation' }])
  })

  it.each([
    [[], 'run needs a command after --, as in npx toolmock run -- npm test.'],
    [['--'], 'run needs a command after --, as in npx toolmock run -- npm test.'],
    [['--', ''], 'run needs a command after --, as in npx toolmock run -- npm test.'],
    [['npm', '--version'], 'run takes its command after --: npx toolmock run -- npm --version.'],
    [['npm', 'test'], 'run takes its command after --: npx toolmock run -- npm test.'],
    [
      ['--tls', '--min-operations', '3', 'node', '-e', 'x', '--', '--report'],
      'run takes its command after --: npx toolmock run --tls --min-operations 3 -- node -e x -- --report.',
    ],
    [['--no-such', 'x', '--', 'true'], '--no-such is not known.'],
    [
      ['--min-operations', 'most', '--', 'true'],
      '--min-operations most: expected a whole number from 0 to 20, or a percentage from 0% to 100%.',
    ],
    [
      ['--min-operations', '28', '--', 'true'],
      '--min-operations 28: expected a whole number from 0 to 20, or a percentage from 0% to 100%.',
    ],
    [
      ['--mcp', '--min-operations', '35', '--', 'true'],
      '--min-operations 35: expected a whole number from 0 to 34, or a percentage from 0% to 100%.',
    ],
    [
      ['--documented-only', '--min-operations', '16', '--', 'true'],
      '--min-operations 16: expected a whole number from 0 to 15, or a percentage from 0% to 100%.',
    ],
    [['--min-statuses', '101%', '--', 'true'], '--min-statuses 101%: expected a whole number from 0 to 84, or'],
    [['--allow-violation', 'exectue_tool', '--', 'true'], 'did you mean execute_tool? Allowed are create_token, '],
    [
      ['--allow-violation', 'verify_user:identifier,execute_tool', '--', 'true'],
      '--allow-violation verify_user:identifier,execute_tool: expected one operation without a comma; repeat the option for several.',
    ],
    [['--allow-violation', 'unknown_path:x', '--', 'true'], 'with a path that begins with / after the colon'],
    [
      ['--report', 'report.pdf', '--', 'true'],
      '--report report.pdf: expected a name that ends in .txt, .xml, .sarif, code-quality-report.json, .html, .json.',
    ],
    [['--port', '1', '--', 'true'], '--port is not known.'],
    [['--tls', '--tls-cert', 'a.pem', '--', 'true'], '--tls makes a certificate and --tls-cert names one'],
  ])('%j is refused with 2 and one line', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^toolmock: .* See npx toolmock run --help\.\n$/)
  })

  it.each([
    ['TOOLMOCK_MIN_OPERATIONS', 'most', 'expected a whole number from 0 to 20'],
    ['TOOLMOCK_ALLOW_VIOLATION', 'exectue_tool', 'did you mean execute_tool?'],
  ])('names the variable %s whose value is refused', async (name, value, message) => {
    const { code, stderr } = await run(['--', 'true'], { [name]: value })
    expect(code).toBe(2)
    expect(stderr).toContain(`toolmock: ${name}=${value}: `)
    expect(stderr).toContain(message)
  })

  it.each([
    [
      127,
      'no-such-command',
      'no-such-command: no program of this name is found, or the interpreter that its first line names is missing',
    ],
    [126, ROOT, `${ROOT} cannot be executed (EACCES)`],
  ])('%d for a command that cannot be started: %s', async (code, command, message) => {
    expect(await run(['--', command])).toEqual({ code, stdout: '', stderr: `toolmock: ${message}\n` })
  })
})

describe('the command of toolmock run', () => {
  it('gets stdin and writes stdout and stderr byte for byte', async () => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const work = 'process.stdin.on("data", (part) => { process.stdout.write(part); process.stderr.write(part) })'
    const begun = toolmock.begin(['run', '--allow-no-requests', '--', process.execPath, '-e', work], { input: every })
    const { code, stdout, stderr } = await begun.end
    expect(code).toBe(0)
    expect(stdout.equals(every)).toBe(true)
    expect(stderr.subarray(0, every.length).equals(every)).toBe(true)
    expect(stderr.subarray(every.length).toString()).toMatch(/^\ntoolmock: there is nothing to check\n/)
  })

  it('writes its output before the warnings of the mock', async () => {
    const { stderr } = await run(['--', 'sh', '-c', 'echo done >&2'], { TOOLMOCK_SEDE: 'x' })
    expect(stderr).toMatch(
      /^done\nwarn TOOLMOCK_SEDE is not read; did you mean TOOLMOCK_SEED\?\n\ntoolmock: the verdict/,
    )
    const wire = await run(['--log-level', 'warn', '--', 'sh', '-c', 'echo done >&2'], { TOOLMOCK_SEDE: 'x' })
    expect(wire.stderr).toMatch(/^warn TOOLMOCK_SEDE .*\ndone\n/)
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
    'gets %s once and chooses its own exit code',
    async (signal) => {
      const work = `
      let times = 0
      process.on('${signal}', () => { times += 1; setTimeout(() => process.exit(40 + times), 200) })
      setInterval(() => undefined, 1000)
      console.log('ready')`
      const { child, end } = toolmock.begin(['run', '--', process.execPath, '-e', work])
      await once(child.stdout!, 'data')
      child.kill(signal)
      const { code, stderr } = await end
      expect(code).toBe(41)
      expect(stderr.toString()).toContain('toolmock: the command failed with exit code 41, which is passed on')
    },
  )

  it('ends by a signal that it does not catch: 128 and its number', async () => {
    const work = 'setInterval(() => undefined, 1000); console.log(process.pid)'
    const { child, end } = toolmock.begin(['run', '--', process.execPath, '-e', work])
    const [pid] = (await once(child.stdout!, 'data')) as [Buffer]
    child.kill('SIGTERM')
    expect((await end).code).toBe(128 + 15)
    expect(() => process.kill(Number(pid.toString()), 0)).toThrow('ESRCH')
  })

  it('leaves no temporary file and no open port', async () => {
    const [work, temporary] = [toolmock.path('work'), toolmock.path('temporary')]
    for (const folder of [work, temporary]) mkdirSync(folder)
    const seen = `
      console.log(url)
      const { readFileSync } = await import('node:fs')
      const ca = process.env.NODE_EXTRA_CA_CERTS
      console.log(JSON.stringify({ ca, authority: readFileSync(ca, 'utf8') }))
      ${CLEAN}`
    const begun = toolmock.begin(['run', '--tls', ...program(seen)], { cwd: work, variables: { TMPDIR: temporary } })
    const { code, stdout } = await begun.end
    expect(code).toBe(0)
    const [url = '', listing = ''] = stdout.toString().split('\n')
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const { ca, authority } = JSON.parse(listing) as { ca: string; authority: string }
    expect(ca.startsWith(temporary)).toBe(true)
    expect([...readdirSync(work), ...readdirSync(temporary)]).toEqual([])
    // A server of another test that has got the port since then has no certificate of this authority.
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca: authority })
    await expect(once(socket, 'secureConnect')).rejects.toThrow()
  })

  it('trusts the authority of --tls beside those of NODE_EXTRA_CA_CERTS', async () => {
    const others = toolmock.path('others.pem')
    writeFileSync(others, '-----BEGIN CERTIFICATE-----\nothers\n-----END CERTIFICATE-----\n')
    const args = ['run', '--tls', '--', 'sh', '-c', 'cat "$NODE_EXTRA_CA_CERTS"']
    const { stdout } = await toolmock.begin(args, { variables: { NODE_EXTRA_CA_CERTS: others } }).end
    expect(stdout.toString().match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    expect(stdout.toString()).toContain('\nothers\n')
  })

  it.each(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', 'CURL_CA_BUNDLE'])(
    'gets in %s the authority of --tls, those of the system and the former ones of the variable',
    async (name) => {
      const others = toolmock.path('others.pem')
      writeFileSync(others, '-----BEGIN CERTIFICATE-----\nothers\n-----END CERTIFICATE-----\n')
      const args = ['run', '--tls', '--', 'sh', '-c', `cat "$NODE_EXTRA_CA_CERTS"; echo ---; cat "$${name}"`]
      const { stdout } = await toolmock.begin(args, { variables: { [name]: others } }).end
      const [authority = '', all = ''] = stdout.toString().split('\n---\n')
      expect(authority.match(/BEGIN CERTIFICATE/g)).toHaveLength(1)
      expect(all).toContain(authority.trim())
      expect(all).toContain('\nothers\n')
      expect((all.match(/BEGIN CERTIFICATE/g) ?? []).length).toBeGreaterThan(20)
    },
  )
})

describe('the files that toolmock run writes', () => {
  it('have the verdict in the summary of the CI step, with hostile input of clients as plain text', async () => {
    const summary = toolmock.path('summary.md')
    writeFileSync(summary, '<b>before</b>')
    const work = "await call('GET', '/connected_accounts?page_size=' + encodeURIComponent('<b>`|x`</b>'))"
    expect(await run(program(work), { GITHUB_STEP_SUMMARY: summary })).toMatchObject({ code: 3 })
    const written = readFileSync(summary, 'utf8')
    expect(written).toMatch(/^<b>before<\/b>\n\n### toolmock: the verdict failed for 1 reason\n/)
    expect(written).toMatch(/^- violation: `` list_connected_accounts: page_size must be .*<b>`\|x`<\/b>.* ``$/m)
    expect(written).toContain('| operations | 1 | 0 | 19 | 20 |')
  })

  it('cause only a warning when the summary cannot be written', async () => {
    const { code, stderr } = await run(program(CLEAN), { GITHUB_STEP_SUMMARY: toolmock.folder })
    expect(code).toBe(0)
    expect(stderr).toMatch(/\ntoolmock: the summary .* of GITHUB_STEP_SUMMARY cannot be written \(EISDIR\)\n$/)
  })

  it('are reports at the given paths, in folders that are created', async () => {
    const files = ['json', 'xml', 'sarif', 'html'].map((ending) => toolmock.path(`out/deep/report.${ending}`))
    const flags = files.flatMap((file) => ['--report', file])
    const { code, stderr } = await run([...flags, ...program(VIOLATION)])
    expect(code).toBe(3)
    expect(stderr).toContain(`everything in ${files.join(', ')}\n`)
    const [json = '', ...others] = files.map((file) => readFileSync(file, 'utf8').replaceAll('<wbr />', ''))
    const { contract, coverage } = JSON.parse(json) as Record<string, unknown>
    expect(contractReportSchema.parse(contract).total.findings).toMatchObject([{ field: 'page_size', count: 1 }])
    expect(coverageReportSchema.parse(coverage).total.summary.operations.driven).toBe(1)
    for (const text of others) expect(text).toContain('page_size')
  })

  it('list in reports what was allowed, and never count it as wrong', async () => {
    const files = ['json', 'xml', 'sarif', 'html'].map((ending) => toolmock.path(`allowed.${ending}`))
    const allowing = ['list_connected_accounts:page_size', 'unknown_path:/api/v1/conections'].flatMap((allowance) => {
      return ['--allow-violation', allowance]
    })
    const flags = [...allowing, ...files.flatMap((file) => ['--report', file])]
    const { code } = await run([...flags, ...program(`${VIOLATION}; ${UNKNOWN_PATH}; ${WARNING}`)])
    expect(code).toBe(0)
    const [json = '', xml, sarif = '', page] = files.map((file) => readFileSync(file, 'utf8').replaceAll('<wbr />', ''))
    const { contract, verdict } = JSON.parse(json) as { contract: unknown; verdict: unknown }
    expect(byKind(contractReportSchema.parse(contract).total).violations).toHaveLength(2)
    const sentences = [/^list_connected_accounts: page_size must be/, /^GET \/api\/v1\/conections is not served/]
    const allowed = sentences.map((sentence) => ({ sentence: expect.stringMatching(sentence) }))
    expect(verdict).toMatchObject({ ok: true, reasons: [], allowed })
    expect(xml).toMatch(/^<testsuites name="toolmock" tests="\d+" failures="0" errors="0" /m)
    expect(xml).toMatch(
      /^allowed: list_connected_accounts: page_size must be .*\nallowed: GET .api.v1.conections is not/m,
    )
    const { runs } = JSON.parse(sarif) as { runs: unknown }
    expect(runs).toMatchObject([
      {
        results: [{ ruleId: 'unread' }],
        properties: { allowed: sentences.map((sentence) => expect.stringMatching(sentence)) },
      },
    ])
    expect(page).toContain('<h1>The contract was kept</h1>')
    expect(page).toMatch(
      /<h2 id="allowed-title">Allowed<\/h2>\s*<ul[^>]*>\s*<li>list_connected_accounts: page_size must be /,
    )
  })

  it('list in reports each coverage below its required minimum', async () => {
    const files = ['xml', 'sarif', 'html'].map((ending) => toolmock.path(`minima.${ending}`))
    const flags = ['--min-operations', '12', '--min-statuses', '1', ...files.flatMap((file) => ['--report', file])]
    const { code } = await run([...flags, ...program(CLEAN)])
    expect(code).toBe(3)
    const [xml, sarif = '', page] = files.map((file) => readFileSync(file, 'utf8'))
    const sentence = '2 of 20 operations were driven; the minimum is 12'
    expect(xml).toContain('failures="1"')
    expect(xml).toContain(
      `<testcase classname="coverage.minima" name="operations" time="0"><failure type="contract" message="${sentence}">`,
    )
    const { runs } = JSON.parse(sarif) as { runs: unknown }
    expect(runs).toMatchObject([{ results: [{ ruleId: 'too-little-driven', message: { text: sentence } }] }])
    expect(page).toContain('<h1>A minimum of coverage was not reached</h1>')
    expect(page).toContain(`<strong>${sentence}.</strong>`)
  })

  it('are a journal at the given path, in a folder that is created', async () => {
    const file = toolmock.path('out/journals/journal.ndjson')
    expect(await run(['--journal', file, ...program(CLEAN)])).toMatchObject({ code: 0 })
    const entries = readFileSync(file, 'utf8').trim().split('\n')
    expect(entries.map((line) => (JSON.parse(line) as { operation: string }).operation)).toEqual([
      'create_token',
      'list_connections',
    ])
  })

  it('end the run with 2 when they cannot be written: before the command where that is known, else after it', async () => {
    writeFileSync(toolmock.path('file'), '')
    const early = await run(['--report', toolmock.path('file/report.json'), ...program('console.log(1)')])
    expect(early).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^toolmock: the report .* cannot be written \(\w+\)\n$/),
    })
    const journal = await run(['--journal', toolmock.path('file/journal.ndjson'), ...program('console.log(1)')])
    expect(journal).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^toolmock: the journal file /),
    })
    mkdirSync(toolmock.path('folder.json'))
    const flags = ['--allow-no-requests', '--report', toolmock.path('folder.json')]
    const late = await run([...flags, ...program('console.log(1)')])
    expect(late).toMatchObject({
      code: 2,
      stdout: '1\n',
      stderr: expect.stringContaining('cannot be written (EISDIR)'),
    })
  })
})

it('a client with eight mistakes gets a finding for each mistake and no other', async () => {
  const file = toolmock.path('eight.json')
  const { code, stderr } = await run([
    '--report',
    file,
    '--',
    process.execPath,
    join(FIXTURES, 'eight-mistakes/client.mjs'),
  ])
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('the verdict failed for 7 reasons') })
  expect(stderr).not.toMatch(/and \d+ more/)
  const { contract } = JSON.parse(readFileSync(file, 'utf8')) as { contract: unknown }
  const { findings, left_out } = contractReportSchema.parse(contract).total
  const of = (wanted: string, isPath: boolean) =>
    findings.filter(({ kind, operation }) => kind === wanted && (operation === null) === isPath)
  expect(of('violation', false).map(({ operation, field, code }) => `${operation} ${field} ${code}`)).toEqual([
    'create_connected_account identifier required',
    'update_connected_account connected_account.api_config type',
    'list_connected_accounts page_size maximum',
    'get_connected_account_auth Authorization required',
    'create_custom_provider Content-Type content_type',
  ])
  expect(of('violation', true).map(({ field, did_you_mean }) => [field, did_you_mean])).toEqual([
    ['GET /api/v1/connected_account/details', 'GET /api/v1/connected_accounts/details'],
    ['PUT /api/v1/connected_accounts/user/verify', 'POST /api/v1/connected_accounts/user/verify'],
  ])
  expect(of('warning', false).map(({ operation, field, code }) => `${operation} ${field} ${code}`)).toEqual([
    'execute_tool params alias',
  ])
  expect([findings.length, left_out]).toEqual([8, 0])
  for (const { count } of findings) expect(count).toBe(1)
})

describe('a project that tests itself with the library and the command line', () => {
  it('passes with npm test, and under toolmock run, which adds a verdict', async () => {
    const project = toolmock.path('sample-project')
    cpSync(join(FIXTURES, 'sample-project'), project, { recursive: true })
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
    symlinkSync(toolmock.path('package'), join(project, 'node_modules/toolmock'))
    symlinkSync('../toolmock/dist/cli.js', join(project, 'node_modules/.bin/toolmock'))

    const judged = await toolmock.begin(['run', '--', 'npm', 'test'], { cwd: project }).end
    expect(judged.stdout.toString()).toMatch(/busy\.yaml: a valid scenario file\n[^]*# pass 1\n/)
    expect(judged.stderr.toString()).toContain(
      '\ntoolmock: the contract was kept\nrule "rate limit" of scenario busy fired 1 time\n4 requests\n',
    )
    expect(judged.code).toBe(0)

    const alone = await toolmock.begin(['run', '--', 'env', '-u', 'TOOLMOCK_RUN', 'npm', 'test'], { cwd: project }).end
    expect(alone.stdout.toString()).toMatch(/\n# pass 1\n/)
    expect(alone.stderr.toString()).toContain('no operation was called')
    expect(alone.code).toBe(3)
    expect(existsSync(join(project, '.toolmock'))).toBe(false)
  }, 60_000)
})
