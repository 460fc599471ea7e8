import { join } from 'node:path'

/** The text formatted by Prettier, so that checked-in generated files pass `npm run check:format`. */
export async function pretty(root: string, path: string, text: string): Promise<string> {
  const prettier = await import('prettier')
  const filepath = join(root, path)
  return prettier.format(text, { ...(await prettier.resolveConfig(filepath)), filepath })
}
