import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()
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

describe('toolmock init', () => {
  it('writes files that validate accepts, and says what to do next', async () => {
    const { code, stdout, stderr } = await toolmock.run(['init'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      ...FILES.map((file) => `wrote toolmock/${file}`),
      '',
      'Next:',
      '  toolmock validate toolmock',
      '  toolmock start --seed toolmock/seeds --watch',
      '  toolmock start --seed toolmock/seeds --scenario toolmock/scenarios/bookings-busy.yaml',
      '',
    ])
    expect(await toolmock.run(['validate', 'toolmock'])).toMatchObject({ code: 0, stderr: '' })
  })

  it('overwrites nothing: it names what is there and ends with 2', async () => {
    mkdirSync(toolmock.path('kept/seeds'), { recursive: true })
    writeFileSync(toolmock.path('kept/seeds/default.yaml'), '# mine\n')
    const { code, stdout, stderr } = await toolmock.run(['init', 'kept'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('toolmock: kept/seeds/default.yaml is there already')
    expect(readFileSync(toolmock.path('kept/seeds/default.yaml'), 'utf8')).toBe('# mine\n')
    expect(existsSync(toolmock.path('kept/scenarios'))).toBe(false)
  })

  it.runIf(process.platform === 'linux')('says so where no folder can be made, and ends with 2', async () => {
    const { code, stdout, stderr } = await toolmock.run(['init', '/proc/x'])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'toolmock: /proc/x/seeds/default.yaml cannot be written (ENOENT)\n',
    })
  })

  it('takes one folder', async () => {
    const { code, stderr } = await toolmock.run(['init', 'a', 'b'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'toolmock: init takes one DIR; found a b. See toolmock init --help.\n',
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
})
