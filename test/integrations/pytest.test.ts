import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { codeBlocks } from '../recipes/markdown.ts'
import { describeWith, PYTHON } from '../support/machine.ts'

const toolmock = ToolmockProcess.forThisFile()

/** An application that asks a user for access, as programs of the service do. */
const APPLICATION = `
import requests

def session(env):
    form = {"grant_type": "client_credentials", "client_id": env.client_id, "client_secret": env.client_secret}
    token = requests.post(env.url + "/oauth/token", data=form).json()["access_token"]
    made = requests.Session()
    made.headers["Authorization"] = "Bearer " + token
    return made

def send(env, identifier="ada@example.com"):
    body = {"connector": "mail", "identifier": identifier, "tool_name": "mail_send_message",
            "tool_input": {"to": "grace@example.com", "subject": "Hello"}}
    return session(env).post(env.url + "/api/v1/execute_tool", json=body)

def ask(env, identifier="ada@example.com"):
    body = {"connector": "mail", "identifier": identifier}
    return session(env).post(env.url + "/api/v1/connected_accounts/magic_link", json=body)
`

const PASSING = `
from application import ask, send

def test_consent_and_a_message(toolmock_environment):
    env = toolmock_environment
    assert ask(env).status_code == 200
    assert env.links.approve(as_="ada@example.com")
    assert send(env).status_code == 200
    assert [entry["status"] for entry in env.requests(operation="execute_tool")] == [200]

def test_time_events_and_scenarios(toolmock_environment):
    env = toolmock_environment
    env.seed({"accounts": [{"connector": "mail", "identifier": "bob@example.com"}]})
    before = env.clock.now()
    assert env.clock.advance("2h") > before
    [account] = [each for each in env.accounts.list() if each["identifier"] == "bob@example.com"]
    assert env.accounts.event(account["id"], "expire")["status"] == "EXPIRED"
    env.reset()
    env.seed({"accounts": [{"connector": "mail", "identifier": "bob@example.com"}]})
    env.scenarios.start("rate-limited")
    assert 429 in [send(env, "bob@example.com").status_code for _ in range(5)]
    env.scenarios.stop("rate-limited")

def test_has_an_environment_of_its_own(toolmock_environment, toolmock):
    assert toolmock_environment.name != toolmock.environment("another").name
    assert toolmock_environment.requests(operation="*") == []
    ask(toolmock_environment)
    assert toolmock_environment.links.deny()

def test_consent_at_the_link_of_an_answer(toolmock_environment):
    links = toolmock_environment.links
    assert links.deny(ask(toolmock_environment).json()["link"])
    assert links.approve(links.wait())
`

const FAILING = `
from application import send

def test_sends_without_an_account(toolmock_environment):
    assert send(toolmock_environment).status_code == 200
`

const STALE = `
import requests
from application import session

def test_sends_a_stale_token(toolmock_environment):
    env = toolmock_environment
    assert session(env).get(env.url + "/api/v1/connected_accounts?pageSize=5").status_code == 200
    stale = {"Authorization": "Bearer stale"}
    assert requests.get(env.url + "/api/v1/connections", headers=stale).status_code == 200
`

const BREAKING = `
from application import session

def test_forgets_the_identifier(toolmock_environment):
    env = toolmock_environment
    session(env).post(env.url + "/api/v1/connected_accounts/magic_link", json={"connector": "mail"})
`

function pytest(files: Record<string, string>, args: string[] = [], variables: Record<string, string> = {}) {
  const folder = mkdtempSync(join(toolmock.folder, 'pytest-'))
  mkdirSync(join(folder, '.git'))
  for (const [name, text] of Object.entries({ 'application.py': APPLICATION, ...files })) {
    writeFileSync(join(folder, name), text)
  }
  const { command, args: cli, env } = toolmock.command([])
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    ['-m', 'pytest', '-p', 'pytest_toolmock.plugin', '-p', 'no:cacheprovider', '-q', ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...env,
        PYTHONPATH: `${ROOT}integrations/pytest/src`,
        PYTHONDONTWRITEBYTECODE: '1',
        TOOLMOCK_BIN: [command, ...cli].join(' '),
        ...variables,
      },
    },
  )
  return { status, output: `${stdout}${stderr}` }
}

