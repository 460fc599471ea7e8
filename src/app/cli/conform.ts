import { conformReportText } from '../../compare/conform/report-formats.ts'
import { checkConformance as runConformance } from '../../compare/conform/run.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import type { Run } from './command.ts'
import { serviceOf } from './service.ts'
import { StopRequest } from './stop.ts'

/** Checks an implementation of the service against its contract: 0 when every check holds, 1 when one is broken. */
export const conformCommand: Run<'conform'> = async ({ values }, context) => {
  const { out, err, progress } = context
  using stop = new StopRequest()
  const report = await runConformance({
    ...serviceOf('conform', context, values),
    prefix: `conform-${new RandomIds().id('x').slice(2, 12)}`,
    only: values.only,
    basis: values.basis,
    connector: values.connector,
    allowProviderChanges: values['allow-provider-changes'],
    controlApi: values.consent === 'control-api',
    adminToken: values['admin-token'],
    progress: progress && ((done, total, id) => progress(`${done}/${total} ${id}`)),
    signal: stop.signal,
  })
  progress?.('')
  out(conformReportText(report, values.format))
  if (report.leftBehind > 0) err('toolmock: the run could not remove everything that it created at the target')
  if (stop.signal.aborted) throw new StartError('the run was interrupted; what it had created was removed')
  return report.summary.broken > 0 ? 1 : 0
}
