import { describe, expect, it } from 'vitest'
import { rowShape } from '../../src/state/state-file/row-shapes.ts'
import { withToolmock } from '../support/toolmock.ts'

type Stored = Record<string, unknown> & { tools: Record<string, unknown>[]; responders: Record<string, unknown>[] }

async function bundled(): Promise<Stored[]> {
  let rows: Stored[] = []
  await withToolmock({}, async ({ environment }) => {
    rows = structuredClone([...environment.model.tables.connectors.values()]) as unknown as Stored[]
    await Promise.resolve()
  })
  return rows
}

describe('the shape of a stored connector', () => {
  it('is that of every bundled one', async () => {
    const rows = await bundled()
    expect(rows.length).toBeGreaterThan(10)
    for (const row of rows) expect(rowShape('connectors')(row)).toBeUndefined()
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
  ])('refuses %s, and says where', async (_, damage, path) => {
    const row = (await bundled()).find(({ tools, responders }) => tools.length > 0 && responders.length > 0)
    if (!row) throw new Error('no bundled connector has a tool and a responder')
    damage(row)
    expect(rowShape('connectors')(row)).toMatchObject({ path })
  })
})
