import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Node's own `recursive` asks again without end where a parent is there and takes nothing, as in /proc. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (await isDirectory(path)) return
    const above = dirname(path)
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!missing || above === path || (await isDirectory(above))) throw error
    await makeDirectory(above)
    await makeDirectory(path)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
