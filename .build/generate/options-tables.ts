import { COMMANDS } from '../../src/cli/commands.ts'
import { START_FLAGS } from '../../src/cli/flags.ts'
import { commandTable, flagTable } from '../../src/cli/help.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const README = 'README.md'

/** The README's tables of commands and flags, out of the tables that the command line itself reads by. */
export const optionsTables: Step = {
  name: 'options tables',
  inputs: ['src/cli/commands.ts', 'src/cli/flags.ts', 'src/cli/help.ts'],
  outputs: [README],
  make: (root) =>
    markedSection(root, README, 'flags', `${commandTable(COMMANDS)}\n\n${TOLD}\n\n${flagTable(START_FLAGS)}`),
}

const TOLD =
  'The flags of `start`, each with its variable: a service container takes no flags. A flag wins over its variable; lists are comma-separated in a variable.'
