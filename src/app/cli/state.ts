import { isDatabaseUrl } from '../options.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { checkState } from '../../state/state-report.ts'
import type { Arguments } from './arguments.ts'
import type { CommandContext, Run } from './command.ts'
import { chosenAction } from './control-session.ts'
import { UsageError } from './failure.ts'
import { checkSchema } from './server-options.ts'

type StateArguments = Arguments<'state'>
type Action = (file: string, args: StateArguments, context: CommandContext) => Promise<number>

const ACTIONS: Readonly<Record<string, Action>> = { check: checkFile, export: exportFrom, import: importFrom }

export const state: Run<'state'> = async (args, context) => {
  const [name = '', file, ...more] = args.operands
  if (name === '') throw new UsageError(`state needs an action. Actions are ${Object.keys(ACTIONS).join(', ')}.`)
  const action = chosenAction('state', name, ACTIONS)
  const place = file ?? (name === 'export' ? databaseOf(undefined, context) : undefined)
  if (place === undefined || more.length > 0) {
    throw new UsageError(`state ${name} takes one ${name === 'export' ? 'postgres://… URL' : 'FILE'}.`)
  }
  if (name !== 'export' && isDatabaseUrl(place)) {
    throw new UsageError(
      `state ${name} takes a file, and this is a database: npx toolmock state export URL --out FILE copies its state into one.`,
    )
  }
  return action(place, args, context)
}

/** 0 when a start would accept the file, 1 when it would refuse it, 2 when there is no file to look at. */
async function checkFile(file: string, { values }: StateArguments, { out }: CommandContext): Promise<number> {
  if (values.out !== undefined)
    throw new UsageError('state check writes nothing: --out belongs to state export and import.')
  const report = await checkState(file)
  if (report.kind === 'unreadable') throw new StartError(report.message)
  if (report.kind === 'refused') {
    out(report.message)
    return 1
  }
  for (const notice of report.notices) out(notice)
  out(`${file}: a valid state file (${report.holds})`)
  return 0
}

/** 0 when the state of a database was written into a new file; throws, for exit code 2, when nothing was written. */
async function exportFrom(destination: string, { values }: StateArguments, context: CommandContext): Promise<number> {
  const url = databaseOf(destination, context)
  const { out: target, 'state-schema': schema } = values
  if (url === undefined) throw new UsageError(`state export takes the URL of a database, postgres://…`)
  if (target === undefined) throw new UsageError('state export needs --out NEW, the file to write.')
  checkSchema(schema)
  const { exportState } = await import('../../servers/replicas/transfer.ts')
  context.out(`${target}: exported ${await exportState(url, schema, target)}`)
  return 0
}

/** 0 when a state file was written into a database; throws, for exit code 2, when nothing was written. */
async function importFrom(file: string, { values }: StateArguments, context: CommandContext): Promise<number> {
  const url = databaseOf(values.out, context)
  const { 'state-schema': schema } = values
  if (url === undefined)
    throw new UsageError('state import needs --out URL of a database, postgres://…, or TOOLMOCK_STATE.')
  checkSchema(schema)
  const { importState } = await import('../../servers/replicas/transfer.ts')
  context.out(`${file}: imported ${await importState(file, url, schema)}`)
  return 0
}

/** A URL with a password is better given by the variable than in the list of processes. */
function databaseOf(databaseUrl: string | undefined, { variables }: CommandContext): string | undefined {
  const url = databaseUrl ?? variables['TOOLMOCK_STATE']
  return isDatabaseUrl(url) ? url : undefined
}
