import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()
const FILES = ['seeds/default.yaml', 'seeds/connectors/bookings.yaml', 'scenarios/bookings-busy.yaml']

async function bookings(url: string): Promise<(identifier: string) => Promise<{ status: number; body: unknown }>> {
  const credentials = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const granted = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(credentials) })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  return async (identifier) => {
    const answer = await fetch(`${url}/api/v1/execute_tool`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        connector: 'bookings',
        identifier,
        tool_name: 'bookings_create',
        tool_input: { room: 'Blue', day: '2026-01-31' },
      }),
    })
    return { status: answer.status, body: await answer.json() }
  }
}

/** Calls tools of the calendar for ada. */
async function calls(url: string) {
  const credentials = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const granted = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(credentials) })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  return async (tool_name: string, tool_input: Record<string, unknown>) => {
    const answer = await fetch(`${url}/api/v1/execute_tool`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ connector: 'calendar', identifier: 'ada@example.com', tool_name, tool_input }),
    })
    return { status: answer.status, body: await answer.json() }
  }
}

it('writes files that validate accepts and a configuration, and prints the next steps', async () => {
  const { code, stdout, stderr } = await toolmock.run(['init'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    ...FILES.map((file) => `wrote toolmock/${file}`),
    'wrote toolmock.config.yaml',
    '',
    'Next:',
    '  npx toolmock validate toolmock',
    '  npx toolmock start --watch',
    '  npx toolmock start --scenario toolmock/scenarios/bookings-busy.yaml',
    '',
  ])
  expect(await toolmock.run(['validate', 'toolmock'])).toMatchObject({ code: 0, stderr: '' })
  for (const [file, schema] of [
    ['toolmock/seeds/connectors/bookings.yaml', '../../../node_modules/toolmock/spec/schemas/connector.schema.json'],
    ['toolmock/scenarios/bookings-busy.yaml', '../../node_modules/toolmock/spec/schemas/scenario.schema.json'],
    ['toolmock.config.yaml', './node_modules/toolmock/spec/schemas/config.schema.json'],
  ] as const) {
    const [first] = readFileSync(toolmock.path(file), 'utf8').split('\n')
    expect(first).toBe(`# yaml-language-server: $schema=${schema}`)
  }
  const serving = await toolmock.start([])
  const listed = await fetch(`${serving.url}/_mock/accounts`)
  expect(JSON.stringify(await listed.json())).toContain('bookings')
  expect(await (await fetch(`${serving.url}/_mock/state`)).text()).toContain('mail_send_message')
  await serving.stop()
  expect(existsSync(toolmock.path('.toolmock/bookings.json'))).toBe(true)
})

it('writes a configuration that validate checks as one, alone and in its folder', async () => {
  const folder = mkdtempSync(toolmock.path('whole-'))
  mkdirSync(join(folder, '.git'))
  const run = async (...args: string[]) => (await toolmock.begin(args, { cwd: folder }).end).stdout.toString()
  await run('init')
  expect(await run('validate', 'toolmock.config.yaml')).toBe('toolmock.config.yaml: a valid configuration file\n')
  expect(await run('validate', '.')).toMatch(/^(.*: a valid .* file\n){4}$/)
  writeFileSync(join(folder, 'toolmock.config.yaml'), 'prot: 3\n')
  expect(await run('validate', '.')).toMatch(
    /^toolmock\.config\.yaml:1:1: `prot` is an unknown key \(did you mean port\?\).*\n1 problem in 4 files\n$/,
  )
})

it('keeps the configuration that is there, and prints the flags', async () => {
  writeFileSync(toolmock.path('toolmock.config.yaml'), '# mine\n')
  const { stdout } = await toolmock.run(['init', 'second'])
  expect(stdout).toContain('kept toolmock.config.yaml, the configuration that is there\n')
  expect(stdout).toContain(
    '  npx toolmock start --seed bundled --seed second/seeds --state .toolmock/bookings.json --watch\n',
  )
  expect(readFileSync(toolmock.path('toolmock.config.yaml'), 'utf8')).toBe('# mine\n')
})

it.each([
  ['toolmock.config.json', '{}', '.'],
  ['package.json', '{"toolmock": {}}', '.'],
  ['toolmock.config.yaml', 'port: 0', 'inner'],
])('keeps a configuration in %s as well, so that there is one', async (file, text, cwd) => {
  const folder = mkdtempSync(toolmock.path('kept-'))
  mkdirSync(join(folder, '.git'))
  mkdirSync(join(folder, 'inner'))
  writeFileSync(join(folder, file), text)
  const run = (...args: string[]) => toolmock.begin(args, { cwd: join(folder, cwd) }).end
  const { code, stdout } = await run('init')
  expect({
    code,
    kept: stdout.toString().includes(`kept ${join(relative(join(folder, cwd), folder), file)}, `),
  }).toEqual({
    code: 0,
    kept: true,
  })
  expect((await run('config')).code).toBe(0)
})

