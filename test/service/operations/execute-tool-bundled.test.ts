import { expect } from 'vitest'
import { DOCUMENT_CHECKS } from '../../../src/app/document-checks.ts'
import { loadSeeds } from '../../../src/files/load.ts'
import { CALLS } from '../../files/bundled-calls.ts'
import { it, withToolmock } from '../../support/toolmock.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'

const { connectors } = await loadSeeds(['bundled'], DOCUMENT_CHECKS)

it('execute_tool with the bundled connectors: cover each of the twelve authorization types', () => {
  expect(new Set(connectors.map(({ authorization_type }) => authorization_type)).size).toBe(12)
})

it.for(
  connectors
    .map((connector) => [connector.connector, connector.tools.map(({ name }) => name)] as const)
    .filter(([, tools]) => tools.every((name) => Object.hasOwn(CALLS, name))),
)('execute_tool with the bundled connectors: %s runs %j', async ([connector, tools], { startMock }) => {
  const { api } = await startMock({ seed: { accounts: [{ connector, identifier: 'ada@example.com' }] } })
  for (const tool_name of tools) {
    const call = { connector, identifier: 'ada@example.com', tool_name, tool_input: CALLS[tool_name] ?? {} }
    const answer = await api.post('/execute_tool', call)

    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toEqual({ data: expect.any(Object), execution_id: expect.stringMatching(/^exec_/) })
  }
  const details = await api.get('/connected_accounts/details', { connector, identifier: 'ada@example.com' })
  expect(details.body).toMatchObject({
    connected_account: { status: 'ACTIVE', last_used_at: '2026-01-01T00:00:00.000Z' },
  })
})

it.each<[string, string, JsonObject, readonly string[]]>([
  [
    'calendar',
    'calendar_create_event',
    { title: 'Talk', start: '2031-05-06T10:00:00Z', end: '2031-05-06T11:00:00Z' },
    ['calendar_id', 'location', 'description'],
  ],
  ['calendar', 'calendar_list_events', { limit: 2 }, ['from', 'to', 'calendar_id', 'attendee', 'query', 'page_token']],
  ['crm', 'crm_create_contact', { name: 'Lena', email: 'l@v.example' }, ['phone', 'job_title', 'company_id', 'stage']],
  ['crm', 'crm_list_contacts', { limit: 2 }, ['query', 'stage', 'company_id', 'offset']],
  ['chat', 'chat_post_message', { channel: 'support', text: 'Hello' }, ['thread_id']],
])(
  'null in the input of a bundled tool: %s: %s takes it as if the field were absent, where its schema lists it',
  async (connector, tool_name, input, nullable) => {
    const answers = await Promise.all(
      [input, { ...input, ...Object.fromEntries(nullable.map((name) => [name, null])) }].map(async (tool_input) => {
        let answered: unknown
        const seed = { accounts: [{ connector, identifier: 'ada', status: 'ACTIVE' }] }
        await withToolmock({ seed, idSeed: 1, now: '2030-01-01T00:00:00.000Z' }, async ({ api }) => {
          const { status, body } = await api.post('/execute_tool', {
            connector,
            identifier: 'ada',
            tool_name,
            tool_input,
          })
          const { definition } = ((await api.get('/tools', { 'filter.tool_name': tool_name })).body as ToolList)
            .tools[0]!
          for (const name of nullable) expect(definition.input_schema.properties[name]?.type).toContain('null')
          answered = [status, (body as { data: unknown }).data]
        })
        return answered
      }),
    )
    expect(answers[0]).toEqual([200, expect.anything()])
    expect(answers[1]).toEqual(answers[0])
  },
)

interface ToolList {
  tools: { definition: { input_schema: { properties: Record<string, { type: string | string[] }> } } }[]
}
