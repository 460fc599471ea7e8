import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runProgram } from '../../../src/app/cli/program.ts'
import { Database } from '../../../src/servers/replicas/database.ts'
import { databaseFiles } from '../../../src/servers/replicas/database-files.ts'
import { Lease } from '../../../src/servers/replicas/lease.ts'
import type { FileSystem } from '../../../src/state/wal/file-system.ts'
import { certificatePem } from '../../../src/servers/tls/certificate.ts'
import { describeWith } from '../../support/machine.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { TestPostgres } from '../../support/postgres.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry } from '../../support/registry.ts'

const LEASE = 10_000
const FILE = '/data/state.json'
const lock = () => Promise.resolve({ release: () => Promise.resolve() })

let postgres: TestPostgres
let folder = ''

interface Opened {
  readonly database: Database
  readonly lease: Lease
  readonly files: FileSystem
}

async function withSchema(work: (opened: Opened, schema: string) => Promise<void>): Promise<void> {
  const schema = postgres.schema()
  const database = new Database(postgres.url, schema, LEASE)
  await database.open()
  const lease = await Lease.take(database, { id: 'one', url: 'http://127.0.0.1:1' }, LEASE)
  if (!lease) throw new Error('a new schema has no lease')
  try {
    await work({ database, lease, files: databaseFiles(database, lease) }, schema)
  } finally {
    await lease.release().catch(() => undefined)
    await database.close()
  }
}

async function cli(...argv: string[]): Promise<{ code: number; said: string }> {
  const said: string[] = []
  const write = (line: string): number => said.push(line)
  const code = await runProgram(argv, { variables: {}, out: write, err: write })
  return { code, said: said.join('\n') }
}

/** The next call is sent by the function that this answers: until then it is on its way, and its answer did not come in time. */
function withheld(database: Database, name: 'append' | 'change'): () => Promise<unknown> {
  let send = (): Promise<unknown> => Promise.reject(new Error('nothing was called'))
  const method = database[name].bind(database) as (...given: unknown[]) => Promise<never>
  vi.spyOn(database, name).mockImplementationOnce((...given: unknown[]) => {
    send = () => method(...given)
    return Promise.reject(new Error('Query read timeout'))
  })
  return () => send()
}

const text = async (files: FileSystem, path = FILE): Promise<string | undefined> => (await files.read(path))?.toString()

async function put(files: FileSystem, path: string, ...parts: string[]): Promise<void> {
  const file = await files.create(path)
  let at = 0
  for (const part of parts) {
    await file.write(Buffer.from(part), at)
    await file.datasync()
    at += part.length
  }
}

/** What the store asks of a disk, of which a disk and the tables have to make the same. */
async function expectDisk(files: FileSystem): Promise<void> {
  expect(await files.read(FILE)).toBeUndefined()
  await put(files, FILE, 'abc', 'defg', 'h')
  expect(await text(files)).toBe('abcdefgh')
  await expect((async () => files.createNew(FILE))()).rejects.toMatchObject({ code: 'EEXIST' })
  const file = await files.reopen(FILE)
  await file.truncate(5)
  expect(await text(files)).toBe('abcde')
  await file.write(Buffer.from('XY'), 5)
  await file.write(Buffer.from('Z'), 7)
  await file.datasync()
  expect(await text(files)).toBe('abcdeXYZ')
  await put(files, `${FILE}.tmp`, 'new')
  await files.rename(`${FILE}.tmp`, FILE)
  expect(await text(files)).toBe('new')
  expect(await files.list('/data')).toEqual(['state.json'])
  await files.remove(FILE)
  await files.remove(FILE)
  expect(await files.list('/data')).toEqual([])
}

it('a disk in memory does what the store asks of a disk', () => expectDisk(new MemoryDisk()))

