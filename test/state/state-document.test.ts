import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Problem, problemsOf } from '../../src/model/schema/problems.ts'
import {
  environmentSchema,
  type StateDocument,
  stateProblems,
  stateSchema,
} from '../../src/model/schema/state-document.ts'
import {
  COLUMNS,
  type AccountSummary,
  type AccountView,
  SECTION_NAMES,
  type Sections,
} from '../../src/model/domain/generated/tables.ts'
import type { components } from '../../src/model/contract/generated/openapi-types.ts'
import { isStateDocument } from '../../src/model/schema/generated/checks.ts'
import { type Rows, TABLE_NAMES, type TableName } from '../../src/state/model/model.ts'
import type { EnvironmentBasics } from '../../src/state/model/state-image.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import { itemId } from '../../src/model/domain/collection.ts'
import { readImage } from '../../src/state/state-file/read-state.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { withToolmock } from '../support/toolmock.ts'
import { account, createEnvironment, openTestRegistry, withDirectory } from '../support/registry.ts'

/** What is first wrong with a row by the schema of its table. */
function rowProblem(table: 'accounts' | 'connectors', row: unknown): Problem | undefined {
  const { error } = environmentSchema.shape.tables.shape[table].element.safeParse(row)
  return error && problemsOf(error.issues, row)[0]
}

type Fits<A, B> = [A, keyof A] extends [B, keyof B] ? true : false
/** Both types are assignable to each other and have the same keys, including optional ones. */
type Same<A, B> = Fits<A, B> & Fits<B, A>
type EnvironmentDocument = StateDocument['environments'][string]
type TablesDocument = EnvironmentDocument['tables']

/** `true`, or the names of the fields that only one of the two has. */
type SameNames<A, B> = [Exclude<keyof A, keyof B> | Exclude<keyof B, keyof A>] extends [never]
  ? true
  : Exclude<keyof A, keyof B> | Exclude<keyof B, keyof A>
type Answered = components['schemas']

/** The compiler refuses this when the account object of the spec has other fields than the declaration of accounts shows. */
const SHOWN: {
  inLists: SameNames<AccountSummary, Answered['ConnectedAccountSummary']>
  alone: SameNames<AccountView, Answered['ConnectedAccount']>
  withoutCredentials: SameNames<AccountView, Answered['ConnectedAccountDetails']>
} = { inLists: true, alone: true, withoutCredentials: true }

