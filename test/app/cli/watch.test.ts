import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

const CONNECTOR = (answer: string): string => `connector: clock
authorization_type: NO_AUTH
tools:
  - name: clock_read
    call: { method: GET, path: /now }
responders:
  - on: { path: /now }
    respond: { body: { says: ${answer} } }
`
const SCENARIO = (status: number): string => `name: broken
rules:
  - name: fails
    at: third_party
    on: { connector: clock }
    do: [{ respond: { status: ${status}, body: { error: broken_${status} } } }]
`
const SEED = (...identifiers: string[]): string =>
  `accounts:\n${identifiers.map((identifier) => `  - { connector: clock, identifier: ${identifier} }\n`).join('')}`

/** Writes a file beside its place and moves it there, as editors do. */
function put(name: string, text: string): string {
  const file = toolmock.path(name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}~`, text)
  renameSync(`${file}~`, file)
  return file
}

async function executing(url: string): Promise<(identifier: string) => Promise<unknown>> {
  const credentials = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const granted = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(credentials) })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  return async (identifier) => {
    const answer = await fetch(`${url}/api/v1/execute_tool`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ connector: 'clock', identifier, tool_name: 'clock_read', tool_input: {} }),
    })
    return answer.json()
  }
}

it('applies changed seeds and connectors to what it serves, one log line each', async () => {
  const seed = put('changing/default.yaml', SEED('ada'))
  const connector = put('changing/connectors/clock.yaml', CONNECTOR('noon'))
  const serving = await toolmock.start(['--in-memory', '--watch', '--seed', toolmock.path('changing')])
  const execute = await executing(serving.url)
  expect(await execute('ada')).toMatchObject({ data: { says: 'noon' } })

  put('changing/connectors/clock.yaml', CONNECTOR('midnight'))
  expect(await serving.logged(/./)).toEqual([`info reloaded the seed: ${connector}`])
  expect(await execute('ada')).toMatchObject({ data: { says: 'midnight' } })
  expect(await execute('grace')).toMatchObject({ code: 5 })

  put('changing/default.yaml', SEED('ada', 'grace'))
  expect(await serving.logged(/./)).toEqual([`info reloaded the seed: ${seed}`])
  expect(await execute('grace')).toMatchObject({ data: { says: 'midnight' } })
  expect((await serving.stop()).code).toBe(0)
})

it('names the connectors beside a seed file, and applies them when they change', async () => {
  const seed = put('file/default.yaml', SEED('ada'))
  const connector = put('file/connectors/clock.yaml', CONNECTOR('noon'))
  const serving = await toolmock.start(['--in-memory', '--watch', '--seed', seed])
  expect(await serving.logged(/./)).toEqual([`info ${seed}: 1 connector came with it from the folder beside it: clock`])
  const execute = await executing(serving.url)
  expect(await execute('ada')).toMatchObject({ data: { says: 'noon' } })

  put('file/connectors/clock.yaml', CONNECTOR('midnight'))
  await serving.logged(new RegExp(`^info reloaded the seed: ${connector}$`))
  expect(await execute('ada')).toMatchObject({ data: { says: 'midnight' } })
  await serving.stop()
})

it('keeps the last valid version when a file is invalid, and reports every problem with its place', async () => {
  const connector = put('bad/clock.yaml', CONNECTOR('noon'))
  const seed = put('bad/default.yaml', SEED('ada'))
  const serving = await toolmock.start(['--in-memory', '--watch', '--seed', toolmock.path('bad')])
  const execute = await executing(serving.url)

  put('bad/clock.yaml', CONNECTOR('noon').replace('GET', 'FETCH').replace('respond:', 'answer:'))
  expect(await serving.logged(/unknown key/)).toEqual([
    `warn the seed stays as it was: ${connector} cannot be used`,
    expect.stringMatching(/^warn .*bad\/clock\.yaml:5:21: `tools\[0\]\.call\.method` is "FETCH"; allowed: /),
    expect.stringMatching(/^warn .*bad\/clock\.yaml:7:5: `responders\[0\]` is without respond and sequence; allowed: /),
    expect.stringMatching(/^warn .*bad\/clock\.yaml:8:5: `responders\[0\]\.answer` is an unknown key; allowed: /),
  ])
  expect(await execute('ada')).toMatchObject({ data: { says: 'noon' } })

  put('bad/clock.yaml', CONNECTOR('midnight'))
  await serving.logged(/^info reloaded the seed/)
  expect(await execute('ada')).toMatchObject({ data: { says: 'midnight' } })
  expect(readFileSync(seed, 'utf8')).toBe(SEED('ada'))
  await serving.stop()
})

it('says that a seed is not applied everywhere, and applies it once that is possible', async () => {
  put('taken/clock.yaml', CONNECTOR('noon'))
  const seed = put('taken/default.yaml', SEED('ada'))
  const serving = await toolmock.start(['--in-memory', '--watch', '--seed', toolmock.path('taken')])
  const control = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${serving.url}/_mock${path}`, { method, headers, body: JSON.stringify(body) })
    expect(answer.status).toBeLessThan(300)
  }
  await control('POST', '/environments', { name: 'other' })
  const accounts = [{ connector: 'clock', identifier: 'lin', id: 'ca_taken' }]
  await control('POST', '/seed?environment=other', { accounts })
  const execute = await executing(serving.url)

  put('taken/default.yaml', `${SEED('ada')}  - { connector: clock, identifier: grace, id: ca_taken }\n`)
  expect(await serving.logged(/another account/)).toEqual([
    `warn the seed: ${seed} could not be applied to every environment; it is tried again`,
    'warn the seed\'s account id "ca_taken" is another account\'s',
  ])
  expect(await execute('grace')).toMatchObject({ data: { says: 'noon' } })

  await control('DELETE', '/environments/other', {})
  expect(await serving.logged(/reloaded/)).toEqual([`info reloaded the seed: ${seed}`])
  await serving.stop()
})

