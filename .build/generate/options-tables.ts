import { isDeepStrictEqual } from 'node:util'
import { COMMAND_NAMES, type Flag, flagsOf } from '../../src/cli/command-table.ts'
import { commandTable, flagTable, otherFlagTable } from '../../src/cli/help.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const COMMANDS_GUIDE = 'docs/commands.md'

/** The tables of commands and flags, made from the tables that the command line uses. */
export const optionsTables: Step = {
  name: 'options tables',
  inputs: ['src/cli/command-table.ts', 'src/cli/help.ts'],
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
