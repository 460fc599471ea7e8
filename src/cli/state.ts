import { repairState } from '../state/state-repair.ts'
import { checkState } from '../state/state-report.ts'
import { type Arguments, readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { chosenAction } from './control-session.ts'
import { UsageError } from './failure.ts'

type StateArguments = Arguments<'state'>
type Action = (file: string, given: StateArguments, context: CommandContext) => Promise<number>

const ACTIONS: Readonly<Record<string, Action>> = { check, repair }

export async function state(argv: readonly string[], context: CommandContext): Promise<number> {
  const given = readArguments('state', argv, context)
  const [name = '', file, ...more] = given.operands
  if (name === '') throw new UsageError(`state needs an action. Actions are ${Object.keys(ACTIONS).join(', ')}.`)
  const action = chosenAction('state', name, ACTIONS)
  if (file === undefined || more.length > 0) throw new UsageError(`state ${name} takes one FILE.`)
  return action(file, given, context)
}

/** 0 when a start would accept the file, 1 when it would refuse it, 2 when there is no file to look at. */
async function check(file: string, { values }: StateArguments, { out, err }: CommandContext): Promise<number> {
  if (values.out !== undefined) throw new UsageError('state check writes nothing: --out belongs to state repair.')
  const report = await checkState(file)
  if (report.kind === 'unreadable') {
    err(`toolmock: ${report.message}`)
    return 2
  }
  if (report.kind === 'refused') {
    out(report.message)
    return 1
  }
  for (const notice of report.notices) out(notice)
  out(`${file}: a valid state file (${report.holds})`)
  return 0
}

/** 0 when everything was saved, 1 when something was left out; throws, for exit code 2, when nothing was written. */
async function repair(file: string, { values }: StateArguments, { out }: CommandContext): Promise<number> {
  const target = values.out
  if (target === undefined) throw new UsageError('state repair needs --out NEW: it never writes into FILE itself.')
  const { saved, leftOut } = await repairState(file, target)
  for (const what of leftOut) out(`left out: ${what}`)
  const lost = leftOut.length === 0 ? 'nothing was lost' : `${leftOut.length} left out or replaced`
  out(`${target}: saved ${saved}; ${lost}`)
  return leftOut.length === 0 ? 0 : 1
}