it('restarts a changed scenario that runs', async () => {
  put('scenes/seeds/clock.yaml', CONNECTOR('noon'))
  put('scenes/seeds/default.yaml', SEED('ada'))
  const scenario = put('scenes/broken.yaml', SCENARIO(503))
  const files = ['--seed', toolmock.path('scenes/seeds'), '--scenario', scenario]
  const serving = await toolmock.start(['--in-memory', '--watch', ...files])
  const execute = await executing(serving.url)
  const failed = (status: string) => ({ details: [{ tool_error_info: { tool_error_code: status } }] })
  expect(await execute('ada')).toMatchObject(failed('broken_503'))

  put('scenes/broken.yaml', SCENARIO(418))
  expect((await serving.logged(/^info/)).at(-1)).toBe(`info reloaded the scenarios: ${scenario}`)
  expect(await execute('ada')).toMatchObject(failed('broken_418'))
  await serving.stop()
})

it('applies changed extensions, those in seed folders too', async () => {
  const extension = (name: string, says: string): string =>
    `extension: ${name}\nresponders: [{ name: a, on: { path: /api/v1/${name} }, respond: { body: ${says} } }]\n`
  const own = put('notes.yaml', extension('notes', 'one'))
  put('extended/clock.yaml', CONNECTOR('noon'))
  const inside = put('extended/extensions/memos.yaml', extension('memos', 'one'))
  const files = ['--seed', 'bundled', '--seed', toolmock.path('extended'), '--extension', own]
  const serving = await toolmock.start(['--in-memory', '--watch', ...files])
  const credentials = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const granted = await fetch(`${serving.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(credentials),
  })
  const { access_token } = (await granted.json()) as { access_token: string }
  const says = async (name: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${access_token}` }
    return (await fetch(`${serving.url}/api/v1/${name}`, { headers })).json()
  }
  expect([await says('notes'), await says('memos')]).toEqual(['one', 'one'])

  put('notes.yaml', extension('notes', 'two'))
  expect(await serving.logged(/./)).toEqual([`info reloaded the extensions: ${own}`])
  expect([await says('notes'), await says('memos')]).toEqual(['two', 'one'])

  put('extended/extensions/memos.yaml', extension('memos', 'two'))
  expect((await serving.logged(/reloaded the seed/)).at(-1)).toBe(`info reloaded the seed: ${inside}`)
  expect([await says('notes'), await says('memos')]).toEqual(['two', 'two'])

  put('notes.yaml', extension('memos', 'three'))
  expect(await serving.logged(/second time/)).toEqual([
    `warn the extensions stay as they were: ${own} cannot be used`,
    expect.stringContaining('extension memos is there for the second time'),
  ])
  expect([await says('notes'), await says('memos')]).toEqual(['two', 'two'])
  await serving.stop()
})

it('follows a folder that is removed, made again and then gets a subfolder', async () => {
  const folder = toolmock.path('replaced')
  put('replaced/clock.yaml', CONNECTOR('noon'))
  put('replaced/default.yaml', SEED('ada'))
  const serving = await toolmock.start(['--in-memory', '--watch', '--seed', folder])
  const execute = await executing(serving.url)

  rmSync(folder, { recursive: true })
  expect((await serving.logged(/no such file/)).at(0)).toBe(
    `warn the seed stays as it was: ${[`${folder}/clock.yaml`, `${folder}/default.yaml`, folder].join(', ')} cannot be used`,
  )
  expect(await execute('ada')).toMatchObject({ data: { says: 'noon' } })

  put('replaced/default.yaml', SEED('ada', 'grace'))
  put('replaced/connectors/clock.yaml', CONNECTOR('midnight'))
  await serving.logged(/^info reloaded the seed/)
  expect(await execute('grace')).toMatchObject({ data: { says: 'midnight' } })
  await serving.stop()
})

it('reports when there is no file to watch', async () => {
  const serving = await toolmock.start(['--in-memory', '--watch'])
  expect(await serving.logged(/./)).toEqual([expect.stringMatching(/^warn there is nothing to watch: /)])
  await serving.stop()
})
