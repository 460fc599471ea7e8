import { isDeepStrictEqual } from 'node:util'
import {
  COMMAND_GROUPS,
  COMMAND_NAMES,
  type CommandName,
  type CommandRow,
  type Flag,
  flagsOf,
  commandRow,
  variableOf,
} from '../../src/app/cli/command-table.ts'
import { defaultOf, flagSpelling } from '../../src/app/cli/help.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const COMMANDS_GUIDE = 'docs/commands.md'

/** The tables of commands and flags, made from the tables that the command line uses. */
export const optionsTables: Step = {
  name: 'options tables',
  inputs: ['src/app/cli/command-table.ts', 'src/app/cli/help.ts'],
  outputs: [COMMANDS_GUIDE],
  make: (root) =>
    markedSection(
      root,
      COMMANDS_GUIDE,
      'flags',
      [
        commandTable(),
        START_TEXT,
        flagTable(flagsOf('start')),
        RUN_TEXT,
        flagTable(RUN_ONLY),
        'The flags of the other commands:',
        otherFlagTable(OTHERS),
      ].join('\n\n'),
    ),
}

const OF_START = flagsOf('start')
const isShared = (flag: Flag): boolean => OF_START.some((other) => isDeepStrictEqual(other, flag))
const SHARED = flagsOf('run').filter(isShared)
const RUN_ONLY = flagsOf('run').filter((flag) => !isShared(flag))
const OTHERS = COMMAND_NAMES.filter((name) => name !== 'start' && name !== 'run')

const START_TEXT =
  'The flags of `start`, each with its variable: a service container takes no flags. A flag wins over its variable; lists are comma-separated in a variable.'

const RUN_TEXT = `\`run\` takes ${SHARED.filter(({ variable }) => variable)
  .map(({ name }) => `\`--${name}\``)
  .join(', ')} as \`start\` does, and:`

function commandTable(): string {
  const rows = Object.entries(COMMAND_GROUPS).flatMap(([group, names]) =>
    names.map((name, at) => {
      const { operands = '', summary }: CommandRow = commandRow(name)
      return tableRow(at === 0 ? group : '', `\`toolmock ${name}${operands}\``, summary)
    }),
  )
  return ['| to | command | does |', '|---|---|---|', ...rows].join('\n')
}

export function flagTable(flags: readonly Flag[]): string {
  const rows = flags.map((flag) => {
    const variable = variableOf(flag)
    return tableRow(`\`${flagSpelling(flag)}\``, variable ? `\`${variable}\`` : '', defaultOf(flag), flag.help)
  })
  return ['| flag | variable | default | what it does |', '|---|---|---|---|', ...rows].join('\n')
}

/** The flags of these commands as a Markdown table, with the commands that have each; without those that all of them have. */
function otherFlagTable(commands: readonly CommandName[]): string {
  const commandsOf = new Map<string, CommandName[]>()
  for (const command of commands)
    for (const key of flagsOf(command).map((flag) => JSON.stringify(flag)))
      commandsOf.set(key, [...(commandsOf.get(key) ?? []), command])
  const rows = [...commandsOf].flatMap(([key, names]) => {
    if (names.length === commands.length) return []
    const flag = JSON.parse(key) as Flag
    const variable = variableOf(flag)
    const shown = [flag.short ? `-${flag.short}, ` : '', flagSpelling(flag)].join('')
    const having = names.map((name) => `\`${name}\``).join(', ')
    return tableRow(`\`${shown}\``, having, variable ? `\`${variable}\`` : '', defaultOf(flag), flag.help)
  })
  return ['| flag | commands | variable | default | what it does |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** A bar ends its cell, in a code span too. */
function tableRow(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
}
