import { BASE_URL_RULE, isBaseUrl } from '../domain/base-url.ts'
import type { BASES } from '../conform/check.ts'
import { type REPORT_FORMATS, reportText } from '../conform/report-formats.ts'
import { prismValidator } from '../conform/response-validator.ts'
import { conform as runConformance } from '../conform/run.ts'
import { StartError } from '../domain/start-error.ts'
import { RandomIds } from '../state/model/time-and-ids.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { UsageError } from './failure.ts'
import type { FlagValues } from './flags.ts'
import { StopRequest } from './stop.ts'

/** Checks an implementation of the service against its contract: 0 when every check holds, 1 when one is broken. */
export async function conform(argv: readonly string[], context: CommandContext): Promise<number> {
  const { variables, out, err, progress } = context
  const { values, operands } = readArguments('conform', argv, context)
  if (operands.length > 0) throw new UsageError(`conform takes no ${operands.join(' ')}.`)
  using stop = new StopRequest()
  const report = await runConformance({
    ...target(values, variables['TOOLMOCK_URL']),
    prefix: `conform-${new RandomIds().id('x').slice(2, 12)}`,
    validator: await prismValidator(),
    only: values.only,
    basis: values.basis satisfies (typeof BASES)[number] | undefined,
    connector: values.connector,
    allowProviderChanges: values['allow-provider-changes'],
    controlApi: values.consent === 'control-api',
    adminToken: values['admin-token'],
    progress: progress && ((done, total, id) => progress(`${done}/${total} ${id}`)),
    signal: stop.signal,
  })
  progress?.('')
  out(reportText(report, values.format satisfies (typeof REPORT_FORMATS)[number]))
  if (report.leftBehind > 0) err('toolmock: the run could not remove everything that it created at the target')
  if (stop.signal.aborted) throw new StartError('the run was interrupted; what it had created was removed')
  return report.summary.broken > 0 ? 1 : 0
}

/** The service and the client credentials. `start` and `run` provide all three as variables. @throws UsageError */
function target(values: FlagValues<'conform'>, url: string | undefined) {
  const baseUrl = values['base-url'] ?? (url === '' ? undefined : url)
  const { 'client-id': id, 'client-secret': secret } = values
  if (baseUrl === undefined) throw new UsageError('conform needs --base-url, or TOOLMOCK_URL.')
  if (!isBaseUrl(baseUrl)) throw new UsageError(`TOOLMOCK_URL=${baseUrl}: expected ${BASE_URL_RULE}.`)
  if (id === undefined || secret === undefined) throw new UsageError('conform needs --client-id and --client-secret.')
  return { baseUrl, client: { id, secret } }
}
