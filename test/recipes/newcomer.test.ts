import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createToolmock } from '../../src/index.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { describeWith } from '../support/machine.ts'
import { codeBlocks, tab } from './markdown.ts'
import { answered, pasted } from './shell.ts'

const toolmock = ToolmockProcess.forThisFile()
const LIBRARY = JSON.stringify(toolmock.path('package/dist/index.js'))
/** The time limit of each test, which starts other programs. */
const timeout = 120_000

let project: string
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'toolmock-newcomer-'))
})
afterEach(() => rm(project, { recursive: true }))

async function write(name: string, content = ''): Promise<string> {
  const file = join(project, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  return file
}

/** Runs a test of the guides with Node's test runner; returns whether it passed, and its output. */
async function nodeTest(file: string): Promise<{ passed: boolean; output: string }> {
  const env: NodeJS.ProcessEnv = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], { env, cwd: project })
    return { passed: true, output: stdout }
  } catch (error) {
    return { passed: false, output: (error as { stdout: string }).stdout }
  }
}

const fromLibrary = (code: string): string => code.replace("'toolmock'", LIBRARY)

/** A program that gets a token and posts bodies to routes, with the variables of the mock. */
const clientOf = (...calls: readonly (readonly [route: string, body: object])[]): string => `
const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
const { access_token } = await (await fetch(url + '/oauth/token', { method: 'POST', body: form })).json()
const headers = { Authorization: 'Bearer ' + access_token, 'Content-Type': 'application/json' }
for (const [route, body] of ${JSON.stringify(calls)}) {
  const answer = await fetch(url + '/api/v1' + route, { method: 'POST', headers, body: JSON.stringify(body) })
  console.log(await answer.text())
}
`

describeWith('bash', 'docs/own-connector.md and docs/connectors.md', () => {
  it(
    'Your own connector: its commands write a calendar that creates, refuses a conflict and lists',
    { timeout },
    async () => {
      const sections = ['The connector', 'Check and serve it']
      const [init = '', validate = '', calls = ''] = sections.flatMap((each) =>
        codeBlocks('docs/own-connector.md', each),
      )
      for (const command of [init, validate]) {
        const args = command.trim().replace('npx toolmock ', '').split(' ')
        const { code, stderr } = await toolmock.begin(args, { cwd: project }).end
        expect([code, stderr.toString()]).toEqual([0, ''])
      }
      await using mock = await createToolmock({ seeds: [join(project, 'calendar/seeds')], clock: '2026-01-31' })
      const [, first = ''] = codeBlocks('README.md', 'First success')
      const functions = first.slice(0, first.indexOf('\nsign_in\n'))
      const lines = await pasted(`${functions}\n${calls}`, mock)
      const answers = lines.map(answered)
      expect(answers.map(([status]) => status)).toEqual([200, 500, 200])
      expect(answers[1]?.[1]).toMatchObject({ details: [{ tool_error_info: { tool_error_code: 'conflict' } }] })
      expect(answers[2]?.[1]).toMatchObject({ data: { events: [{ title: 'Stand-up' }, { title: 'Review' }] } })
    },
  )

  it('Responders: the answers of the sequence come one after the other', { timeout }, async () => {
    const [connector] = codeBlocks('docs/connectors.md', 'Responders', 'yaml')
    await write('exports.yaml', connector)
    await using mock = await createToolmock({ seeds: [join(project, 'exports.yaml')] })
    await mock.seed({ accounts: [{ connector: 'exports', identifier: 'ada@example.com' }] })
    const call = { connector: 'exports', identifier: 'ada@example.com', tool_name: 'exports_status', tool_input: {} }
    const client = await write(
      'client.mjs',
      clientOf(...Array.from({ length: 4 }, () => ['/execute_tool', call] as const)),
    )
    const { stdout } = await promisify(execFile)(process.execPath, [client], { env: { ...process.env, ...mock.env } })
    const statuses = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { data: { status: string } }).data.status)
    expect(statuses).toEqual(['queued', 'running', 'done', 'done'])
  })

  it('has valid connectors', { timeout }, async () => {
    const files = ['Responders', 'Collections'].map(async (section) => {
      const [yaml] = codeBlocks('docs/connectors.md', section, 'yaml')
      return write(`seeds/${section}.yaml`, yaml)
    })
    const { code, stderr } = await toolmock.begin(['validate', ...(await Promise.all(files))], { cwd: project }).end
    expect(code, stderr.toString()).toBe(0)
  })
})

