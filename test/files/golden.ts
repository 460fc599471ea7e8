import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

/**
 * The cases of a file of `problems/`: after `== TITLE` a document, after `--` its problems, one a line. `…` stands for the rest
 * of a line.
 */
export function goldenCases(name: string): [title: string, text: string, problems: string[]][] {
  const cases = readFileSync(new URL(`problems/${name}.txt`, import.meta.url), 'utf8')
    .split(/^== /m)
    .slice(1)
  return cases.map((each) => {
    const [, title = '', text = '', problems = ''] = /^(.*)\n([^]*?)^--\n([^]*)$/m.exec(each) ?? []
    return [title, text, problems.trim().split('\n')]
  })
}

export function expectProblems(messages: readonly string[], problems: readonly string[]): void {
  const asListed = messages.map((message, at) => {
    const start = problems[at]?.replace(/…$/, '') ?? ''
    return start !== problems[at] && message.startsWith(start) ? problems[at] : message
  })
  expect(asListed).toEqual(problems)
}
