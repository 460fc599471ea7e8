import type { ObservedExchange } from '../contract/observed-exchange.ts'
import { ServiceError, TokenError } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import type { Corridor } from './step.ts'
import type { Exchange } from './exchange.ts'
import type { JournalEntry } from './journal.ts'
import { queryOf } from './request-contract.ts'

/** The journal's entry of this request, and whoever observes the corridor. */
export function record(exchange: Exchange, corridor: Corridor): void {
  corridor.journal(exchange.environment).record(entryOf(exchange, corridor))
  corridor.observe?.(observed(exchange))
}

function entryOf(exchange: Exchange, { realTime }: Corridor): JournalEntry {
  const { request, route, notes, environment, startedAt, checked, error } = exchange
  const ended = realTime()
  return {
    id: exchange.requestId,
    at: instant(environment ? environment.clock.now() : ended),
    real_at: instant(ended),
    duration_ms: ended - startedAt,
    method: request.method,
    path: request.originalUrl,
    operation: route.operation,
    status: exchange.reply?.status ?? 500,
    error_code: error === undefined ? null : codeOf(error),
    client_id: exchange.client?.id ?? null,
    account_id: notes.account_id ?? null,
    execution_id: notes.execution_id ?? null,
    agent_run_id: notes.agent_run_id ?? null,
    violations: checked?.violations ?? [],
    warnings: [
      ...(checked?.warnings ?? []),
      ...notes.warnings.map((warning) => ({ ...warning, kind: 'ignored' as const })),
    ],
    response_violations: exchange.responseViolations,
  }
}

function codeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.errorCode
  return error instanceof TokenError ? error.error : 'INTERNAL'
}

function observed({
  request,
  route,
  rawBody,
  reply,
  requestId,
  checked,
  responseViolations,
}: Exchange): ObservedExchange {
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) sent[name] = String(value)
  const answered = Object.entries(reply?.headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ])
  const json: [string, string][] = reply?.body === undefined ? [] : [['content-type', 'application/json']]
  return {
    operation: route.operation,
    request: {
      method: request.method,
      path: request.originalUrl.split('?', 1).join(),
      query: queryOf(request.originalUrl),
      headers: sent,
      body: rawBody.toString(),
    },
    requestViolations: checked?.violations,
    response: {
      status: reply?.status ?? 500,
      headers: Object.fromEntries([['x-request-id', requestId], ...json, ...answered]),
      body: reply?.body === undefined ? undefined : JSON.parse(JSON.stringify(reply.body)),
    },
    responseViolations,
  }
}