describe('docs/library.md, A test of an expiry', () => {
  it('has a test that fails without the scenario and passes with it', { timeout }, async () => {
    const [test = ''] = codeBlocks('docs/library.md', 'A test of an expiry', 'js')
    await write('send-message.mjs', tab('docs/test-runners.md', 'A test', 'JavaScript'))
    const without = test.replace("createToolmock({ scenario: 'token-expires-without-refresh' })", 'createToolmock()')

    const failed = await nodeTest(await write('without.test.mjs', fromLibrary(without)))
    expect(failed.passed).toBe(false)
    expect(failed.output).toContain('200 !== 400')

    expect(await nodeTest(await write('with.test.mjs', fromLibrary(test)))).toMatchObject({ passed: true })
  })
})

describeWith('bash', 'docs/state.md, As a fixture', () => {
  it('saves a state that a test can use later', { timeout }, async () => {
    await using mock = await createToolmock({ clock: '2020-01-01T00:00:00Z' })
    await mock.seed({ accounts: [{ connector: 'mail', identifier: 'ada@example.com' }] })
    await pasted(codeBlocks('docs/state.md', 'As a fixture').join(''), mock, { cwd: project })

    const send = { connector: 'mail', identifier: 'ada@example.com', tool_name: 'mail_send_message' }
    const tool_input = { to: 'grace@example.com', subject: 'Hello' }
    const client = clientOf(['/execute_tool', { ...send, tool_input }])
    const [example = ''] = codeBlocks('docs/state.md', 'As a fixture', 'js')
    const program = `Object.assign(process.env, mock.env)\n${client}`
    const code = fromLibrary(example).replace(/ *\/\/ … run the program under test.*\n/, program)
    expect(code).toContain(program)
    const { passed, output } = await nodeTest(await write('fixture.test.mjs', code))
    expect(output).toContain('message_id')
    expect(passed).toBe(true)
  })
})

it('docs/ci.md, A job judges the tests and writes the report that it uploads', { timeout }, async () => {
  const [yaml = ''] = codeBlocks('docs/ci.md', 'A job', 'yaml')
  const { jobs } = parse(yaml) as { jobs: { test: { steps: { run?: string; with?: { path?: string } }[] } } }
  const { steps } = jobs.test
  const command = steps.find(({ run }) => run?.startsWith('npx toolmock '))?.run ?? ''
  await write('package.json', JSON.stringify({ scripts: { test: 'node client.mjs' } }))
  await write('client.mjs', clientOf(['/connected_accounts/magic_link', { connector: 'mail', identifier: 'ada' }]))

  const ran = await toolmock.begin(command.split(' ').slice(2), { cwd: project }).end
  expect(ran.stderr.toString()).toContain('the contract was kept')
  expect(ran.code).toBe(0)
  expect(existsSync(join(project, steps.at(-1)?.with?.path ?? 'nowhere'))).toBe(true)
})

it('docs/reports.md, How to read a verdict shows what toolmock run prints about this client', { timeout }, async () => {
  const account = { connector: 'mail', identifier: 'ada@example.com' }
  const client = clientOf(
    [
      '/connected_accounts',
      { ...account, connected_account: { authorization_details: { oauth_token: { access_token: 'at' } } } },
    ],
    ['/connected_accounts/magic_link', { user_verify_ulr: 'http://localhost:3000/verify', ...account }],
    [
      '/execute_tool',
      { ...account, tool_name: 'mail_send_message', tool_input: { sbject: 'Hello', to: 'grace@example.com' } },
    ],
  )
  await write('client.mjs', client)
  const ran = await toolmock.begin(['run', '--', process.execPath, 'client.mjs'], { cwd: project }).end
  expect(ran.code).toBe(3)
  const [shown = ''] = codeBlocks('docs/reports.md', 'How to read a verdict', 'text')
  const withoutRequest = (text: string): string => text.replaceAll(/ at \S+ \(req_\w+\)/g, '')
  expect(withoutRequest(ran.stderr.toString())).toContain(withoutRequest(shown))
})
