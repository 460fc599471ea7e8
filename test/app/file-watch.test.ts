import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileWatch } from '../../src/app/file-watch.ts'
import { withDirectory } from '../support/registry.ts'

/** Runs `work` with `change`, which runs an action and waits until the watch reports a change. */
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
  it('reports when it is written, replaced by another file, and created again after a delete', () =>
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
  it('reports changes in a subfolder that is created later', () =>
    withDirectory(async (folder) => {
      await watching([folder], async (change) => {
        await change(() => mkdir(join(folder, 'connectors')))
        await change(() => writeFile(join(folder, 'connectors/mail.yaml'), 'a'))
        await change(() => writeFile(join(folder, 'connectors/mail.yaml'), 'b'))
      })
    }))

  it('is watched again after another folder replaces it', () =>
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
