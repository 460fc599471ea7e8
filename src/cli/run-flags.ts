import type { Flag } from './flag.ts'
import { COMMON_FLAGS, START_FLAGS } from './flags.ts'
import { LOG_LEVELS } from './log.ts'

type StartFlag = (typeof START_FLAGS)[number]

/** Those of `start` that mean the same for a server that lives as long as a command. */
function ofStart<const Name extends StartFlag['name']>(...names: readonly Name[]) {
  type Chosen = Extract<StartFlag, { name: Name }>
  return START_FLAGS.filter((flag): flag is Chosen => names.some((name) => name === flag.name))
}

export const RUN_FLAGS = [
  {
    name: 'min-operations',
    kind: { type: 'amount' },
    placeholder: 'N|N%',
    variable: true,
    help: 'the verdict fails when fewer operations have answered a success',
  },
  {
    name: 'min-statuses',
    kind: { type: 'amount' },
    placeholder: 'N|N%',
    variable: true,
    help: 'the verdict fails when fewer of the declared statuses have been answered',
  },
  {
    name: 'allow-violation',
    kind: { type: 'list' },
    placeholder: 'OPERATION[:FIELD]',
    variable: true,
    help: 'what is provoked on purpose: of an operation, of one of its fields, or `unknown_path[:/PATH]`',
  },
  {
    name: 'report',
    kind: { type: 'list' },
    placeholder: 'FILE',
    variable: true,
    help: 'the whole report, by the ending of its name: .json, .xml (JUnit), .sarif or .html',
  },
  ...ofStart('seed', 'scenario', 'clock', 'freeze', 'id-seed', 'strict', 'allow-outbound'),
  ...ofStart('tls', 'tls-cert', 'tls-key', 'journal', 'journal-size', 'body-limit'),
  {
    name: 'log-level',
    kind: { type: 'choice', allowed: LOG_LEVELS },
    placeholder: 'L',
    variable: true,
    help: `${LOG_LEVELS.join(', ')}: written at once; without it warnings wait until the command has ended`,
  },
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]
