import { expect, it } from 'vitest'
import type { TokenEvent } from '../../../src/model/domain/request-trace.ts'
import { tokenRaces, TokenRaces } from '../../../src/journal/verdict/token-races.ts'
import { recorded } from '../request-journal/recorded.ts'

function racesOf(events: readonly TokenEvent[], name = 'req'): TokenRaces {
  const races = new TokenRaces()
  for (const [at, event] of events.entries()) {
    const entry = recorded({ id: `${name}_${at}` })
    entry.trace.tokenUsed(event)
    races.see(entry)
  }
  return races
}

const renewed = (token: string, next: string): TokenEvent => ({ kind: 'renewed', token, next })
const stored = (token: string, former: string): TokenEvent => ({ kind: 'stored', token, former })
const replays = (count: number, token = 'r'): TokenEvent[] =>
  Array.from({ length: count }, () => ({ kind: 'replayed', token }))
const codesOf = (...races: TokenRaces[]) => [...tokenRaces(races)].map(({ finding: { code, found } }) => [code, found])

it.each<[string, TokenEvent[], string[]]>([
  ['the token of one renewal before', [renewed('a', 'b'), stored('b', ''), stored('a', 'b')], ['req_2']],
  [
    'the token of two renewals before',
    [renewed('a', 'b'), renewed('b', 'c'), stored('c', ''), stored('a', 'c')],
    ['req_3'],
  ],
  ['a token that did not come of the other', [renewed('b', 'c'), stored('c', ''), stored('a', 'c')], []],
  ['a token that no client has stored before', [renewed('a', 'b'), stored('a', 'b')], []],
  ['a spent token twice, each in a finding of its own', [renewed('r', 's'), ...replays(2)], ['req_1', 'req_2']],
])('%s', (_title, events, requests) => {
  const found = codesOf(racesOf(events)).map((each) => String(each[1]).split(' ').at(-1))
  expect(found).toEqual(requests)
})

it('at most 1,000 uses of older tokens are kept, the latest ones, also of several environments together', () => {
  const races = racesOf(replays(1001))
  expect([...tokenRaces([races])].map(({ requests: [request] }) => request?.id)).toEqual(
    Array.from({ length: 1000 }, (_, at) => `req_${at + 1}`),
  )
  const together = racesOf(replays(600), 'a')
  together.add(racesOf(replays(399), 'b'))
  expect(codesOf(together)).toHaveLength(999)
  const overwritten = Array.from({ length: 600 }, () => stored('x', 'y'))
  together.add(racesOf([...overwritten, renewed('x', 'y'), stored('y', '')], 'c'))
  expect(codesOf(together)).toHaveLength(1000)
})

it('at most 1,000 renewals are remembered: those before are called earlier ones', () => {
  const renewals = Array.from({ length: 1001 }, (_, at) => renewed(`t${at}`, `t${at + 1}`))
  const replayed = ['t0', 't1'].flatMap((token) => replays(1, token))
  expect(codesOf(racesOf([...renewals, ...replayed])).map((each) => each[1])).toEqual([
    'the one that an earlier request had spent, in req_1001',
    'the one that req_1 had spent, in req_1002',
  ])
})
