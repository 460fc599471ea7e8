import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type JournalFile, openJournalFile } from '../../../src/journal/request-journal/journal-file.ts'
import { maskSecret } from '../../../src/model/domain/masking.ts'
import { createApp } from '../../../src/app/app.ts'
import { it } from '../../support/mock-fixture.ts'
import supertest from 'supertest'
import { recorded } from './recorded.ts'

it('a journal file gets one masked entry a line, in order, after its earlier lines', async ({ directory }) => {
  const path = join(directory, 'journal.jsonl')
  for (const run of [1, 2]) {
    const file = openJournalFile(path, () => undefined)
    for (let count = 0; count < 150; count++) {
      file.append(recorded({ id: `req_${run}_${count}`, requestHeaders: ['Authorization', 'Bearer hidden'] }))
    }
    await file.close()
  }
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  expect(lines).toHaveLength(300)
  expect(JSON.parse(lines[299] ?? '')).toMatchObject({
    id: 'req_2_149',
    request: { headers: { authorization: `Bearer ${maskSecret('hidden')}` } },
  })
  expect(lines.join()).not.toContain('hidden')
})

it('a journal file is made with its folder', async ({ directory }) => {
  const path = join(directory, 'out/today/journal.jsonl')
  const file = openJournalFile(path, (message) => expect.unreachable(message))
  file.append(recorded())
  await file.close()
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2)
})

it('a journal file: that cannot be written causes one warning and no error', async ({ directory }) => {
  const path = join(directory, 'folder')
  await mkdir(path)
  const warnings: string[] = []
  const file = openJournalFile(path, (message) => warnings.push(message))
  for (let count = 0; count < 500; count++) file.append(recorded())
  await file.close()
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(`the journal file ${path} cannot be written`)
})

it('a journal file: that can be written again says how many entries it lacks', async ({ directory }) => {
  const path = join(directory, 'folder')
  await mkdir(path)
  const warnings: string[] = []
  const file = openJournalFile(path, (message) => warnings.push(message))
  await new Promise<void>((begun) => {
    file.append(recorded(), () => {
      begun()
      return undefined
    })
  })
  for (let turn = 0; turn < 50; turn++) await readdir(path)
  await rmdir(path)
  file.append(recorded())
  await file.close()
  expect(warnings[1]).toBe(`the journal file ${path} is written again; it lacks 1 entry`)
})

it('a journal file contains the requests of a server once it is closed', async ({ directory }) => {
  const journalFile = join(directory, 'journal.jsonl')
  const app = await createApp({ journalFile })
  await supertest(app.listener).get('/api/v1/connections').set('X-Request-Id', 'mine')
  await app.close()
  expect(JSON.parse(await readFile(journalFile, 'utf8'))).toMatchObject({
    id: 'mine',
    status: 401,
    explanation: {
      id: 'mine',
      text: expect.stringMatching(/was answered with 401/),
    },
  })
})

describe.runIf(process.platform === 'linux')('a journal file that is a pipe', () => {
  it('gets the entries that follow once it is read, and the number of missing ones', async ({ directory }) => {
    const path = join(directory, 'pipe')
    execFileSync('mkfifo', [path])
    const warnings: string[] = []
    let file: JournalFile | undefined
    await new Promise<void>((warned) => {
      file = openJournalFile(path, (message) => {
        warnings.push(message)
        warned()
      })
      file.append(recorded({ id: 'lost' }))
    })
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    file?.append(recorded({ id: 'read' }))
    await file?.close()
    const lines = (await reader.readFile('utf8')).trimEnd().split('\n')
    await reader.close()
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toContain('read')
    expect(warnings[0]).toBe(
      `the journal file ${path} cannot be written and its entries are lost: it is a pipe without a reader`,
    )
  })
})
