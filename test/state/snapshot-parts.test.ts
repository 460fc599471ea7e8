import { describe, expect, it } from 'vitest'
import { readInParts } from '../../src/state/state-file/snapshot-parts.ts'
import { parseState } from '../../src/state/state-file/state-check.ts'
import { account, openTestRegistry } from '../support/worlds.ts'

/** A state that is large enough to be read in parts, with content that looks like its layout. */
async function largeState(): Promise<unknown> {
  const registry = await openTestRegistry()
  const trap = {
    tables: { clients: [{ id: 'x' }] },
    text: '\n        ]\n          },\n        "clients": [\n          {',
  }
  for (const name of ['one', 'two']) {
    const { model } = registry.create(name, { clients: [{ id: `client_${name}`, client_secret: 's' }] })
    model.transact(() => {
      for (let each = 0; each < 6000; each++) {
        const sequence = model.count('account_sequence')
        model.tables.accounts.put(account(sequence, { api_config: trap, identifier: each % 7 ? 'ascii' : 'ä 漢 😀' }))
      }
    })
  }
  return JSON.parse(JSON.stringify(registry.image()))
}

describe('a large state file', () => {
  it('is the same read in parts as read at once', async () => {
    const state = await largeState()
    const bytes = Buffer.from(`${JSON.stringify(state, null, 2)}\n`)
    expect(readInParts(bytes)?.state).toEqual(state)
  })

  it('laid out in another way is read all the same', async () => {
    const state = await largeState()
    for (const layout of [undefined, 1, 3, 4, '\t']) {
      expect(parseState(Buffer.from(JSON.stringify(state, null, layout)), 'state.json')).toEqual(state)
    }
  })

  it('that is damaged inside a row is refused with line and column', async () => {
    const text = JSON.stringify(await largeState(), null, 2)
    const at = text.lastIndexOf('"identifier"')
    const line = text.slice(0, at).split('\n').length
    expect(() => parseState(Buffer.from(`${text.slice(0, at)}${text.slice(at + 1)}`), 'state.json')).toThrow(
      `state.json:${line}:13: it is not JSON: unexpected "i"`,
    )
  })
})
