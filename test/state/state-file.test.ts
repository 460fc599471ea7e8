import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { StateError } from '../../src/state/wal/state-errors.ts'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { it } from '../support/mock-fixture.ts'
import {
  account,
  accountIds,
  addAccount,
  createEnvironment,
  openTestRegistry,
  withDirectory,
} from '../support/registry.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const OTHER_VERSION =
  /state\.json: it is of version \d, and this toolmock reads state files of version 3 only; nothing was changed, and --fresh replaces it$/

async function stopped(file: string, work: (registry: EnvironmentRegistry) => void = () => undefined): Promise<string> {
  const registry = await openTestRegistry({ file })
  if (!registry.environment('default'))
    createEnvironment(registry, 'default', { idSeed: 3, clock: { offset_ms: 0, frozen_at: NOW } })
  work(registry)
  await registry.close()
  return readFile(file, 'utf8')
}

/** The message with which a start refuses a file with `content`. The file must not change. */
async function refusal(file: string, content: string | Buffer): Promise<string> {
  await writeFile(file, content)
  const before = await stat(file)
  const message = await openTestRegistry({ file }).then(
    () => 'it was accepted',
    (error: unknown) => (error instanceof StateError ? error.message : `another error: ${String(error)}`),
  )
  expect(await readFile(file)).toEqual(Buffer.from(content))
  expect((await stat(file)).mtimeMs).toBe(before.mtimeMs)
  return message
}

it('is JSON with one row of a table on each line, and only its owner may read it', async ({ file }) => {
  const text = await stopped(file, (registry) => {
    addAccount(registry, 'default', {
      identifier: 'two\nlines "quoted" \ud800 ä 漢',
      api_config: { b: [1, {}], a: {} },
    })
    createEnvironment(registry, '__proto__', { clients: [{ id: 'c', client_secret: 's' }] })
  })
  expect(text.split('\n').filter((line) => line.includes('ca_1'))).toEqual([
    expect.stringMatching(/^ {10}\{"id":"ca_1".*\}$/),
  ])
  expect(text.split('\n').map((line) => /^ */.exec(line)?.[0].length ?? 0)).toSatisfy((margins: number[]) =>
    margins.every((margin) => margin % 2 === 0),
  )
  expect(Object.keys(JSON.parse(text) as object)).toEqual(['version', 'state_id', 'generation', 'environments'])
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await stopped(file)).toBe(text)
})

it('has the fields of a row in one order, for any way to create the row', async ({ file }) => {
  const reversed = Object.fromEntries(Object.entries(account(1)).toReversed()) as unknown as ReturnType<typeof account>
  const text = await stopped(file, (registry) => {
    const model = registry.environment('default')?.model
    model?.transact(() => {
      model.count('account_sequence')
      model.tables.accounts.put(reversed)
    })
  })
  expect(Object.keys(JSON.parse(text).environments.default.tables.accounts[0] as object).slice(0, 2)).toEqual([
    'id',
    'sequence',
  ])
})

it('is the same byte for byte, but for its state_id, after two runs with the same seed, clock and order', async () => {
  const run = (): Promise<string> =>
    withDirectory(async (directory) => {
      const file = join(directory, 'deep', 'er', 'state.json')
      const first = (registry: EnvironmentRegistry): void => {
        const ids = registry.environment('default')?.ids
        for (let each = 0; each < 5; each++) addAccount(registry, 'default', { user_id: ids?.id('user') ?? '' })
        registry.environment('default')?.clock.advance(90_000)
      }
      await stopped(file, first)
      return (await stopped(file, first)).replace(/"state_id": ".+"/, '')
    })
  const text = await run()
  expect(await run()).toBe(text)
  const users = [...text.matchAll(/"user_id":"(user_[^"]+)"/g)].map(([, id]) => id)
  expect(new Set(users).size).toBe(10)
})

it('that is fresh replaces existing files, also damaged ones, with their write-ahead log', async ({ file }) => {
  await writeFile(file, 'no JSON')
  await writeFile(`${file}.wal.0`, 'no log')
  await writeFile(`${file}.wal.1`, 'no log')
  const registry = await openTestRegistry({ file, fresh: true })
  expect(registry.environments()).toEqual([])
  createEnvironment(registry, 'default')
  await registry.close()
  expect(await stopped(file)).toContain('"default"')
})

