import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GROUPS, type Page } from '../site/groups.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const README = 'README.md'
const INDEX = 'docs/README.md'
const LESSON = 'docs/getting-started.md'

/**
 * The lists of the guides in the README, which has a line for each group, and in `docs/README.md`; and the functions of the
 * README in the first lesson, because the site does not have the README.
 */
export const groups: Step = {
  name: 'groups of guides',
  inputs: ['.build/site/groups.ts'],
  outputs: [README, INDEX, LESSON],
  make: async (root) =>
    new Map([
      ...(await markedSection(root, README, 'guides', GROUPS.map(({ title, pages }) => line(title, pages)).join('\n'))),
      ...(await markedSection(root, INDEX, 'guides', GROUPS.map(section).join('\n\n'))),
      ...(await markedSection(root, LESSON, 'functions', await functionsOf(root))),
    ]),
}

/** The block of the README that defines functions, up to the first call. */
async function functionsOf(root: string): Promise<string> {
  const text = await readFile(join(root, README), 'utf8')
  const [functions = ''] = /^```sh\nfield\(\).*?^sign_in\n/ms.exec(text) ?? []
  return `${functions}\`\`\``
}

function line(title: string, pages: readonly Page[]): string {
  return `- **${title}**: ${pages.map((each) => `[${each.title}](docs/${each.file})`).join(', ')}`
}

function section({ title, purpose, pages }: (typeof GROUPS)[number]): string {
  return [
    `## ${title}`,
    '',
    `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}.`,
    '',
    ...pages.map((each) => `- [${each.title}](${each.file}): ${each.question}`),
  ].join('\n')
}
