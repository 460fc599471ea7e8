import type { VerdictOptions } from '../verdict/verdict-options.ts'
import type { Arguments } from './arguments.ts'
import { UsageError } from './failure.ts'

/** Loads the code that reads them only when there are some: the command waits for it. @throws UsageError */
export async function verdictOptions(
  { values }: Pick<Arguments<'run'> | Arguments<'report'>, 'values'>,
  reasons: ReadonlyMap<string, string> = new Map(),
): Promise<VerdictOptions> {
  const { 'allow-violation': allow, 'fail-on': failOn, 'allow-no-requests': allowNoRequests } = values
  const { 'min-operations': minOperations, 'min-statuses': minStatuses } = values
  if ([allow, failOn, minOperations, minStatuses].every((value) => value === undefined)) {
    return { requireRequests: !allowNoRequests }
  }
  const { readVerdictOptions, VerdictOptionError } = await import('../verdict/verdict-options.ts')
  try {
    return readVerdictOptions({ allow, reasons, failOn, minOperations, minStatuses, allowNoRequests })
  } catch (error) {
    if (!(error instanceof VerdictOptionError)) throw error
    throw new UsageError(`--${FLAGS[error.option]} ${error.found}: expected ${error.expected}.`)
  }
}

const FLAGS = {
  allow: 'allow-violation',
  failOn: 'fail-on',
  minOperations: 'min-operations',
  minStatuses: 'min-statuses',
  allowNoRequests: 'allow-no-requests',
} as const
