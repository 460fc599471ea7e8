import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { COMMANDS, flagsOf } from '../../src/app/cli/command-table.ts'
import { validateFiles } from '../../src/files/validate.ts'

const FOLDER = 'skills/toolmock'
const FILES = ['SKILL.md', 'references/failures.md', 'references/verdicts.md']
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')
const texts = FILES.map((file) => [file, textOf(file)] as const)

it('says in its front matter what it is called and when to use it', () => {
  const [, header = ''] = textOf('SKILL.md').split('---\n')
  expect(parse(header)).toEqual({ name: 'toolmock', description: expect.stringMatching(/Use it when/) })
  expect(textOf('SKILL.md').split('\n').length).toBeLessThan(500)
})

it.each(texts)('has valid files in %s', async (_file, text) => {
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => yaml)
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-skill-'))
  try {
    writeFileSync(join(folder, 'mail.yaml'), readFileSync('seeds/connectors/mail.yaml'))
    blocks.forEach((block, at) => writeFileSync(join(folder, `${at}.yaml`), block))
    const { problems, unreadable } = await validateFiles([folder], DOCUMENT_CHECKS)
    expect({ problems, unreadable }).toEqual({ problems: [], unreadable: [] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it.each(texts)('names commands and flags that there are in %s', (_file, text) => {
  for (const [line, name = '', words = ''] of text.matchAll(/npx toolmock ([a-z]+)([^`\n]*)/g)) {
    const command = COMMANDS.find((each) => each.name === name)
    expect(command, line).toBeDefined()
    const [own = ''] = words.split(' -- ')
    const flags = [...own.matchAll(/--([a-z-]+)/g)].map(([, flag = '']) => flag)
    const names = command ? flagsOf(command.name).map((flag) => flag.name) : []
    expect(
      flags.filter((flag) => !names.includes(flag)),
      line,
    ).toEqual([])
  }
})

it('leads to files that there are', () => {
  for (const [, text] of texts)
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)\)/g)) expect(textOf(target)).not.toBe('')
})
