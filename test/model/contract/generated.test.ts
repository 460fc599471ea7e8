import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findStale, runSteps } from '../../../.build/generate/run.ts'
import type { Step } from '../../../.build/generate/step.ts'

it('runs a step again only when an input or an output changed', async () => {
  await inFolder(async (root) => {
    let runs = 0
    const step = copyStep(() => (runs += 1))
    await writeFile(join(root, 'in.txt'), 'one')
    await runSteps([step], root)
    await runSteps([step], root)
    expect(runs).toBe(1)
    await writeFile(join(root, 'in.txt'), 'two')
    await runSteps([step], root)
    expect(await readFile(join(root, 'out.txt'), 'utf8')).toBe('two')
    await writeFile(join(root, 'out.txt'), 'changed by hand')
    await runSteps([step], root)
    expect(await readFile(join(root, 'out.txt'), 'utf8')).toBe('two')
    expect(runs).toBe(3)
  })
})

it('names the files that are out of date and leaves them alone', async () => {
  await inFolder(async (root) => {
    await writeFile(join(root, 'in.txt'), 'one')
    await writeFile(join(root, 'out.txt'), 'old')
    expect(await findStale([copyStep()], root)).toEqual([join(root, 'out.txt')])
    expect(await readFile(join(root, 'out.txt'), 'utf8')).toBe('old')
  })
})

it.each([
  { everyStep: true, expected: 2 },
  { everyStep: false, expected: 1 },
])('checks a step $expected times when nothing changed, with everyStep $everyStep', async ({ everyStep, expected }) => {
  await inFolder(async (root) => {
    let runs = 0
    for (const name of ['in.txt', 'out.txt']) await writeFile(join(root, name), 'one')
    for (let check = 0; check < 2; check++)
      expect(await findStale([copyStep(() => (runs += 1))], root, everyStep)).toEqual([])
    expect(runs).toBe(expected)
    await writeFile(join(root, 'in.txt'), 'two')
    for (let check = 0; check < 2; check++)
      expect(await findStale([copyStep()], root, everyStep)).toEqual([join(root, 'out.txt')])
  })
})

function copyStep(onRun = (): unknown => undefined): Step {
  return {
    name: 'copy',
    inputs: ['in.txt'],
    outputs: ['out.txt'],
    make: async (root) => {
      onRun()
      return new Map([['out.txt', await readFile(join(root, 'in.txt'), 'utf8')]])
    },
  }
}

async function inFolder(work: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'generate-'))
  try {
    await work(root)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
