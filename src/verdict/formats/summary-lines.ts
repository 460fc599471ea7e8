import { plural } from '../../domain/text.ts'
import type { Tally } from '../../documents/report-schemas.ts'
import type { Verdict } from '../verdict.ts'

/** What there is to say first. Without a request, nothing was kept either. */
export function titleOf({ ok, reasons, requests }: Verdict): string {
  if (!ok) return `the verdict failed for ${plural(reasons.length, 'reason')}`
  return requests === 0 ? 'there is nothing to judge' : 'the contract was kept'
}

/** What came in. */
export function requestsLine({ requests, injected }: Verdict): string {
  if (requests === 0) {
    return 'no operation was called: did the command use TOOLMOCK_URL and the credentials beside it? (--min-operations 1 asks for it)'
  }
  const marked = injected === 0 ? '' : `, ${injected} of them answered or changed by a scenario`
  return `${plural(requests, 'request')}${marked}`
}

/** Each kind of coverage with what was driven of it; they are never added up. */
export function coverageRows({ summary }: Verdict): readonly (readonly [kind: string, tally: Tally])[] {
  return Object.entries(summary).map(([kind, tally]) => [kind.replaceAll('_', ' '), tally])
}
