import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { SECRET } from '../../service/webhooks/receiver.ts'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(toolmock.folder, 'project-'))
  mkdirSync(join(folder, '.git'))
})

function write(file: string, text: string): void {
  mkdirSync(join(folder, file, '..'), { recursive: true })
  writeFileSync(join(folder, file), text)
}

async function run(args: string[], variables: Record<string, string> = {}, cwd = folder) {
  const { code, stdout, stderr } = await toolmock.begin(args, { cwd, variables }).end
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}

interface Settings {
  file: string | null
  settings: { key: string; value?: unknown; from: string }[]
}

async function settings(variables: Record<string, string> = {}, cwd = folder) {
  const { code, stdout, stderr } = await run(['config', '--json'], variables, cwd)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { file, settings } = JSON.parse(stdout) as Settings
  const of = (key: string) => {
    const { value, from } = settings.find((each) => each.key === key) ?? { value: undefined, from: 'nothing' }
    return { value, from }
  }
  return { file, of }
}

describe('the configuration file', () => {
  it('is found from a folder inside, up to the folder with .git, and its paths are relative to it', async () => {
    write(
      'toolmock.config.yaml',
      'seed: [bundled, mocks/seed.yaml]\nscenario: [rate-limited, ./slow.yaml]\nport: 9001\n',
    )
    mkdirSync(join(folder, 'packages/web'), { recursive: true })
    const { file, of } = await settings({}, join(folder, 'packages/web'))
    expect(file).toBe('../../toolmock.config.yaml')
    expect(of('seed').value).toEqual(['bundled', '../../mocks/seed.yaml'])
    expect(of('scenario').value).toEqual(['rate-limited', '../../slow.yaml'])
    expect(of('port')).toEqual({ value: 9001, from: '../../toolmock.config.yaml' })
    expect(of('host')).toEqual({ value: '127.0.0.1', from: 'default' })
  })

  it('above the folder with .git is not read', async () => {
    write('toolmock.config.yaml', 'port: 9001\n')
    mkdirSync(join(folder, 'inner/.git'), { recursive: true })
    expect((await settings({}, join(folder, 'inner'))).file).toBeNull()
  })

  it('may be JSON, or the key `toolmock` of package.json', async () => {
    write('package.json', '{"name": "web", "toolmock": {"id_seed": 7}}')
    expect((await settings()).of('id_seed')).toEqual({ value: 7, from: 'package.json' })
    write('package.json', '{"name": "web"}')
    write('toolmock.config.json', '{"strict": true}')
    expect((await settings()).of('strict')).toEqual({ value: true, from: 'toolmock.config.json' })
  })

  it('loses against a variable, which loses against a flag', async () => {
    write('toolmock.config.yaml', 'clock: 2026-01-31\nfreeze: true\nin_memory: true\nport: 0\nlog_level: warn\n')
    expect((await settings({ TOOLMOCK_CLOCK: '2027-01-01' })).of('clock')).toEqual({
      value: '2027-01-01T00:00:00.000Z',
      from: 'TOOLMOCK_CLOCK',
    })
    const now = async (args: string[], variables: Record<string, string>) => {
      const command = `fetch(process.env.TOOLMOCK_URL + '/_mock/clock').then(async (a) => console.log(await a.text()))`
      const { stdout } = await run(
        ['run', ...args, '--allow-no-requests', '--', process.execPath, '-e', command],
        variables,
      )
      return (JSON.parse(stdout) as { now: string }).now
    }
    expect(await now([], {})).toBe('2026-01-31T00:00:00.000Z')
    expect(await now([], { TOOLMOCK_CLOCK: '2027-01-01' })).toBe('2027-01-01T00:00:00.000Z')
    expect(await now(['--clock', '2028-01-01'], { TOOLMOCK_CLOCK: '2027-01-01' })).toBe('2028-01-01T00:00:00.000Z')
  })

  it('says how `run` judges, and the verdict repeats why a violation is allowed', async () => {
    write(
      'toolmock.config.yaml',
      [
        'verdict:',
        '  allow_violations: [{ violation: create_magic_link, reason: the form sends it empty }]',
        '  min_operations: 2',
        '  reports: { junit: out/report.xml, json: out/report.json }',
      ].join('\n'),
    )
    const command = `
      const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: id, TOOLMOCK_CLIENT_SECRET: secret } = process.env
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
      fetch(url + '/oauth/token', { method: 'POST', body: form }).then((a) => a.json()).then(({ access_token }) =>
        fetch(url + '/api/v1/connected_accounts/magic_link', { method: 'POST', body: '{}',
          headers: { authorization: 'Bearer ' + access_token, 'content-type': 'application/json' } }))`
    const { code, stderr } = await run(['run', '--', process.execPath, '-e', command])
    expect(stderr).toContain('allowed because the form sends it empty')
    expect(stderr).toContain('the minimum is 2')
    expect(stderr).toContain('everything in out/report.xml, out/report.json')
    expect(code).toBe(3)
  })

  it('is named by `start`, and by --config or TOOLMOCK_CONFIG', async () => {
    write('other.yaml', 'in_memory: true\n')
    const serving = await toolmock.start(['--config', join(folder, 'other.yaml')])
    expect(await serving.logged(/configuration/)).toContainEqual(
      expect.stringMatching(/the configuration is that of .*other\.yaml$/),
    )
    await serving.stop()
    expect((await settings({ TOOLMOCK_CONFIG: 'other.yaml' })).of('in_memory')).toEqual({
      value: true,
      from: 'other.yaml',
    })
  })

  it('names webhooks, whose secrets are not shown; one that may not be called is refused', async () => {
    const webhook = (url: string) => `webhooks:\n  - { name: app, url: '${url}', secret: ${SECRET} }\n`
    write('toolmock.config.yaml', webhook('http://127.0.0.1:9/'))
    expect((await settings()).of('webhooks')).toEqual({ value: 'app', from: 'toolmock.config.yaml' })
    expect((await run(['config'])).stdout).not.toContain(SECRET)
    const serving = await toolmock.start(['--in-memory', '--config', join(folder, 'toolmock.config.yaml')])
    const listed = await (await fetch(`${serving.url}/_mock/webhooks`)).json()
    expect(listed).toMatchObject({ webhooks: [{ name: 'app', url: 'http://127.0.0.1:9/', waiting: 0 }] })
    await serving.stop()
    write('toolmock.config.yaml', webhook('https://app.example/'))
    const refused = await run(['start', '--in-memory', '--port', '0'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('the webhook app is not on loopback')
    write('toolmock.config.yaml', webhook('app'))
    expect((await run(['config'])).stderr).toMatch(/webhooks\[0\]\.url.*an http or https URL/)
  })

  it('hides secrets', async () => {
    write('toolmock.config.yaml', 'admin_token: hunter2hunter2\n')
    const { stdout } = await run(['config'])
    expect(stdout).toMatch(/admin_token +\*\*\* +toolmock\.config\.yaml/)
    expect(stdout).not.toContain('hunter2')
  })

  it.each([
    ['prot: 1', 'toolmock.config.yaml:1:1: `prot` is an unknown key (did you mean port?); allowed: '],
    ['port: 70000', '`port` is 70000; allowed: at most 65535'],
    ['port: "1"', '`port` is "1"; allowed: a whole number'],
    ['seed: mine.yaml', '`seed` is "mine.yaml"; allowed: a list'],
    ['seed: []', '`seed` is an empty list; allowed: at least 1 item'],
    ['\nclock: tomorrow', 'toolmock.config.yaml:2:8: `clock` is "tomorrow"; allowed: an instant from 1970 on'],
    ['log_level: loud', '`log_level` is "loud"; allowed: '],
    ['base_url: ftp://x', '`base_url` is "ftp://x"; allowed: '],
    ['verdict: { min_operations: 2000 }', '`verdict.min_operations` is 2000; allowed: a whole number from 0 to'],
    [
      'verdict: { allow_violations: [{ violation: magic, reason: x }] }',
      '`verdict.allow_violations[0].violation` is "magic"; allowed: an operation',
    ],
    [
      'verdict: { allow_violations: [{ violation: create_token }] }',
      '`verdict.allow_violations[0].reason` is required',
    ],
    ['verdict: { reports: { junit: a.txt } }', '`verdict.reports.junit` is "a.txt"; allowed: a file that ends in .xml'],
    ['[1', 'toolmock.config.yaml:1:'],
    ['port: 1\nport: 2', 'toolmock.config.yaml:2:1: '],
  ])('%j is refused with 2', async (text, message) => {
    write('toolmock.config.yaml', text)
    const { code, stdout, stderr } = await run(['start', '--in-memory', '--port', '0'])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    })
  })

  it('that is one of two in a folder, or that does not exist, is refused with 2', async () => {
    expect((await run(['config', '--config', ''])).stderr).toContain('--config : expected a value.')
    expect(await run(['config', '--config', 'none.yaml'])).toMatchObject({
      code: 2,
      stderr: 'toolmock: none.yaml: there is no such file or folder\n',
    })
    write('toolmock.config.yaml', 'port: 0')
    write('toolmock.config.json', '{}')
    expect(await run(['config'])).toMatchObject({
      code: 2,
      stderr: 'toolmock: toolmock.config.yaml and toolmock.config.json are both configurations: keep one\n',
    })
  })

  it('with a state file and in_memory is refused, as two flags are', async () => {
    write('toolmock.config.yaml', 'in_memory: true\nstate: mine.json\n')
    expect(await run(['start'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--in-memory keeps no file') as string,
    })
    write('toolmock.config.yaml', 'state: mine.json\nport: 0\n')
    const serving = await toolmock.start(['--in-memory', '--config', join(folder, 'toolmock.config.yaml')])
    await serving.stop()
  })
})
