import { expect, it } from 'vitest'
import { readArguments } from '../../../src/app/cli/arguments.ts'
import { COMMAND_GROUPS, COMMAND_NAMES, COMMANDS } from '../../../src/app/cli/command-table.ts'
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

it('every command is in one group, and its help has an example that it accepts', () => {
  const names = Object.values(COMMAND_GROUPS).flat()
  expect([...names].sort()).toEqual([...COMMAND_NAMES].sort())
  for (const command of COMMANDS) {
    const [line, effect] = command.example
    expect(commandHelp(command, undefined)).toContain(`Example:\n  npx toolmock ${line}\n    ${effect}\n`)
    const [name, ...words] = line
      .replace(/ >> .*$/, '')
      .replaceAll('"', '')
      .split(' ')
    expect(name).toBe(command.name)
    const [first] = readArguments(command.name, words, { variables: {} }).operands
    const actions = /^ \[?([a-z-]+(?:\|[a-z]+)*)/.exec(command.operands ?? '')?.[1]?.split('|')
    if (actions && first !== undefined) expect(actions).toContain(first)
  }
})

it('the help names commands as one types them in a project that has toolmock installed', () => {
  const texts = [programHelp(undefined), ...COMMANDS.map((command) => commandHelp(command, undefined))]
  for (const text of texts) expect(text).toMatch(/^Usage: npx toolmock /m)
})
