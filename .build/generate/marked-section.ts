import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pretty } from './pretty.ts'

/**
 * A Markdown file with the part between `<!-- NAME:start -->` and `<!-- NAME:end -->` replaced. The map is empty when the file
 * or its markers do not exist.
 */
export async function markedSection(
  root: string,
  path: string,
  name: string,
  markdown: string,
): Promise<Map<string, string>> {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const text = await readFile(join(root, path), 'utf8').catch(() => '')
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) return new Map()
  const section = (await pretty(root, path, markdown)).trim()
  return new Map([[path, `${text.slice(0, from + start.length)}\n\n${section}\n\n${text.slice(to)}`]])
}
