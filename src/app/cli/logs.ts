import { jsonText } from '../../model/domain/json.ts'
import { matchesValue } from '../../model/domain/value-match.ts'
import type { JournalEntry } from '../library/types.ts'
import type { Run } from './command.ts'
import { type ControlSession, controlSession } from './control-session.ts'
import { factsOfEntry, requestLine } from './request-line.ts'

/** `logs`, `logs -f`: the latest requests of an environment, and each new one. */
export const logs: Run<'logs'> = async (args, context) => {
  const session = controlSession(args, context)
  const { values, call } = session
  const { operation, status, limit, follow } = values
  // The stream is open before the list is read, so that no entry is missed between the two.
  const events = follow ? await session.events() : undefined
  const { requests } = await call('GET /requests', { query: { operation, status, limit, kind: '*' } })
  const show = (entry: JournalEntry): void => {
    session.out(values.json ? jsonText(entry) : requestLine(factsOfEntry(entry), session.terminal))
  }
  for (const entry of requests) show(entry)
  const isFiltered = operation !== undefined || status !== undefined
  if (requests.length === 0)
    context.err(`toolmock: no request ${isFiltered ? 'matches' : 'yet'} in environment ${values.environment}`)
  if (!events) return 0
  const ids = new Set(requests.map(({ id }) => id))
  for await (const entry of events) {
    if (context.isRead?.() === false) return 0
    if (!ids.delete(entry.id) && isWanted(entry, session)) show(entry)
  }
  context.err('toolmock: the server has ended the stream of requests')
  return 0
}

function isWanted(entry: JournalEntry, { values }: ControlSession<'logs'>): boolean {
  const { operation = '*', status = '*' } = values
  return matchesValue(operation, entry.operation ?? '') && matchesValue(status, String(entry.status))
}
