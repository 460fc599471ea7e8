import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import type { ControlContext } from './context.ts'

/** Notes in the journal of an environment what was changed from outside, in one sentence, with all that it caused. */
export function journalChange(
  { journals, ids, realTime }: Pick<ControlContext, 'journals' | 'ids' | 'realTime'>,
  environment: Environment,
  { kind, sentence, trace }: { kind: 'clock' | 'control'; sentence: string; trace: RequestTrace },
): void {
  journals.of(environment).record({
    kind,
    id: ids.id('req'),
    environment: environment.name,
    at: environment.clock.now(),
    realAt: realTime(),
    durationMs: 0,
    operation: null,
    method: '',
    url: sentence,
    requestHeaders: [],
    requestBody: '',
    status: 200,
    errorCode: null,
    responseHeaders: {},
    responseBody: '',
    client: null,
    trace,
    violations: [],
    warnings: [],
    responseViolations: [],
    failure: null,
  })
}
