import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

/** Calls one path of the API with a bearer token. */
const client = (path: string) => `
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: id, TOOLMOCK_CLIENT_SECRET: secret } = process.env
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  fetch(url + '/oauth/token', { method: 'POST', body: form }).then((a) => a.json()).then(({ access_token }) =>
    fetch(url + '/api/v1/${path}', { headers: { authorization: 'Bearer ' + access_token } }))`

it('two shards that miss the minimum alone pass together, and reports are written of both', async () => {
  const shards = [
    ['one.json', 'connections'],
    ['two.json', 'connected_accounts'],
  ] as const
  for (const [file, path] of shards) {
    const args = ['run', '--min-operations', '3', '--report', file, '--', process.execPath, '-e', client(path)]
    expect((await toolmock.run(args)).code).toBe(3)
  }
  const merge = (...flags: string[]) => toolmock.run(['report', 'merge', 'one.json', 'two.json', ...flags])
  expect(await merge('--min-operations', '3', '--report', 'both.json')).toMatchObject({ code: 0, stderr: '' })
  const both = JSON.parse(readFileSync(toolmock.path('both.json'), 'utf8')) as {
    verdict: { ok: boolean; requests: number }
  }
  expect(both.verdict).toMatchObject({ ok: true, requests: 4 })
  const failed = await merge('--min-operations', '4')
  expect(failed.code).toBe(3)
  expect(failed.stdout).toContain('3 of ')
  expect(failed.stdout).toContain('the minimum is 4')
})

it('a rule that did not fire in the one run with its scenario fails the merged verdict', async () => {
  const run = (file: string, ...flags: string[]) =>
    toolmock.run(['run', ...flags, '--report', file, '--', process.execPath, '-e', client('connections')])
  expect((await run('with.json', '--scenario', 'rate-limited')).code).toBe(3)
  expect((await run('without.json')).code).toBe(0)
  for (const files of [
    ['with.json', 'without.json'],
    ['without.json', 'with.json', 'without.json', 'with.json'],
  ]) {
    const { code, stdout } = await toolmock.run(['report', 'merge', ...files, '--report', 'merged.json'])
    expect([code, stdout]).toEqual([3, expect.stringContaining('of scenario rate-limited')])
  }
  expect((await toolmock.run(['report', 'merge', 'merged.json', 'without.json'])).code).toBe(3)
})

it.each([
  [['report', 'merge'], 'report merge takes the JSON reports of `run --report FILE.json`'],
  [['report', 'merge', 'none.json'], 'none.json: there is no such file or folder'],
  [['report', 'merge', 'wrong.json'], 'wrong.json is no report of `toolmock run --report FILE.json` by this version'],
  [['report', '--min-operations', '3'], '--min-operations goes with report merge'],
])('%j is refused with 2', async (args, message) => {
  writeFileSync(toolmock.path('wrong.json'), '{"contract": {}}')
  const { code, stdout, stderr } = await toolmock.run(args)
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string })
})

it.each([
  ['cases', [{ name: 'a', ok: 'yes' }]],
  ['scenarios', [1]],
  ['scenarios', 'outage'],
])('a report whose %s are %j is refused', async (key, value) => {
  const args = ['run', '--report', 'sound.json', '--', process.execPath, '-e', client('connections')]
  expect((await toolmock.run(args)).code).toBe(0)
  const sound = JSON.parse(readFileSync(toolmock.path('sound.json'), 'utf8')) as object
  writeFileSync(toolmock.path('other.json'), JSON.stringify({ ...sound, [key]: value }))
  const { code, stderr } = await toolmock.run(['report', 'merge', 'other.json'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('other.json is no report of')])
})
