import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Step } from './step.ts'

const HASHES = 'src/model/contract/generated/.hash'

/** Runs the steps whose inputs or outputs changed since they last ran. Returns the files that it wrote. */
export async function runSteps(steps: readonly Step[], root: string): Promise<string[]> {
  const hashes = await readHashes(root)
  const written: string[] = []
  for (const step of steps) {
    if (hashes[step.name] === (await hashOf(step, root))) continue
    const files = await step.make(root)
    for (const [path, content] of files) {
      if (await writeIfChanged(join(root, path), content)) written.push(join(root, path))
    }
    hashes[step.name] = await hashOf(step, root)
  }
  await writeHashes(root, hashes)
  return written
}

/**
 * The files whose content differs from what their step makes of the current inputs.
 * @param everyStep whether it also runs a step whose inputs and outputs are as when it last ran
 */
export async function findStale(steps: readonly Step[], root: string, everyStep = true): Promise<string[]> {
  const hashes = await readHashes(root)
  const stale: string[] = []
  for (const step of steps) {
    const hash = await hashOf(step, root)
    if (!everyStep && hashes[step.name] === hash) continue
    const before = stale.length
    for (const [path, content] of await step.make(root)) {
      if ((await readOrNull(join(root, path))) !== content) stale.push(join(root, path))
    }
    if (stale.length === before) hashes[step.name] = hash
  }
  await writeHashes(root, hashes)
  return stale
}

async function hashOf(step: Step, root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const path of ['.build/generate', ...step.inputs, ...step.outputs]) {
    for (const file of await filesAt(join(root, path))) {
      hash.update(file.slice(root.length)).update('\0')
      hash.update((await readOrNull(file)) ?? '(none)').update('\0')
    }
  }
  return hash.digest('hex')
}

async function filesAt(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(path, entry.name))
  } catch {
    return [path]
  }
}

async function readHashes(root: string): Promise<Record<string, string>> {
  const text = await readOrNull(join(root, HASHES))
  return text === null ? {} : (JSON.parse(text) as Record<string, string>)
}

async function writeHashes(root: string, hashes: Readonly<Record<string, string>>): Promise<void> {
  await writeIfChanged(join(root, HASHES), `${JSON.stringify(hashes, null, 2)}\n`)
}

async function writeIfChanged(file: string, content: string): Promise<boolean> {
  if ((await readOrNull(file)) === content) return false
  await mkdir(dirname(file), { recursive: true })
  // A rename replaces the file as a whole: tests and servers may be reading it.
  const draft = `${file}.${process.pid}.tmp`
  try {
    await writeFile(draft, content)
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
  return true
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return null
  }
}
