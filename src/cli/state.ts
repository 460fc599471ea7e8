import { nearest } from '../domain/suggestion.ts'
import { repairState } from '../state/state-repair.ts'
import { checkState } from '../state/state-report.ts'
import { type Arguments, readArguments } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { STATE_FLAGS } from './flags.ts'
import { UsageError } from './usage-error.ts'

type StateArguments = Arguments<typeof STATE_FLAGS>
type Action = (file: string, given: StateArguments, surroundings: Surroundings) => Promise<number>

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['check', check],
  ['repair', repair],
])

/** `state check FILE` and `state repair FILE --out NEW`. */
export async function state(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const given = readArguments(STATE_FLAGS, argv, surroundings.variables)
  const [name = '', file, ...more] = given.rest
  const action = ACTIONS.get(name)
  if (!action) {
    const meant = nearest(name, [...ACTIONS.keys()])
    const found = name === '' ? 'state needs an action' : `state ${name} is not known`
    throw new UsageError(
      `${found}. ${meant === undefined ? 'Actions are check and repair.' : `Did you mean ${meant}?`}`,
    )
  }
  if (file === undefined || more.length > 0) throw new UsageError(`state ${name} takes one FILE.`)
  return action(file, given, surroundings)
}

/** 0 when a start would take the file, 1 when it would refuse it, 2 when there is nothing that can be looked at. */
async function check(file: string, { values }: StateArguments, { out, err }: Surroundings): Promise<number> {
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
  out(`${file}: a sound state file (${report.holds})`)
  return 0
}

/** 0 when everything was saved, 1 when something had to be left out, 2 (by what is thrown) when nothing was written. */
async function repair(file: string, { values }: StateArguments, { out }: Surroundings): Promise<number> {
  const target = values.out
  if (target === undefined) throw new UsageError('state repair needs --out NEW: it never writes into FILE itself.')
  const { saved, leftOut } = await repairState(file, target)
  for (const what of leftOut) out(`left out: ${what}`)
  out(
    `${target}: saved ${saved}; ${leftOut.length === 0 ? 'nothing was lost' : `${leftOut.length} left out or replaced`}`,
  )
  return leftOut.length === 0 ? 0 : 1
}
