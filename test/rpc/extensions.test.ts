import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Code } from '@connectrpc/connect'
import { describe, expect, it } from 'vitest'
import { ConnectedAccounts } from '../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, entriesOf, failure, withRpc } from './fixture.ts'

const ARCHIVE = `
extension: archive
collections: { archived: {} }
responders:
  - name: archive
    on: { method: POST, path: '/api/v1/connected_accounts:archive' }
    steps: [{ create: archived, item: { id: '{{request.body.id}}' } }]
    respond: { status: 200, body: {} }
`

describe('a method whose rule names what an extension answers', () => {
  it('is served, with the errors of its steps, and recorded as the extension', async () => {
    await withRpc({}, async ({ folder }) => {
      const file = join(folder, 'archive.yaml')
      await writeFile(file, ARCHIVE)
      await withRpc({ extensions: [file] }, async (mock) => {
        const accounts = clientOf(ConnectedAccounts, mock)
        await accounts.archiveAccount({ id: 'ca_1' }, mock)
        const again = await failure(accounts.archiveAccount({ id: 'ca_1' }, mock))
        expect(again.code).toBe(Code.AlreadyExists)
        const refused = await failure(accounts.archiveAccount({ id: 'ca_2' }))
        expect(refused.code).toBe(Code.Unauthenticated)
        expect(mock.app.methodTable).toContain('archive (POST /api/v1/connected_accounts:archive)')
        expect(entriesOf(mock).map(({ operation, status }) => [operation, status])).toEqual([
          ['archive', 200],
          ['archive', 409],
          ['archive', 401],
        ])
      })
    })
  })

  it('is served once the extension is there, however late', async () => {
    await withRpc({}, async (mock) => {
      const accounts = clientOf(ConnectedAccounts, mock)
      expect((await failure(accounts.archiveAccount({ id: 'ca_1' }, mock))).code).toBe(Code.Unimplemented)
      const headers = { 'content-type': 'application/yaml' }
      const url = `${mock.url}/_mock/extensions/archive`
      expect((await fetch(url, { method: 'PUT', headers, body: ARCHIVE })).status).toBe(200)
      await accounts.archiveAccount({ id: 'ca_1' }, mock)
    })
  })
})
