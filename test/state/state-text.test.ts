import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce, ROWS_AT_ONCE } from '../../src/state/model/slices.ts'
import { parseRowByRow } from '../../src/state/model/state-text.ts'
import { restoreSnapshot, takeSnapshot } from '../../src/state/snapshots.ts'
import { type Crash, MemoryDisk } from '../support/memory-disk.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry, withDirectory } from '../support/registry.ts'

const AT = '2026-01-01T00:00:00.000Z'

function inDirectory(work: (file: string) => Promise<void>): () => Promise<void> {
  return () => withDirectory((directory) => work(join(directory, 'state.json')))
}

describe('the text of the state file', () => {
  it('reads row by row as it reads as a whole, with any content of rows', async () => {
    await withDirectory(async (directory) => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.string(), fc.jsonValue())), async (given) => {
          const file = join(directory, `${run++}.json`)
          const disk = new MemoryDisk()
          const registry = await openTestRegistry({ file, fileSystem: disk })
          createEnvironment(registry, '__proto__', { clients: [{ id: 'c', client_secret: 's' }] })
          for (const [identifier, value] of [['\u2028"\\\n', {}], ...given] as const)
            addAccount(registry, '__proto__', { identifier, api_config: { value: value as string } })
          takeSnapshot(registry.environment('__proto__')!, 'one')
          await registry.close()
          const bytes = disk.file(file)!
          expect(atOnce(parseRowByRow(bytes))).toEqual(JSON.parse(bytes.toString()))
        }),
        { numRuns: 50 },
      )
    })
  })

  it.each([0, 1, 2, 3])(
    'reads by line a text that is decoded in several parts, %i characters further on',
    (further) => {
      const lengths = [200_000, ...Array.from({ length: 400 }, (_, at) => at), 70_000, 0, 300_000]
      const rows = lengths.map((length) => ({ id: ' '.repeat(further), text: 'ä\u2028'.repeat(length / 2) }))
      const text = `{\n"rows": [\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n}\n`
      expect(atOnce(parseRowByRow(Buffer.from(text)))).toEqual({ rows })
    },
  )

  it.each([
    [
      'a comma is missing between two rows',
      (text: string) => text.replace('},\n          {"id":"ca_2"', '}\n          {"id":"ca_2"'),
    ],
    ['a comma follows the last row', (text: string) => text.replace(/(\{"id":"ca_2".*\})\n/, '$1,\n')],
    ['its end is missing', (text: string) => text.slice(0, -4)],
    ['a row is cut', (text: string) => text.replace('"sequence":2', '"sequence":')],
  ])('is not read as JSON when %s', async (_, damage) => {
    await withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const disk = new MemoryDisk()
      const registry = await openTestRegistry({ file, fileSystem: disk })
      createEnvironment(registry, 'default')
      for (let each = 0; each < 2; each++) addAccount(registry)
      await registry.close()
      const text = disk.file(file)!.toString()
      expect(damage(text)).not.toBe(text)
      expect(atOnce(parseRowByRow(Buffer.from(text)))).toBeDefined()
      expect(atOnce(parseRowByRow(Buffer.from(damage(text))))).toBeUndefined()
    })
  })
})

