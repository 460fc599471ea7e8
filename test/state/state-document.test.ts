import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type StateDocument, stateSchema } from '../../src/documents/state-document.ts'
import type { Rows, TableName } from '../../src/state/model/model.ts'
import { TABLE_NAMES } from '../../src/state/model/model.ts'
import { fieldNames, rowShape } from '../../src/state/state-file/row-shapes.ts'
import type { EnvironmentRecord } from '../../src/state/model/state-image.ts'
import { parseState } from '../../src/state/state-file/state-check.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { account, openTestRegistry, withDirectory } from '../support/worlds.ts'

type Fits<A, B> = [A, keyof A] extends [B, keyof B] ? true : false
/** Each fits the other and has the same keys, optional ones too. */
type Same<A, B> = Fits<A, B> & Fits<B, A>
type EnvironmentDocument = StateDocument['environments'][string]
type TablesDocument = EnvironmentDocument['tables']

/** The compiler refuses this file when the schema and the row types part. */
const IN_STEP: { [Name in TableName]: Same<TablesDocument[Name][number], Rows[Name]> } & {
  record: Same<Omit<EnvironmentDocument, 'tables'>, EnvironmentRecord>
} = {
  clients: true,
  bearer_tokens: true,
  connections: true,
  providers: true,
  connectors: true,
  accounts: true,
  magic_links: true,
  auth_requests: true,
  grants: true,
  authorization_codes: true,
  counters: true,
  record: true,
}

const NOW = '2026-01-01T00:00:00.000Z'
const CREDENTIALS = [
  {},
  { oauth_token: { access_token: 'a', refresh_token: '', scopes: ['s'], domain: '' } },
  { static_auth: { details: { key: [1, null] } } },
  { workspace_dwd: { subject: 's', access_token: 'a', scopes: [], token_expires_at: NOW } },
  { trusted_idp: { db_user: 'u', access_key_id: 'k', secret_access_key: 's', session_token: 't', expiry: NOW } },
]

async function written(): Promise<unknown> {
  return withDirectory(async (directory) => {
    const disk = new MemoryDisk()
    const file = join(directory, 'state.json')
    const registry = await openTestRegistry({ file, fileSystem: disk })
    const { model } = registry.create('default', { clients: [{ id: 'c', client_secret: 's' }], idSeed: 1 })
    model.transact(() => {
      for (const credentials of CREDENTIALS) {
        const sequence = model.count('account_sequence')
        const pending = { credentials, token_expires_at: NOW }
        model.tables.accounts.put(account(sequence, { credentials, pending, last_used_at: NOW, token_expires_at: NOW }))
      }
    })
    await registry.close()
    return JSON.parse((disk.file(file) ?? Buffer.alloc(0)).toString('utf8')) as unknown
  })
}

describe('the schema of the state file', () => {
  it('is in step with the types of the rows', () => {
    expect(Object.keys(IN_STEP)).toEqual([...TABLE_NAMES, 'record'])
  })

  it('names the fields of every table in the order in which the server writes them', () => {
    const { tables } = stateSchema.shape.environments.valueType.shape
    const named = Object.entries(tables.shape).map(([name, rows]) => [name, Object.keys(rows.element.shape)])
    expect(named).toEqual(TABLE_NAMES.map((name) => [name, fieldNames(name)]))
  })

  it('takes what the server writes, and so does the server', async () => {
    const state = await written()
    expect(stateSchema.safeParse(state).error).toBeUndefined()
    expect(parseState(Buffer.from(JSON.stringify(state)), 'state.json')).toEqual(state)
  })

  it.each([
    ['a field too many', { colour: 1 }],
    ['an unknown status', { status: 'GONE' }],
    ['no identifier', { identifier: undefined }],
    ['a number as id', { id: 1 }],
    ['half a sequence', { sequence: 0.5 }],
    ['an instant of another form', { updated_at: '2026-01-01' }],
    ['an instant that no clock shows', { updated_at: '2026-01-01T24:00:00.000Z' }],
    ['an instant of no month', { updated_at: '2026-13-01T00:00:00.000Z' }],
    ['credentials of another form', { credentials: { oauth_token: {} } }],
    ['an array as settings', { api_config: [] }],
  ])('refuses an account with %s, and so does the server', (_, wrong) => {
    const row = { ...account(1), ...wrong }
    const { accounts } = stateSchema.shape.environments.valueType.shape.tables.shape
    expect([accounts.safeParse([row]).success, rowShape('accounts')(row) === undefined]).toEqual([false, false])
    expect([accounts.safeParse([account(1)]).success, rowShape('accounts')(account(1))]).toEqual([true, undefined])
  })

  it('has a JSON Schema', () => {
    const schema = z.toJSONSchema(stateSchema, { io: 'input', unrepresentable: 'any' })
    expect(schema).toMatchObject({ title: 'The state of toolmock', required: ['version', 'environments'] })
  })
})