it.for([
  ['an empty file', '', /state\.json: it is empty/],
  ['a foreign JSON file', '{"name": "x"}', /not a state file of toolmock/],
  ['an array', '[]', /not a state file of toolmock/],
  ['a newer version', '{"version": 4, "environments": {}}', OTHER_VERSION],
  ['of version 2', '{"version": 2, "environments": {}}', OTHER_VERSION],
  ['of version 1', '{"version": 1, "environments": {}}', OTHER_VERSION],
  ['no JSON', '{\n  "version": 1,\n  "environments": {,}\n}', /state\.json:3:20: it is not JSON: unexpected ","/],
  ['a JSON file that ends too early', '{\n  "version": 1', /state\.json:2:15: .*unexpected the end of the file/],
  ['something after the JSON', '{"version": 1, "environments": {}}\n}', /state\.json:2:1: .*unexpected "}"/],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /not a text in UTF-8/],
  [
    'an unknown field',
    '{"version": 3, "state_id": "a", "generation": 1, "environments": {}, "x": 1}',
    /:1:75: `x` is an unknown key; allowed: version, state_id, generation, request_ids, environments/,
  ],
  [
    'a bad environment name',
    '{"version": 3, "state_id": "a", "generation": 1, "environments": {"a b": {}}}',
    /environments\["a b"\]` is .*1 to 64 letters/,
  ],
  [
    'an environment without settings',
    '{"version": 3, "state_id": "a", "generation": 1, "environments": {"a": {}}}',
    /environments\.a\.settings` is required/,
  ],
])('is refused and not changed when it is %s', async ([_, content, message], { directory }) => {
  expect(await refusal(join(directory, 'state.json'), content)).toMatch(message)
})

it.for([
  [
    '"status":"ACTIVE"',
    '"status":"GONE"',
    /`environments\.default\.tables\.accounts\[1\]\.status` is a text; allowed: ACTIVE/,
  ],
  [
    '"sequence":2',
    '"sequence":1',
    /accounts\[1\]\.sequence` is the same for the second time; allowed: each sequence once/,
  ],
  // The first page of a list begins after 0.
  ['"sequence":1', '"sequence":0', /accounts\[0\]\.sequence` is 0; allowed: at least 1/],
  ['"id":"ca_2"', '"id":"ca_1"', /accounts\[1\]\.id` is the same for the second time; allowed: each id once/],
  [
    '"identifier":"user2@example.com"',
    '"identifier":"user1@example.com"',
    /accounts\[1\]\.identifier` is the same for the second time; allowed: each identifier once at a connector in a scope/,
  ],
  ['"id":"ca_2"', '"id":"ca_2","colour":1', /accounts\[1\]\.colour` is an unknown key/],
  ['"identifier":"user2@example.com",', '', /accounts\[1\]\.identifier` is required; allowed: a text/],
  [
    '"value":2',
    '"value":1',
    /counters` is account_sequence 1; allowed: account_sequence of at least 2, the sequence of the last row of accounts/,
  ],
  ['"frozen_at":"2026', '"frozen_at":"26', /clock\.frozen_at` is a text; allowed: an instant/],
])('is refused when a row has %s as %s', async ([sound, broken, message], { file }) => {
  const text = await stopped(file, (registry) => [1, 2].map(() => addAccount(registry)))
  const at = text.lastIndexOf(sound)
  expect(at).toBeGreaterThan(0)
  expect(await refusal(file, text.slice(0, at) + broken + text.slice(at + sound.length))).toMatch(message)
})

it('is refused when two environments share a client', async ({ file }) => {
  const text = await stopped(file, (registry) => {
    createEnvironment(registry, 'one', { clients: [{ id: 'first', client_secret: '' }] })
    createEnvironment(registry, 'two', { clients: [{ id: 'other', client_secret: '' }] })
  })
  expect(await refusal(file, text.replace('"other"', '"first"'))).toMatch(
    /two\.tables\.clients\[0\]\.id` is what the environment one has/,
  )
})

it('that is a directory, or cannot be read, is refused', async ({ file }) => {
  await mkdir(file)
  await expect(openTestRegistry({ file })).rejects.toThrow(StateError)
})

it('may be a symbolic link', async ({ directory, file }) => {
  const real = join(directory, 'real.json')
  await stopped(real, (registry) => void addAccount(registry))
  await symlink(real, file)
  await stopped(file, (registry) => void addAccount(registry))
  await chmod(real, 0o600)
  const registry = await openTestRegistry({ file: real })
  expect(accountIds(registry)).toEqual(['ca_1', 'ca_2'])
  await registry.close()
})