/** The compiler refuses this when the schema and the row types differ. */
const IN_STEP: { [Name in TableName]: Same<TablesDocument[Name][number], Rows[Name]> } & {
  [Name in keyof Sections]: Same<EnvironmentDocument[Name][number], Sections[Name][number]>
} & {
  record: Same<Omit<EnvironmentDocument, 'tables' | keyof Sections>, EnvironmentBasics>
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
  collection_items: true,
  mcp_configs: true,
  mcp_instances: true,
  mcp_keys: true,
  counters: true,
  origins: true,
  scenario_definitions: true,
  scenario_runs: true,
  snapshots: true,
  webhooks: true,
  webhook_deliveries: true,
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
    const { model } = createEnvironment(registry, 'default', { clients: [{ id: 'c', client_secret: 's' }], idSeed: 1 })
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

type AnyRows = Record<TableName | keyof Sections, readonly unknown[]>

/** Rows of every table, and a state file with one of them. */
async function storedRows(): Promise<{ rows: AnyRows; withRow: (table: string, row: unknown) => JsonObject }> {
  let stored: AnyRows | undefined
  let frame: JsonObject = {}
  await withToolmock({}, async ({ environment }) => {
    const { model } = environment
    model.transact(() => {
      for (const credentials of CREDENTIALS) {
        const sequence = model.count('account_sequence')
        const pending = { credentials, token_expires_at: NOW }
        model.tables.accounts.put(account(sequence, { credentials, pending, last_used_at: NOW }))
      }
      const place = { connector: 'mail', collection: 'messages', account_id: 'ca_1' }
      model.tables.collection_items.put({ ...place, id: itemId(place, '1'), sequence: 1, item: { id: 1, to: ['a'] } })
      model.tables.magic_links.put({
        ...{ id: 'l', account_id: 'ca_1', oauth_state: 's', user_verify_url: '', state: null },
        ...{ expires_at: NOW, completed_at: NOW },
      })
      model.tables.auth_requests.put({ id: 'r', account_id: 'a', identifier: 'i', expires_at: NOW, outcome: 'pending' })
      model.tables.authorization_codes.put({
        ...{ id: 'c', connector: 'mail', person: 'p', scopes: ['s'], redirect_uri: 'u', expires_at: NOW },
      })
      model.tables.bearer_tokens.put({ id: 'b', client_id: 'c', expires_at: NOW })
      model.tables.scenario_runs.put({
        ...{
          id: 's',
          running: true,
          started_manually: false,
          started_at: 0,
          state: 'x',
          rules: [{ matched: 1, hits: 0 }],
        },
      })
      model.tables.scenario_definitions.put({
        id: 's',
        scenario: { name: 's', rules: [] } as unknown as Parameters<
          typeof model.tables.scenario_definitions.put
        >[0]['scenario'],
      })
    })
    const { tables, ...image } = environment.stored(false)
    stored = { ...tables, ...image, snapshots: [{ id: 'n', taken_at: NOW, ...environment.image() }] }
    const { settings, clock, ids } = image
    frame = { settings, clock, ids } as unknown as JsonObject
    await Promise.resolve()
  })
  if (!stored) throw new Error('nothing was stored')
  const rows = JSON.parse(JSON.stringify(stored)) as AnyRows
  const empty = (names: readonly string[]): JsonObject => Object.fromEntries(names.map((name) => [name, []]))
  return {
    rows,
    withRow: (table, row) => {
      const tables = empty(TABLE_NAMES)
      const environment = { ...frame, ...empty(SECTION_NAMES), tables }
      const owner: JsonObject = Object.hasOwn(tables, table) ? tables : environment
      owner[table] = [row as JsonObject]
      return { version: 3, state_id: 's', generation: 1, environments: { default: environment } }
    },
  }
}

/** Replaces the value that some steps lead to, or adds a key there. */
function replaceAt(row: unknown, steps: readonly number[], isAdded: boolean, value: unknown): void {
  let inside = row as Record<string, unknown>
  for (const [at, step] of steps.entries()) {
    const keys = Object.keys(inside)
    const key = keys[step % Math.max(1, keys.length)] ?? 'x'
    const next = inside[key]
    const isLast = at === steps.length - 1 || typeof next !== 'object' || next === null
    if (!isLast) inside = next as Record<string, unknown>
    else {
      if (isAdded && !Array.isArray(inside)) inside['extra'] = value ?? null
      else if (value !== undefined) inside[key] = value
      else if (Array.isArray(inside)) inside.splice(Number(key), 1)
      else Reflect.deleteProperty(inside, key)
      return
    }
  }
}

describe('the schema of the state file', () => {
  it('has the types of the rows', () => {
    expect(Object.keys(IN_STEP)).toEqual([...TABLE_NAMES, ...SECTION_NAMES, 'record'])
    expect(Object.keys(SHOWN)).toHaveLength(3)
  })

  it('names the fields of every table in the order in which the server writes them', () => {
    const { tables } = stateSchema.shape.environments.valueType.shape
    const named = Object.entries(tables.shape).map(([name, rows]) => [name, Object.keys(rows.element.shape)])
    expect(named).toEqual(TABLE_NAMES.map((name) => [name, COLUMNS[name]]))
  })

  it('accepts what the server writes', async () => {
    const state = await written()
    expect(stateSchema.safeParse(state).error).toBeUndefined()
    expect(await readImage(() => Promise.resolve(Buffer.from(JSON.stringify(state))), 'state.json')).toEqual(state)
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
  ])('refuses an account with %s', (_, wrong) => {
    expect(rowProblem('accounts', { ...account(1), ...wrong })).toBeDefined()
    expect(rowProblem('accounts', account(1))).toBeUndefined()
  })

  it('accepts and refuses the same rows as the generated check that the start uses, whichever value of a row is damaged', async () => {
    const { rows, withRow } = await storedRows()
    const damage = fc.record({
      table: fc.constantFrom(...[...TABLE_NAMES, ...SECTION_NAMES].filter((name) => rows[name].length > 0)),
      row: fc.nat(),
      steps: fc.array(fc.nat(), { maxLength: 6 }),
      value: fc.constantFrom<unknown>(undefined, null, '', 'x', 0, -1, 0.5, 1e300, true, [], {}, [1], { x: 1 }, NOW),
      isAdded: fc.boolean(),
    })
    fc.assert(
      fc.property(damage, ({ table, row, steps, value, isAdded }) => {
        const all = rows[table]
        const damaged = structuredClone(all[row % all.length])
        replaceAt(damaged, steps, isAdded, value)
        const state = withRow(table, damaged)
        expect([damaged, isStateDocument(state)]).toEqual([damaged, stateProblems(state, stateSchema).length === 0])
      }),
      { numRuns: 500 },
    )
  })

  it('has a JSON Schema', () => {
    const schema = z.toJSONSchema(stateSchema, { io: 'input', unrepresentable: 'any' })
    expect(schema).toMatchObject({
      title: 'The state of toolmock',
      required: ['version', 'state_id', 'generation', 'environments'],
    })
  })
})

type Stored = Record<string, unknown> & { tools: Record<string, unknown>[]; responders: Record<string, unknown>[] }

async function bundledConnectors(): Promise<Stored[]> {
  let rows: Stored[] = []
  await withToolmock({}, async ({ environment }) => {
    rows = structuredClone([...environment.model.tables.connectors.values()]) as unknown as Stored[]
    await Promise.resolve()
  })
  return rows
}

it('a stored connector fits the schema for every bundled connector', async () => {
  const rows = await bundledConnectors()
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) expect(rowProblem('connectors', row)).toBeUndefined()
})

it.each<[string, (row: Stored) => void, (string | number)[]]>([
  [
    'a lifetime that is none',
    (row) => (row['oauth'] = { ...(row['oauth'] as object), access_token_lifetime: '1h' }),
    ['oauth', 'access_token_lifetime'],
  ],
  ['a tool that calls nothing', (row) => (row.tools[0]!['call'] = 5), ['tools', 0, 'call']],
  ['a tool without a schema', (row) => delete row.tools[0]!['input_schema'], ['tools', 0, 'input_schema']],
  ['a responder without answers', (row) => (row.responders[0]!['answers'] = 'x'), ['responders', 0, 'answers']],
  ['a responder with a field too many', (row) => (row.responders[0]!['weight'] = 1), ['responders', 0, 'weight']],
  ['credentials that are not sent', (row) => (row['credentials'] = { fields: [] }), ['credentials', 'send']],
])('a stored connector is refused with %s, and the problem has its path', async (_, damage, path) => {
  const row = (await bundledConnectors()).find(({ tools, responders }) => tools.length > 0 && responders.length > 0)
  if (!row) throw new Error('no bundled connector has a tool and a responder')
  damage(row)
  expect(rowProblem('connectors', row)).toMatchObject({ path })
})
