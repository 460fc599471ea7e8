import { expect, it } from 'vitest'
import { COMMANDS } from '../../../src/app/cli/command-table.ts'
import { commandHelp, programHelp } from '../../../src/app/cli/help.ts'

it.each([80, 140])('no line of the help is longer than a terminal of %d columns', (columns) => {
  const terminal = { columns, isColoured: false }
  const texts = [programHelp(terminal), ...COMMANDS.map((command) => commandHelp(command, terminal))]
  const lines = texts.flatMap((text) => text.split('\n'))
  expect(lines.filter((line) => line.length > columns)).toEqual([])
})

it('help that is piped wraps at 80 columns too, and has every word of each command', () => {
  const text = programHelp(undefined)
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  const words = text.replaceAll(/\s+/g, ' ')
  for (const { name, operands = '', summary } of COMMANDS) {
    expect(words).toContain(` ${name}${operands} `.replaceAll(/\s+/g, ' '))
    expect(words).toContain(summary)
  }
})

it('the help names commands as one types them in a project that has toolmock installed', () => {
  const texts = [programHelp(undefined), ...COMMANDS.map((command) => commandHelp(command, undefined))]
  for (const text of texts) expect(text).toMatch(/^Usage: npx toolmock /m)
})
