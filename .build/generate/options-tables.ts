import { COMMANDS } from '../../src/cli/commands.ts'
import type { Flag } from '../../src/cli/flag.ts'
import { COMMON_FLAGS, START_FLAGS } from '../../src/cli/flags.ts'
import { commandTable, flagTable } from '../../src/cli/help.ts'
import { RUN_FLAGS } from '../../src/cli/run-flags.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const README = 'README.md'

/** The README's tables of commands and flags, out of the tables that the command line itself reads by. */
export const optionsTables: Step = {
  name: 'options tables',
  inputs: ['src/cli/commands.ts', 'src/cli/flags.ts', 'src/cli/run-flags.ts', 'src/cli/help.ts'],
  outputs: [README],
  make: (root) =>
    markedSection(
      root,
      README,
      'flags',
      [commandTable(COMMANDS), TOLD, flagTable(START_FLAGS), TOLD_OF_RUN, flagTable(OWN_OF_RUN)].join('\n\n'),
    ),
}

const OF_START: readonly Flag[] = START_FLAGS
const OF_ALL: readonly Flag[] = COMMON_FLAGS
const OWN_OF_RUN = RUN_FLAGS.filter((flag) => !OF_START.includes(flag))
const OF_BOTH = RUN_FLAGS.filter((flag) => OF_START.includes(flag) && !OF_ALL.includes(flag))

const TOLD =
  'The flags of `start`, each with its variable: a service container takes no flags. A flag wins over its variable; lists are comma-separated in a variable.'

const TOLD_OF_RUN = `\`run\` takes ${OF_BOTH.map(({ name }) => `\`--${name}\``).join(', ')} as \`start\` does, and:`