describe('the data outside the tables', () => {
  it.each<Crash | 'stopped'>(['stopped', 'killed', 'power-lost'])('is restored after a server was %s', (end) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const disk = new MemoryDisk()
      const registry = await openTestRegistry({ file, fileSystem: disk })
      const environment = createEnvironment(registry, 'default', { clock: { offset_ms: 0, frozen_at: AT } })
      addAccount(registry)
      await registry.checkpoint()
      takeSnapshot(environment, 'one')
      addAccount(registry)
      takeSnapshot(environment, 'two')
      const run = {
        id: 'flaky',
        running: true,
        started_manually: true,
        started_at: 5,
        state: 'a',
        rules: [{ matched: 3, hits: 1 }],
      }
      environment.model.transact(() => {
        environment.model.tables.scenario_runs.put(run)
        environment.model.tables.snapshots.remove('two')
      })
      takeSnapshot(environment, 'two')
      addAccount(registry)
      await registry.durable()
      const left = end === 'stopped' ? undefined : disk.after(end)
      const image = environment.stored(true)
      await registry.close()
      const files = (left ?? disk)
        .paths()
        .map((path) => [path.replace('state', 'other'), (left ?? disk).file(path)!] as const)
      const again = await openTestRegistry({ file: join(directory, 'other.json'), fileSystem: new MemoryDisk(files) })
      const restarted = again.environment('default')!
      expect(restarted.stored(true)).toEqual(image)
      const { snapshots } = restarted.model.tables
      expect([...snapshots.values()].map(({ id, tables }) => [id, tables.accounts.length])).toEqual([
        ['one', 1],
        ['two', 2],
      ])
      await restoreSnapshot(restarted, snapshots.get('one')!)
      expect(accountIds(again)).toEqual(['ca_1'])
      expect(snapshots.size).toBe(2)
      await again.close()
    }),
  )

  it(
    'is rolled back with a commit that the disk refuses',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const registry = await openTestRegistry({ file, fileSystem: disk })
      const environment = createEnvironment(registry, 'default')
      await registry.durable()
      disk.fails = () => new Error('EIO: i/o error')
      addAccount(registry)
      takeSnapshot(environment, 'never')
      await expect(registry.durable()).rejects.toThrow('nothing was changed')
      expect(accountIds(registry)).toEqual([])
      expect(environment.model.tables.snapshots.size).toBe(0)
      disk.fails = () => undefined
      await registry.close()
    }),
  )
})

describe('the text of a state that is sent', () => {
  const parsed = (text: string | Buffer): unknown => atOnce(parseRowByRow(Buffer.from(text), 20))
  const json = (text: string): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }

  it('is read row by row as it is read as a whole, with any content and layout', () => {
    const row = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    const tables = fc.dictionary(fc.string(), fc.array(row))
    fc.assert(
      fc.property(
        fc.record({ settings: fc.dictionary(fc.string(), fc.string()), tables }),
        fc.constantFrom(undefined, '\t', 2),
        (state, indent) => {
          const text = JSON.stringify(state, null, indent)
          expect(parsed(text)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it('is read as it is read as a whole, or not, whatever it is', () => {
    const sign = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"a":',
      '{"b":1}',
      '{"b":1},',
      '0',
      ' ',
      '\\',
      '"',
    )
    const state = (signs: string[]): string => `{"rows":[${signs.join('')}]}`
    fc.assert(
      fc.property(fc.array(sign), (signs) => {
        expect([undefined, json(state(signs))]).toContainEqual(parsed(state(signs)))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['one of two rows has no comma before it', '{"rows":[{"a":1} {"a":2}]}'],
    ['a comma follows the last row', '{"rows":[{"a":1},]}'],
    ['a form feed is beside a comma', '{"rows":[{"a":1}\f,{"a":2}]}'],
    ['its end is missing', '{"rows":[{"a":"}]}'],
    ['it is not UTF-8', Buffer.from('{"rows":[{"a":"\xff"}]}', 'latin1')],
    ['a row is too deep', `{"rows":[{"a":${'['.repeat(18)}${']'.repeat(18)}}]}`],
  ])('is not read row by row when %s', (_, text) => {
    expect(parsed(text)).toBeUndefined()
  })

  it('may nest as deeply as that', () => {
    expect(parsed(`{"rows":[{"a":${'['.repeat(17)}${']'.repeat(17)}}]}`)).toBeDefined()
  })

  it('gives way after some rows', () => {
    const rows = Array.from({ length: 1200 }, (_, id) => ({ id }))
    expect([...parseRowByRow(Buffer.from(JSON.stringify({ rows })), 20)]).toHaveLength(1200 / ROWS_AT_ONCE)
  })
})
