import { readFileSync } from 'node:fs'

/** The code blocks of one section of a document in this repository, without those of its subsections. */
export function codeBlocks(file: string, heading: string, language = 'sh'): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const sections = text.split(/^(?=#{1,3} )/m)
  const section = sections.find((each) => each.slice(0, each.indexOf('\n')).replace(/^#+ /, '') === heading)
  if (section === undefined) throw new Error(`${file} has no section "${heading}"`)
  const blocks = section.matchAll(/^```(?<language>\w+)\n(?<code>.*?)^```$/gms)
  return [...blocks].flatMap(({ groups }) => (groups?.['language'] === language ? [groups['code'] ?? ''] : []))
}

/** The block of a tab: the one after a paragraph that is the bold title of the tab. */
export function tab(file: string, heading: string, title: string): string {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const [, section = ''] = text.split(new RegExp(`^#{1,3} ${heading}\n`, 'm'))
  const [, code] = new RegExp(`^\\*\\*${title}\\*\\*\n\n\`\`\`\\w+\n([^]*?)^\`\`\`$`, 'm').exec(section) ?? []
  if (code === undefined) throw new Error(`${file} has no tab "${title}" in the section "${heading}"`)
  return code
}

/** The subheadings of a section, in order. */
export function subsections(file: string, heading: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const section = text.split(/^(?=## )/m).find((each) => each.startsWith(`## ${heading}\n`)) ?? ''
  return [...section.matchAll(/^### (.*)$/gm)].map(([, title = '']) => title)
}

/** The headings of the sections of a document, in order. */
export function sections(file: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title)
}
