import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AccountTexts } from '../../src/state/state-file/account-texts.ts'
import { RowReader } from '../../src/state/state-file/row-reader.ts'
import { rowShape } from '../../src/state/state-file/row-shapes.ts'
import { account } from '../support/worlds.ts'

const text = fc.oneof(
  fc.constantFrom('', 'a', 'mail', 'same', '",', '\\', '\\u0041', '\u007f', 'ä漢😀', '\n          }', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const instant = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z')
const object = fc.dictionary(fc.constantFrom('a', '__proto__', 'b c', 'ö', '0'), fc.oneof(text, fc.jsonValue()), {
  maxKeys: 3,
})
const token = fc.record({
  access_token: text,
  refresh_token: text,
  scopes: fc.array(text, { maxLength: 2 }),
  domain: text,
})
const row = fc.record(
  {
    sequence: fc.oneof(fc.nat(), fc.maxSafeInteger()),
    user_id: text,
    identifier: text,
    status: fc.constantFrom('ACTIVE', 'EXPIRED'),
    token_expires_at: instant,
    last_used_at: instant,
    updated_at: instant,
    api_config: object,
    credentials: fc.oneof(
      fc.record({ oauth_token: token }),
      fc.record({ static_auth: fc.record({ details: object }) }),
      fc.constant({}),
    ),
  },
  { requiredKeys: [] },
)
/** Rows as a state file has them, and more: with kinds that come again, so that they are known. */
const rows = fc
  .tuple(fc.array(row, { minLength: 1, maxLength: 6 }), fc.array(fc.tuple(fc.nat(), text), { maxLength: 40 }))
  .map(([kinds, more]) => [
    ...kinds.map((each, at) => account(at + 1, each as object)),
    ...more.map(([kind, id], at) => account(at + 100, { ...(kinds[kind % kinds.length] as object), identifier: id })),
  ])

function tableText(all: readonly object[]): string {
  const inner = JSON.stringify(all, null, 2).slice(2, -2)
  return `${inner.replaceAll(/^/gm, ' '.repeat(8))}\n        ]`
}

function read(bytes: Buffer): ReturnType<RowReader['read']> {
  return new RowReader(bytes, rowShape('accounts')).read(0)
}

describe('RowReader', () => {
  it('reads the rows that parsing would give, whatever they have in common', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const bytes = Buffer.from(tableText(all))
        const found = read(bytes)
        expect(found?.rows).toEqual(JSON.parse(JSON.stringify(all)))
        expect(found).toMatchObject({ end: bytes.length - '\n        ]'.length, isSound: true })
      }),
      { numRuns: 300 },
    )
  })

  it('takes nothing from a damaged file that parsing would not give, nor anything for sound that is not', () => {
    const shape = rowShape('accounts')
    const by = fc.constantFrom(...'" \\ , : { } [ ] \n 0 - 1 . 9 a e Z \u0001'.split(' '), ' ')
    const damage = fc.record({ line: fc.nat(), column: fc.nat(), by, replaces: fc.boolean() })
    fc.assert(
      fc.property(rows, fc.array(damage, { minLength: 1, maxLength: 4 }), (all, damages) => {
        const lines = tableText(all).split('\n')
        for (const { line, column, by: character, replaces } of damages) {
          const text = lines[line % lines.length] ?? ''
          // Counted from the end of the line, where the values are.
          const at = text.length - (column % 12)
          lines[line % lines.length] = text.slice(0, at) + character + text.slice(replaces ? at + 1 : at)
        }
        const bytes = Buffer.from(lines.join('\n'))
        let found: ReturnType<RowReader['read']>
        try {
          found = read(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError)
          return
        }
        if (!found) return
        expect(found.rows).toEqual(JSON.parse(`[${bytes.toString('utf8', 0, found.end)}]`))
        expect(found.isSound && found.rows.some((each) => shape(each) !== undefined)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['"sequence": 15', '"sequence": 015', 'throws'],
    ['"sequence": 15', '"sequence": ', 'throws'],
    ['"sequence": 15', '"sequence": 9999999999999999', 'is unsound'],
    ['"sequence": 15', '"sequence": 1.5', 'is unsound'],
    ['"sequence": 15', '"sequence": 1500', 'is sound'],
    ['user15@', 'user\u000115@', 'throws'],
    ['user15@', 'user\\x15@', 'throws'],
    ['user15@', 'user"15@', 'throws'],
    ['user15@', 'user\\"15\\u0041@', 'is sound'],
    ['user15@', 'usér15@', 'is sound'],
    ['"user15@example.com"', '15', 'is unsound'],
    ['T00:00:15.000Z', 'T00:00:15.000', 'is unsound'],
    ['T00:00:15.000Z', 'T00:00:x5.000Z', 'is unsound'],
    ['T00:00:15.000Z', 'T00:00:59.000Z', 'is sound'],
    ['"status": "ACTIVE"', '"status": "ASLEEP"', 'is unsound'],
    ['"connector"', '"connexion"', 'is unsound'],
  ])('a row like those before it, with %j made %j, %s', (from, to, outcome) => {
    const all = Array.from({ length: 20 }, (_, at) => account(at, { updated_at: `2026-01-01T00:00:${10 + at}.000Z` }))
    const lines = tableText(all).replace('00:00:25', '00:00:15').split('"id": "ca_15"')
    const bytes = Buffer.from(`${lines[0]}"id": "ca_15"${lines[1]?.replace(from, to)}`)
    if (outcome === 'throws') expect(() => read(bytes)).toThrow(SyntaxError)
    else {
      const found = read(bytes)
      expect(found?.isSound).toBe(outcome === 'is sound')
      expect(found?.rows).toEqual(JSON.parse(`[${bytes.toString('utf8', 0, found?.end)}]`))
    }
  })

  it('reads rows that are longer than what it looks at in one piece', () => {
    const all = Array.from({ length: 40 }, (_, at) =>
      account(at + 1, { identifier: `${at}`.repeat(at % 5 ? 40_000 : 1) }),
    )
    expect(read(Buffer.from(tableText(all)))?.rows).toEqual(all)
  })

  it('shares what rows have in common, and lets a grant share the texts of its account', () => {
    const all = Array.from({ length: 50 }, (_, at) => account(at + 1, { identifier: `person.${at}@example.com` }))
    const accounts = read(Buffer.from(tableText(all)))?.rows ?? []
    expect(accounts[40]?.['api_config']).toBe(accounts[30]?.['api_config'])
    const grants = all.map(({ id, identifier, connector }, at) => ({
      id: `grant_${at}`,
      connector,
      account_id: id,
      person: identifier,
      scopes: [],
      access: `at_${at}`,
      secret: '',
      refresh_token: '',
      revoked: false,
      refresh_revoked: false,
    }))
    const kin = new AccountTexts(accounts)
    const asked: string[] = []
    const reader = new RowReader(Buffer.from(tableText(grants)), rowShape('grants'), {
      likely: (field) => kin.likely(field),
      instead: (field, said) => {
        asked.push(field)
        return kin.instead(field, said)
      },
    })
    expect(reader.read(0)?.rows).toEqual(grants)
    expect(asked.filter((field) => field === 'person').length).toBeGreaterThan(40)
  })

  it('gives up on rows that have nothing in common', () => {
    const all = Array.from({ length: 2000 }, (_, at) => account(at + 1, { api_config: { [`key_${at}`]: at } }))
    expect(read(Buffer.from(tableText(all)))).toBeUndefined()
  })
})
