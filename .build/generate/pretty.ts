import { join } from 'node:path'

/** The text as `prettier --check` wants it, so that generated files that are checked in pass it. */
export async function pretty(root: string, path: string, text: string): Promise<string> {
  const prettier = await import('prettier')
  const filepath = join(root, path)
  return prettier.format(text, { ...(await prettier.resolveConfig(filepath)), filepath })
}