/** The places in the plugin that a traceback has. */
const framesOfOurs = (output: string): number => output.match(/pytest_toolmock\/\w+\.py:\d+/g)?.length ?? 0

const REFUSED = `
def test_waits_for_a_link(toolmock_environment):
    toolmock_environment.links.wait(0)

def test_names_no_account(toolmock_environment):
    toolmock_environment.accounts.event("nobody", "expire")

def test_approves_nothing(toolmock_environment):
    toolmock_environment.links.approve("no-such-link")
`

describeWith('pytest', 'pytest-toolmock', () => {
  it('ends the traceback of a refused call at the line of the test', () => {
    const { output } = pytest({ 'test_app.py': REFUSED })
    expect(output).toContain('3 failed')
    for (const line of [3, 6, 9]) expect(output).toMatch(new RegExp(`^test_app\\.py:${line}: ToolmockError$`, 'm'))
    expect(framesOfOurs(output)).toBe(0)
    expect(output).toContain('no open magic link after 0 s; no request has reached this environment')
  })

  it('starts the mock of the configuration file, and listens where no file says', () => {
    const config = 'clock: 2026-01-31\nfreeze: true\nhost: 192.0.2.1\nport: 9\ntls: true\nadmin_token: secret-1\n'
    const test = `def test_time(toolmock_environment):
    assert toolmock_environment.clock.now() == "2026-01-31T00:00:00.000Z"
    assert toolmock_environment.url.startswith("http://127.0.0.1:")
`
    const { status, output } = pytest({ 'test_app.py': test, 'toolmock.config.yaml': config })
    expect({ status, output }).toMatchObject({ status: 0 })
  })

  it('takes the toolmock that is on the PATH', () => {
    const bin = mkdtempSync(join(toolmock.folder, 'bin-'))
    const { command, args } = toolmock.command([])
    const script = `#!/bin/sh\nexec '${command}' '${args.join("' '")}' "$@"\n`
    writeFileSync(join(bin, 'toolmock'), script, { mode: 0o755 })
    const { output } = pytest({ 'test_app.py': PASSING }, [], { TOOLMOCK_BIN: '', PATH: bin })
    expect(output).toContain('4 passed')
  })

  it('runs the program and the test of the guide', () => {
    const [app = '', test = ''] = codeBlocks('docs/test-runners.md', 'pytest', 'python')
    const { status, output } = pytest({ 'app.py': app, 'test_app.py': test })
    expect(output).toContain('1 passed')
    expect(status).toBe(0)
  })

  it('gives each test an environment: consent, clock, events, scenarios, requests, reset', () => {
    const { status, output } = pytest({ 'test_app.py': PASSING })
    expect(output).toContain('4 passed')
    expect(status).toBe(0)
  })

  it('explains the refused requests of a failed test in its report', () => {
    const { status, output } = pytest({ 'test_app.py': FAILING })
    expect(status).toBe(1)
    const [, sample = ''] =
      /```text\n([^]*?)```/.exec(readFileSync(`${ROOT}integrations/pytest/README.md`, 'utf8')) ?? []
    // Ids and times differ.
    const comparable = (text: string): string => text.replaceAll(/client_\w+|\d{4}-\S+Z/g, '…')
    expect(comparable(output)).toContain(comparable(sample))
  })

  it('says of a failed test what was wrong with its requests, and that there were unknown tokens', () => {
    const { output } = pytest({ 'test_app.py': STALE })
    expect(output).toContain('pageSize is no query parameter of list_connected_accounts: did you mean page_size?')
    expect(output).toContain('toolmock: 1 request with an unknown token reached the server during this test')
  })

  it('with --toolmock-verdict fails the session for a broken contract, and names the test', () => {
    const { status, output } = pytest({ 'test_app.py': BREAKING }, ['--toolmock-verdict'])
    expect(output).toContain('1 passed')
    expect(output).toContain('toolmock verdict')
    expect(output).toContain('test_app.py::test_forgets_the_identifier (test_app.py:4)')
    expect(status).toBe(1)
    expect(pytest({ 'test_app.py': PASSING }, ['--toolmock-verdict'])).toMatchObject({ status: 0 })
  })

  it('with --toolmock-verdict and no test that uses it fails, because nothing was judged', () => {
    const { status, output } = pytest({ 'test_app.py': 'def test_nothing():\n    pass\n' }, ['--toolmock-verdict'])
    expect({ status, said: output.includes('nothing was judged') }).toEqual({ status: 1, said: true })
  })

  it('runs in workers of pytest-xdist, each with a server, under one verdict', () => {
    const files = { 'test_a.py': PASSING, 'test_b.py': PASSING, 'test_c.py': BREAKING }
    const { status, output } = pytest(files, ['-n', '2', '--dist', 'loadfile', '--toolmock-verdict'])
    expect(output).toContain('9 passed')
    expect(output).toContain('test_c.py::test_forgets_the_identifier')
    expect(status).toBe(1)
  })

  it('uses the server of TOOLMOCK_URL and leaves it running', async () => {
    const serving = await toolmock.start(['--in-memory'])
    const { status, output } = pytest({ 'test_app.py': PASSING }, ['--toolmock-verdict'], { TOOLMOCK_URL: serving.url })
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('4 passed') as string })
    expect((await fetch(`${serving.url}/_mock/health`)).status).toBe(200)
    await serving.stop()
  })

  it('takes the admin token of such a server from TOOLMOCK_ADMIN_TOKEN, and says so', async () => {
    const serving = await toolmock.start(['--in-memory', '--admin-token', 'secret-1'])
    const files = { 'test_app.py': 'def test_one(toolmock_environment):\n    pass\n' }
    const variables = { TOOLMOCK_URL: serving.url, TOOLMOCK_ADMIN_TOKEN: 'secret-1' }
    expect(pytest(files, [], variables).status).toBe(0)
    const refused = pytest(files, [], { TOOLMOCK_URL: serving.url })
    expect(refused.output).toContain('the control API requires the admin token')
    expect(refused.output).toContain('the tests take it from TOOLMOCK_ADMIN_TOKEN')
    await serving.stop()
  })

  it('says what is wrong where the program cannot be run, and where it ends', () => {
    const ONE = 'def test_one(toolmock_environment):\n    pass\n'
    const named = pytest({ 'test_app.py': ONE }, [], { TOOLMOCK_BIN: '/nonexistent' })
    expect(named.output).toContain('/nonexistent cannot be run (No such file or directory), which TOOLMOCK_BIN names')
    expect(framesOfOurs(named.output)).toBeLessThanOrEqual(1)
    for (const npx of [undefined, '#!/bin/sh\necho "npm error npx canceled due to missing packages" >&2\nexit 1\n']) {
      const bin = mkdtempSync(join(toolmock.folder, 'bin-'))
      if (npx !== undefined) writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 })
      const missing = pytest({ 'test_app.py': ONE }, [], { TOOLMOCK_BIN: '', PATH: bin })
      expect(missing.output).toContain('there is no toolmock to start: install its package in this project')
      expect(missing.output).not.toContain('npm error')
      expect(framesOfOurs(missing.output)).toBeLessThanOrEqual(1)
    }
    const wrong = pytest({ 'test_app.py': PASSING, 'toolmock.config.yaml': 'prot: 1' })
    expect(wrong.output).toContain('`prot` is an unknown key')
  })
})
