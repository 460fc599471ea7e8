import { type BASES, type REPORT_FORMATS, reportText, runConformance } from '../conform/conformance.ts'
import { StartError } from '../domain/start-error.ts'
import { type Arguments, readArguments } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { CONFORM_FLAGS } from './conform-flags.ts'
import { UsageError } from './usage-error.ts'

type ConformValues = Arguments<typeof CONFORM_FLAGS>['values']

/** Holds an implementation of the service against its contract: 0 when all holds, 1 when something is broken. */
export async function conform(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { variables, out, err, progress } = surroundings
  const { values, rest } = readArguments(CONFORM_FLAGS, argv, variables)
  if (rest.length > 0) throw new UsageError(`conform takes no ${rest.join(' ')}.`)
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const report = await runConformance({
      ...target(values, variables['TOOLMOCK_URL']),
      only: values.only,
      basis: values.basis satisfies (typeof BASES)[number] | undefined,
      connector: values.connector,
      allowProviderChanges: values['allow-provider-changes'],
      controlApi: values.consent === 'control-api',
      adminToken: values['admin-token'],
      progress: progress && ((done, total, id) => progress(`${done}/${total} ${id}`)),
      signal: interrupted.signal,
    })
    progress?.('')
    out(reportText(report, values.format satisfies (typeof REPORT_FORMATS)[number]))
    if (report.leftBehind > 0) err('toolmock: something that the run made could not be removed from the target again')
    if (interrupted.signal.aborted) throw new StartError('the run was interrupted; what it had made was removed')
    return report.summary.broken > 0 ? 1 : 0
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

/** Where the service is and who asks. `start` and `run` give all three as variables. @throws UsageError */
function target(values: ConformValues, url: string | undefined) {
  const baseUrl = values['base-url'] ?? (url === '' ? undefined : url)
  const { 'client-id': id, 'client-secret': secret } = values
  if (baseUrl === undefined) throw new UsageError('conform needs --base-url, or TOOLMOCK_URL.')
  if (!URL.canParse(baseUrl)) throw new UsageError(`TOOLMOCK_URL=${baseUrl} is no URL.`)
  if (id === undefined || secret === undefined) throw new UsageError('conform needs --client-id and --client-secret.')
  return { baseUrl, client: { id, secret } }
}