describeWith('postgresql', 'a state in PostgreSQL', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolmock-state-'))
    postgres = await TestPostgres.start()
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await postgres.stop()
  })

  it('does what the store asks of a disk', () => withSchema(({ files }) => expectDisk(files)))

  it('has every commit after a crash, after a checkpoint, and after a store was left', () =>
    withSchema(async ({ files, lease }) => {
      const open = () => openTestRegistry({ file: FILE, fileSystem: files, lock, lease })
      const one = await open()
      createEnvironment(one, 'default')
      addAccount(one)
      await one.flushed()
      const two = await open()
      addAccount(two)
      await two.checkpoint()
      addAccount(two)
      await two.leave()
      const three = await open()
      expect(accountIds(three)).toEqual(['ca_1', 'ca_2', 'ca_3'])
      await three.leave()
    }))

  it('is changed by no statement of an epoch that is over', () =>
    withSchema(async ({ database, files, lease }) => {
      await put(files, FILE, 'kept')
      const file = await files.reopen(FILE)
      await postgres.query(`update ${database.place.split('/').at(-1) ?? ''}.leader set epoch = epoch + 1`)
      await file.write(Buffer.from('more'), 4)
      await expect(file.datasync()).rejects.toThrow('its lease is over')
      expect(lease.isHeld).toBe(false)
      for (const change of [() => file.truncate(0), () => files.remove(FILE), () => files.create(FILE)])
        await expect((async () => change())()).rejects.toThrow('its lease is over')
      const reading = databaseFiles(database)
      expect(await text(reading)).toBe('kept')
      await expect(reading.remove(FILE)).rejects.toThrow('for reading only')
    }))

  it.each(['truncate', 'rename', 'append'] as const)(
    'is not changed by a statement whose answer did not come, once another has been made: %s',
    (what) =>
      withSchema(async ({ database, files }) => {
        await put(files, FILE, 'old')
        await put(files, `${FILE}.tmp`, 'new')
        const file = await files.reopen(FILE)
        const isAppend = what === 'append'
        const late = isAppend ? withheld(database, 'append') : withheld(database, 'change')
        const work = {
          append: async () => {
            await file.write(Buffer.from('LATE'), 3)
            await file.datasync()
          },
          truncate: () => file.truncate(0),
          rename: () => files.rename(`${FILE}.tmp`, FILE),
        }
        await expect(work[what]()).rejects.toThrow('the database did not answer')
        await file.truncate(3)
        await file.write(Buffer.from('er'), 3)
        if (!isAppend) await file.datasync()
        await late().catch(() => undefined)
        if (isAppend) await file.datasync()
        expect(await text(files)).toBe('older')
        expect(await text(files, `${FILE}.tmp`)).toBe('new')
      }),
  )

  it('gives a lease to one replica at a time, and ends it by the clock of its holder', () =>
    withSchema(async ({ database, lease }) => {
      expect(await Lease.take(database, { id: 'two', url: null }, LEASE)).toBeUndefined()
      await lease.release()
      expect(lease.isHeld).toBe(false)
      const short = await Lease.take(database, { id: 'two', url: null }, 900)
      expect(short?.epoch).toBe(lease.epoch + 1)
      // Nothing may be answered 750 ms before the end, and no renewal comes so early.
      expect(await short?.ended).toBe('it could not be renewed in time')
      expect(() => short?.assertHeld()).toThrow('may or may not have happened')
    }))

  it('is refused when a newer toolmock has changed its tables, and when the address is wrong, without the password', async () => {
    await withSchema(async ({ database }, schema) => {
      await postgres.query(`update ${schema}.meta set version = 99`)
      await expect(database.open()).rejects.toThrow('its tables are of version 99, and this toolmock knows version 2')
      expect(await database.takeOver('two', null, LEASE, 0)).toBeUndefined()
    })
    for (const url of ['postgres://me:hunter2@127.0.0.1:1/none', 'postgres://me:hunter2@127.0.0.1:port/none']) {
      const refused = await cli('start', '--state', url)
      expect(refused.code).toBe(2)
      expect(refused.said).not.toContain('hunter2')
    }
    expect((await cli('config')).code).toBe(0)
  })

  it('is reached by TLS as the URL asks, and a certificate of another root is refused without the password', async () => {
    const year = 365 * 24 * 3600 * 1000
    const [validFrom, validTo] = [Date.now() - year, Date.now() + year]
    const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const rootKey = newKey()
    const root = (issuerKey = newKey()): string =>
      certificatePem({
        subject: 'Root',
        issuer: 'Root',
        publicKey: createPublicKey(issuerKey),
        issuerKey,
        validFrom,
        validTo,
      })
    const files = { right: root(rootKey), wrong: root() }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.pem`), text)
    const key = newKey()
    const names = { subject: 'Database', issuer: 'Root', hosts: ['127.0.0.1'] }
    const cert = certificatePem({ ...names, publicKey: createPublicKey(key), issuerKey: rootKey, validFrom, validTo })
    await postgres.serveTls({ cert, key: key.export({ type: 'pkcs8', format: 'pem' }) as string })
    const url = (name: string): string =>
      `${postgres.url.replace('postgres@', 'postgres:hunter2@')}?sslmode=verify-full&sslrootcert=${join(folder, `${name}.pem`)}`
    const schema = postgres.schema()
    const database = new Database(url('right'), schema, LEASE)
    await vi.waitFor(() => database.open(), 30_000)
    const rows = await database.rows('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    await database.close()
    expect(rows).toEqual([{ ssl: true }])
    const refused = await cli('start', '--state', url('wrong'), '--state-schema', schema, '--port', '0')
    expect(refused.code).toBe(2)
    expect(refused.said).toContain('the database cannot be used: ')
    expect(refused.said).toContain('certificate')
    expect(refused.said).not.toContain('hunter2')
  })

  it('has tables that several replicas make or migrate at the same time', async () => {
    const schema = postgres.schema()
    const openAtOnce = async (): Promise<Set<string>> => {
      const databases = Array.from({ length: 8 }, () => new Database(postgres.url, schema, LEASE))
      const opened = await Promise.all(databases.map((database) => database.open()))
      await Promise.all(databases.map((database) => database.close()))
      return new Set(opened.map(({ secret }) => secret))
    }
    const made = await openAtOnce()
    expect(made.size).toBe(1)
    await postgres.query(`update ${schema}.meta set version = 0; insert into ${schema}.files(name) values ('kept')`)
    await postgres.query(`drop table ${schema}.replicas`)
    expect(await openAtOnce()).toEqual(made)
    expect(await postgres.query(`select version from ${schema}.meta`)).toEqual([{ version: 2 }])
    expect(await postgres.query(`select name from ${schema}.files`)).toEqual([{ name: 'kept' }])
  })

  it('is named without the password where it cannot get a default environment', () =>
    withSchema(async ({ files, lease }, schema) => {
      const registry = await openTestRegistry({ file: FILE, fileSystem: files, lock, lease })
      const client = { id: 'test_client', client_secret: 'x', name: 'x', created_at: '2026-01-01T00:00:00.000Z' }
      createEnvironment(registry, 'other', { clients: [client] })
      await registry.leave()
      await lease.release()
      const url = postgres.url.replace('postgres@', 'postgres:hunter2@')
      const refused = await cli('start', '--state', url, '--state-schema', schema, '--port', '0')
      expect(refused).toMatchObject({
        code: 2,
        said: expect.stringContaining('it has no environment default') as string,
      })
      expect(refused.said).not.toContain('hunter2')
    }))

  it('is exported to a state file and imported from one, and refuses what would replace a state', () =>
    withSchema(async ({ files, lease }, schema) => {
      const registry = await openTestRegistry({ file: FILE, fileSystem: files, lock, lease })
      createEnvironment(registry, 'default')
      addAccount(registry)
      await registry.flushed()
      const copy = join(folder, 'copy.json')
      const exported = await cli('state', 'export', postgres.url, '--state-schema', schema, '--out', copy)
      expect(exported).toMatchObject({ code: 0 })
      expect(await cli('state', 'check', copy)).toMatchObject({ code: 0 })
      const again = await cli('state', 'export', postgres.url, '--state-schema', schema, '--out', copy)
      expect(again).toMatchObject({ code: 2, said: expect.stringContaining('it is there already') as string })
      // A start would refuse the new file together with the log of another one.
      const beside = join(folder, 'beside.json')
      writeFileSync(`${beside}.wal.1`, '')
      const besideLog = await cli('state', 'export', postgres.url, '--state-schema', schema, '--out', beside)
      expect(besideLog).toMatchObject({ code: 2, said: expect.stringContaining('its write-ahead log is') as string })
      expect(existsSync(beside)).toBe(false)

      const importTo = (target: string) => cli('state', 'import', copy, '--out', postgres.url, '--state-schema', target)
      const held = await importTo(schema)
      expect(held).toMatchObject({ code: 2, said: expect.stringContaining('stop all replicas first') as string })
      await registry.leave()
      await lease.release()
      const taken = await importTo(schema)
      expect(taken).toMatchObject({ code: 2, said: expect.stringContaining('there is a state in it') as string })
      const other = postgres.schema()
      expect(await importTo(other)).toMatchObject({ code: 0 })
      const back = join(folder, 'back.json')
      await cli('state', 'export', postgres.url, '--state-schema', other, '--out', back)
      const environments = (file: string): unknown =>
        (JSON.parse(readFileSync(file, 'utf8')) as { environments: unknown }).environments
      expect(environments(back)).toEqual(environments(copy))
      expect(existsSync(copy)).toBe(true)
    }))
})
