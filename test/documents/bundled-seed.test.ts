import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DOCUMENT_CHECKS } from '../../src/document-checks.ts'
import { jsonSchemas } from '../../src/documents/json-schemas.ts'
import { bundledSeedFolder, loadSeeds } from '../../src/documents/load-seeds.ts'
import { textFiles } from '../../src/documents/seed-files.ts'
import { validateFiles } from '../../src/documents/validate.ts'
import { AUTHORIZATION_TYPES, TRAITS } from '../../src/domain/authorization-type.ts'
import { isJsonObject } from '../../src/domain/json.ts'

const bundle = await loadSeeds(['bundled'], DOCUMENT_CHECKS)

/** One call of each bundled tool that its input schema takes. */
const CALLS: Record<string, object> = {
  mail_send_message: { to: 'grace@example.com', subject: 'Hello' },
  mail_list_messages: { folder: 'inbox', limit: 10 },
  mail_get_message: { message_id: 'msg_1' },
  weather_get_current: { city: 'Lisbon', units: 'metric' },
  weather_get_forecast: { city: 'Lisbon', days: 3 },
  helpdesk_create_ticket: { subject: 'Printer', requester: 'ada@example.com', priority: 'high' },
  helpdesk_list_tickets: { status: 'open' },
  helpdesk_solve_ticket: { ticket_id: 1001 },
  code_list_repositories: { visibility: 'public' },
  code_create_issue: { repository: 'website', title: 'Broken link', labels: ['bug'] },
  payments_list_charges: { limit: 5 },
  payments_create_refund: { charge_id: 'ch_1003', amount: 100, reason: 'duplicate' },
  inventory_get_item: { sku: 'A-1' },
  inventory_adjust_stock: { sku: 'A-1', change: -2 },
  ledger_get_balance: { ledger_account: '1200' },
  ledger_create_invoice: { customer: 'Acme', lines: [{ text: 'Advice', amount: 99.5 }] },
  tracker_create_issue: { project: 'APP', summary: 'Crash', type: 'bug' },
  tracker_search_issues: { text: 'login' },
  tracker_move_issue: { key: 'APP-101', to: 'done' },
  workspace_list_events: { day: '2026-01-31' },
  workspace_create_event: { title: 'Lunch', start: '2026-01-31T12:00:00Z', end: '2026-01-31T13:00:00Z' },
  workspace_find_person: { name: 'Ada' },
  warehouse_run_query: { sql: 'SELECT 1', limit: 10 },
  warehouse_list_tables: { schema: 'public' },
  clinic_get_patient: { patient_id: 'p1' },
  clinic_list_observations: { patient_id: 'p1', code: 'heart-rate' },
  encyclopedia_search: { words: 'bridge', limit: 5 },
  encyclopedia_get_article: { title: 'Bridge' },
}

describe('the bundled seed', () => {
  it('is valid', async () => {
    expect(await validateFiles([bundledSeedFolder()], DOCUMENT_CHECKS)).toMatchObject({ problems: [], unreadable: [] })
  })

  it('has one connector for each authorization type, in the order of the enumeration', () => {
    expect(bundle.connectors.map((connector) => connector.authorization_type)).toEqual(AUTHORIZATION_TYPES)
    expect(bundle.connectors[0]?.connector).toBe('mail')
  })

  it('has one OIDC and one SAML connection, no accounts, and the default client', () => {
    expect(bundle.connections.map((connection) => connection.type)).toEqual(['OIDC', 'SAML'])
    expect(bundle.accounts).toEqual([])
    expect(bundle.generate).toEqual([])
    expect(bundle.clients).toEqual([{ id: 'test_client', client_secret: 'test_secret' }])
  })

  it.each(bundle.connectors.map((connector) => [connector.connector, connector] as const))(
    '%s has tools that something answers, an answer that is an error, and people where consent is asked for',
    (_name, connector) => {
      expect(connector.tools.length).toBeGreaterThanOrEqual(connector.connector === 'mail' ? 3 : 2)
      const statuses = connector.responders.flatMap((responder) => responder.answers.map((answer) => answer.status))
      expect(statuses.some((status) => status >= 400)).toBe(true)
      expect(statuses.some((status) => status < 300)).toBe(true)
      expect(connector.people.length > 0).toBe(TRAITS[connector.authorization_type].source === 'consent')
      expect(connector.description).not.toBe('')
    },
  )

  it.each(bundle.connectors.flatMap((connector) => connector.tools.map((tool) => [tool.name, tool] as const)))(
    '%s takes a believable input and refuses one with a field of the wrong type',
    (name, tool) => {
      const validate = addFormats.default(new Ajv2020({ strict: true, allErrors: true })).compile(tool.input_schema)
      expect([validate(CALLS[name]), validate.errors]).toEqual([true, null])
      const wrong = Object.fromEntries(Object.keys(CALLS[name] ?? {}).map((field) => [field, { is: 'wrong' }]))
      expect(validate(wrong)).toBe(false)
      expect(tool.description).not.toBe('')
    },
  )

  it('has tool names that no other connector has', () => {
    const names = bundle.connectors.flatMap((connector) => connector.tools.map((tool) => tool.name))
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(CALLS).sort()).toEqual([...names].sort())
  })
})

describe('the JSON Schemas of the documents', () => {
  it('take every bundled file and refuse an unknown key in it', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
    const { seed = {}, connector = {} } = jsonSchemas()
    const validators = { seed: ajv.compile(seed), connector: ajv.compile(connector) }
    for (const { file, text } of await textFiles(bundledSeedFolder())) {
      const document: unknown = parse(text)
      const validate = isJsonObject(document) && 'connector' in document ? validators.connector : validators.seed
      expect([file, validate(document), validate.errors]).toEqual([file, true, null])
      expect([file, validate({ ...(document as object), surprise: 1 })]).toEqual([file, false])
    }
  })

  it('are what spec/schemas holds', async () => {
    for (const [name, schema] of Object.entries(jsonSchemas())) {
      const file = join(bundledSeedFolder(), '..', 'spec', 'schemas', `${name}.schema.json`)
      expect([name, JSON.parse(await readFile(file, 'utf8'))]).toEqual([name, JSON.parse(JSON.stringify(schema))])
    }
  })
})
