import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import type { StoredEntry } from '../../../src/journal/request-journal/entry.ts'

/** A recorded request: `execute_tool` answered with 200, unless `fields` differ. */
export function recorded(fields: Partial<StoredEntry> = {}): StoredEntry {
  return {
    kind: 'request',
    id: 'req_1',
    environment: 'default',
    at: Date.parse('2026-01-01T00:00:00.000Z'),
    realAt: 0,
    durationMs: 1,
    operation: 'execute_tool',
    protocol: 'http',
    method: 'POST',
    url: '/api/v1/execute_tool',
    requestHeaders: ['Content-Type', 'application/json'],
    requestBody: '',
    isRequestShortened: false,
    status: 200,
    errorCode: null,
    responseHeaders: { 'Content-Type': 'application/json' },
    responseBody: '{}',
    isResponseShortened: false,
    client: 'test_client',
    mcpClient: null,
    trace: new RequestTrace(),
    vocabulary: undefined,
    findings: [],
    checkViolations: [],
    test: undefined,
    webhook: null,
    failure: null,
    ...fields,
  }
}
