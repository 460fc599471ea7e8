import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/documents/load-seeds.ts'
import { CALLS } from '../documents/bundled-calls.ts'
import { withToolmock } from '../support/toolmock.ts'

const { connectors } = await loadSeeds(['bundled'], DOCUMENT_CHECKS)

describe('execute_tool with the bundled connectors', () => {
  it('cover each of the twelve authorization types', () => {
    expect(new Set(connectors.map(({ authorization_type }) => authorization_type)).size).toBe(12)
  })

  it.each(
    connectors
      .map((connector) => [connector.connector, connector.tools.map(({ name }) => name)] as const)
      .filter(([, tools]) => tools.every((name) => Object.hasOwn(CALLS, name))),
  )('%s runs %j', (connector, tools) =>
    withToolmock({ seed: { accounts: [{ connector, identifier: 'ada@example.com' }] } }, async ({ api }) => {
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
    }),
  )
})
