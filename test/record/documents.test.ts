import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { documentText } from '../../src/documents/document-text.ts'
import { parseConnector } from '../../src/documents/read.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { documentsOf } from '../../src/record/documents.ts'
import type { Recorded, RecordedBody } from '../../src/record/recorded.ts'
import { Secrets } from '../../src/record/secrets.ts'

/** A created account of a connector that asks for these fields, as it was recorded. */
function created(details: JsonObject): Recorded {
  const account = { connector: 'vault', identifier: 'ada@example.com' }
  const body = (value: JsonObject): RecordedBody => {
    const bytes = Buffer.from(JSON.stringify(value))
    return { bytes, size: bytes.length }
  }
  const headers = [['content-type', 'application/json']] as const
  const asked = { ...account, connected_account: { authorization_details: { static_auth: { details } } } }
  const answered = { connected_account: { id: 'ca_1', ...account, authorization_type: 'CUSTOM' } }
  return {
    ...{ startedAt: 0, durationMs: 1, method: 'POST', target: '/api/v1/connected_accounts' },
    ...{ requestHeaders: headers, requestBody: body(asked) },
    answer: { status: 201, reason: 'Created', headers, body: body(answered), isTorn: false },
  }
}

it.each([
  [
    { api_key: 'k-1', tenant_id: 't-1' },
    { 'X-API-Key': '{{credentials.api_key}}', 'X-Tenant-Id': '{{credentials.tenant_id}}' },
  ],
  [{}, { 'X-API-Key': '{{credentials.api_key}}' }],
])('a connector of type CUSTOM sends the recorded fields %j in headers of their names', async (details, headers) => {
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  const { connectors } = documentsOf([created(details)], secrets)
  const text = documentText(connectors.get('vault')!, 'recorded')
  const { credentials } = await parseConnector(text, 'vault.yaml', DOCUMENT_CHECKS)
  expect(credentials.send).toEqual({ headers, query: {} })
})
