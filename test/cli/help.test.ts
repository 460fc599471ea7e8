import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { commandHelp, programHelp } from '../../src/cli/help.ts'

it.each([80, 140])('no line of the help is longer than a terminal of %d columns', (columns) => {
  const terminal = { columns, isColoured: false }
  const texts = [programHelp(COMMANDS, terminal), ...COMMANDS.map((command) => commandHelp(command, terminal))]
  const lines = texts.flatMap((text) => text.split('\n'))
  expect(lines.filter((line) => line.length > columns)).toEqual([])
})

it('the help has one line for each command and flag where there is no terminal', () => {
  const lines = programHelp(COMMANDS, undefined).split('\n')
  for (const { name, operands = '', summary } of COMMANDS) {
    expect(lines.some((line) => line.startsWith(`  ${name}${operands} `) && line.endsWith(`  ${summary}`))).toBe(true)
  }
})

it('the help names commands as one types them in a project that has toolmock installed', () => {
  const texts = [programHelp(COMMANDS, undefined), ...COMMANDS.map((command) => commandHelp(command, undefined))]
  for (const text of texts) expect(text).toMatch(/^Usage: npx toolmock /m)
})
