import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileWatch } from '../../src/app/file-watch.ts'
import { withDirectory } from '../support/registry.ts'

/** Runs `work` with `change`, which waits until a change is reported after an action. */
async function watching(
  paths: readonly string[],
  work: (change: (action: () => Promise<unknown>) => Promise<void>) => Promise<void>,
): Promise<void> {
  let notify: () => void = () => undefined
  const failures: string[] = []
  const watch = new FileWatch(paths, { changed: () => notify(), failed: (reason) => failures.push(reason) })
  try {
    await work(async (action) => {
      const next = new Promise<void>((resolve) => (notify = resolve))
      await action()
      await next
    })
  } finally {
    watch.close()
  }
  expect(failures).toEqual([])
}

describe('a watched file', () => {
  it('is noticed when it is written, replaced by another one, and when it comes back', () =>
    withDirectory(async (folder) => {
      const file = join(folder, 'seed.yaml')
      await writeFile(file, 'a')
      await watching([file], async (change) => {
        await change(() => writeFile(file, 'b'))
        await change(async () => {
          await writeFile(`${file}~`, 'c')
          await rename(`${file}~`, file)
        })
        await change(() => writeFile(file, 'd'))
        await change(() => rm(file))
        await change(() => writeFile(file, 'e'))
      })
    }))
})

describe('a watched folder', () => {
  it('is noticed in folders that came later', () =>
    withDirectory(async (folder) => {
      await watching([folder], async (change) => {
        await change(() => mkdir(join(folder, 'connectors')))
        await change(() => writeFile(join(folder, 'connectors/mail.yaml'), 'a'))
        await change(() => writeFile(join(folder, 'connectors/mail.yaml'), 'b'))
      })
    }))

  it('is watched again when another one takes its place', () =>
    withDirectory(async (parent) => {
      const folder = join(parent, 'seeds')
      await mkdir(folder)
      await watching([folder], async (change) => {
        await change(() => rm(folder, { recursive: true }))
        await change(() => mkdir(folder))
        await change(() => writeFile(join(folder, 'default.yaml'), 'a'))
      })
    }))
})