it('writes the calendar of the guide, which creates, lists, reports conflicts and limits calls', async () => {
  const { code, stdout } = await toolmock.run(['init', 'agenda', '--connector', 'calendar'])
  expect({ code, files: stdout.split('\n').slice(0, 2) }).toEqual({
    code: 0,
    files: ['wrote agenda/seeds/default.yaml', 'wrote agenda/seeds/connectors/calendar.yaml'],
  })
  expect(await toolmock.run(['validate', 'agenda'])).toMatchObject({ code: 0, stderr: '' })
  const guide = readFileSync(new URL('../../../docs/own-connector.md', import.meta.url), 'utf8')
  const snippets = [
    ...guide
      .slice(guide.indexOf('<!-- calendar:start -->'), guide.indexOf('<!-- calendar:end -->'))
      .matchAll(/```yaml\n([^]*?)```/g),
  ]
  expect(snippets.map(([, piece]) => piece).join('')).toBe(
    readFileSync(toolmock.path('agenda/seeds/connectors/calendar.yaml'), 'utf8').replace(/^# yaml-lang.*\n/, ''),
  )
  const server = await toolmock.start([
    '--in-memory',
    '--port',
    '0',
    '--seed',
    'agenda/seeds',
    '--clock',
    '2026-01-31',
    '--freeze',
  ])
  const call = await calls(server.url)
  const at = (start: string, end: string) => call('calendar_create_event', { title: 'Review', start, end })
  const [first, clash, wrong] = [
    await at('2026-02-02T10:00:00Z', '2026-02-02T11:00:00Z'),
    await at('2026-02-02T10:30:00Z', '2026-02-02T11:30:00Z'),
    await at('2026-02-03T10:30:00Z', '2026-02-03T09:30:00Z'),
  ]
  expect(first).toMatchObject({
    status: 200,
    body: { data: { title: 'Review', id: expect.stringMatching(/^evt_/) } },
  })
  expect(JSON.stringify(clash)).toContain('Review overlaps it')
  expect(wrong).toMatchObject({ status: 500 })
  const { body } = await call('calendar_list_events', {})
  expect(body).toMatchObject({
    data: { events: [{ id: 'evt_standup' }, { title: 'Review' }], next_page_token: null },
  })
  const statuses: number[] = []
  for (let times = 0; times < 7; times++) statuses.push((await call('calendar_list_events', {})).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
  await server.stop()
})

it('overwrites no file: it names the existing one and ends with 2', async () => {
  mkdirSync(toolmock.path('kept/seeds'), { recursive: true })
  writeFileSync(toolmock.path('kept/seeds/default.yaml'), '# mine\n')
  const { code, stdout, stderr } = await toolmock.run(['init', 'kept'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('toolmock: kept/seeds/default.yaml is there already')
  expect(readFileSync(toolmock.path('kept/seeds/default.yaml'), 'utf8')).toBe('# mine\n')
  expect(existsSync(toolmock.path('kept/scenarios'))).toBe(false)
})

it.runIf(process.platform === 'linux')('reports when the folder cannot be created, and ends with 2', async () => {
  const { code, stdout, stderr } = await toolmock.run(['init', '/proc/x'])
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: 'toolmock: /proc/x/seeds/default.yaml cannot be written (ENOENT)\n',
  })
})

it('accepts one folder', async () => {
  const { code, stderr } = await toolmock.run(['init', 'a', 'b'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'toolmock: init takes one DIR; found a b. See npx toolmock init --help.\n',
  })
})

it('gives a seed whose accounts run the tool of its connector, an expired token refreshed', async () => {
  await toolmock.run(['init', 'served'])
  const serving = await toolmock.start(['--in-memory', '--seed', 'served/seeds'])
  const book = await bookings(serving.url)
  for (const identifier of ['ada@example.com', 'grace@example.com']) {
    const { status, body } = await book(identifier)
    expect({ identifier, status, body }).toMatchObject({ status: 200, body: { data: { room: 'Blue' } } })
  }
  expect(await book('alan@example.com')).toMatchObject({ status: 400, body: { code: 9 } })
  await serving.stop()
})
