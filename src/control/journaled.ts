import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import type { ControlContext } from './context.ts'

/** Notes in the journal of an environment what was changed from outside, in one sentence, with all that it caused. */
export function journalChange(
  { journals, ids }: Pick<ControlContext, 'journals' | 'ids'>,
  environment: Environment,
  { kind, sentence, trace }: { kind: 'clock' | 'control'; sentence: string; trace: RequestTrace },
): void {
  journals.record({ kind, id: ids.id('req'), environment, url: sentence, status: 200, trace })
}
