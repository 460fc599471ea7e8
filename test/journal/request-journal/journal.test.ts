import { getEventListeners } from 'node:events'
import { preparePatterns } from '../../../src/model/domain/text-pattern.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { StoredEntry } from '../../../src/journal/request-journal/entry.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { entryEvents, Journal, type JournalEvent, Journals } from '../../../src/journal/request-journal/journal.ts'
import { maskSecret } from '../../../src/model/domain/masking.ts'
import { JournalQueryError, readJournalQuery, readMatch } from '../../../src/journal/request-journal/query.ts'
import { recorded } from './recorded.ts'

function journalOf(entries: readonly Partial<StoredEntry>[], limits = {}): Journal {
  const journal = new Journal({ capacity: 100, maxBytes: 1e9, ...limits })
  for (const [index, fields] of entries.entries()) journal.append(recorded({ id: `req_${index + 1}`, ...fields }))
  return journal
}

const ids = (journal: Journal, query: string): string[] =>
  journal.query(readJournalQuery(new URLSearchParams(query))).map(({ id }) => id)

describe('the limits of a journal', () => {
  it('drop the oldest entries beyond the capacity', () => {
    const journal = new Journal({ capacity: 3, maxBytes: 1e9 })
    for (let count = 1; count <= 5000; count++) journal.append(recorded({ id: `req_${count}` }))
    expect(journal.size).toBe(3)
    expect(journal.query().map(({ id }) => id)).toEqual(['req_4998', 'req_4999', 'req_5000'])
  })

  it('drop the oldest entries when the bodies are too large, and keep the latest of any size', () => {
    const journal = journalOf([{ responseBody: 'x'.repeat(5000) }, { responseBody: 'y'.repeat(5000) }], {
      maxBytes: 9000,
    })
    expect(journal.query().map(({ id }) => id)).toEqual(['req_2'])
    journal.append(recorded({ id: 'huge', responseBody: 'z'.repeat(100_000) }))
    expect(journal.query().map(({ id }) => id)).toEqual(['huge'])
  })

  it.each(['requestBody', 'responseBody', 'url'])(
    'count the bytes of the %s, after any number of earlier entries',
    (field) => {
      // The fixed size of an entry, and a body of 976 bytes.
      const entry = { url: '', requestBody: '', responseBody: '', [field]: 'x'.repeat(976) }
      for (const [maxBytes, kept] of [
        [6000, ['req_98', 'req_99', 'req_100']],
        [5999, ['req_99', 'req_100']],
      ] as const) {
        const journal = journalOf(
          Array.from({ length: 100 }, () => entry),
          { maxBytes },
        )
        expect(journal.query().map(({ id }) => id)).toEqual(kept)
      }
    },
  )

  it('apply to the remaining entries after clear, also when only some are dropped', () => {
    const entry = { url: '', responseBody: 'x'.repeat(976) }
    const three = [entry, entry, entry]
    const journal = journalOf(three, { maxBytes: 6000 })
    journal.clear()
    for (const fields of three) journal.append(recorded(fields))
    expect(journal.size).toBe(3)
    journal.clear(journal.appended - 1)
    for (const fields of three) journal.append(recorded(fields))
    expect(journal.size).toBe(3)
  })

  it('release the memory of dropped entries', async () => {
    const journal = new Journal({ capacity: 3, maxBytes: 1e9 })
    const append = (): WeakRef<StoredEntry> => {
      const entry = recorded()
      journal.append(entry)
      return new WeakRef(entry)
    }
    const dropped = append()
    for (let count = 1; count <= 2100; count++) append()
    await nextTurn()
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    expect(dropped.deref()).toBeUndefined()
  })

  it('apply to an empty journal after clear', () => {
    const journal = journalOf([{}, {}])
    journal.clear()
    expect(journal.size).toBe(0)
    expect(journal.find('req_1')).toBeUndefined()
  })
})

it('the journal of an environment that was removed is not kept, also when a request ends after that', async () => {
  const limits = { capacity: 100, maxBytes: 1e9 }
  const journals = new Journals({ ...limits, realTime: () => 0, defaultEnvironment: () => undefined })
  const remove = (): WeakRef<object> => {
    const environment = { name: 'worker', clock: { now: () => 0 } }
    journals.remove(environment)
    journals.add({ kind: 'request', id: 'late', environment, url: '/late', status: 200 })
    return new WeakRef(environment)
  }
  const removed = remove()
  await nextTurn()
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  expect(removed.deref()).toBeUndefined()
})

describe('a journal that has dropped entries for its limits', () => {
  it('verifies no exact number until it is cleared, and says from when on its entries are there', () => {
    const journal = journalOf([{ realAt: 1 }, { realAt: 2 }, { realAt: 3 }, { realAt: 4 }], { capacity: 3 })
    const incomplete_since = '1970-01-01T00:00:00.002Z'
    expect(journal.verify({}, 3)).toEqual({ ok: false, matched: 3, near_misses: [], incomplete_since })
    expect(journal.verify({ status: 404 }, 0)).toMatchObject({ ok: false, matched: 0, incomplete_since })
    expect(journal.verify({})).toMatchObject({ ok: true, incomplete_since })
    journal.clearUntilRestored()
    expect(journal.verify({}, 0)).toEqual({ ok: true, matched: 0, near_misses: [] })
    journal.restore()
    expect(journal.verify({}, 3)).toMatchObject({ ok: false, incomplete_since })
  })
})

it('clearing a journal drops the entries before a position, and counts how often it was done', () => {
  const journal = journalOf([{}, {}, {}, {}])
  expect([journal.appended, journal.cleared]).toEqual([4, 0])
  journal.clear(3)
  expect(journal.query().map(({ id }) => id)).toEqual(['req_4'])
  journal.clear()
  expect(journal.query()).toEqual([])
  expect([journal.appended, journal.cleared]).toEqual([4, 2])
})

it('clearing a journal leaves it incomplete when what was cleared is restored', () => {
  const journal = journalOf([{}])
  const lost = '2026-01-01T00:00:00.000Z'
  journal.incompleteSince = lost
  journal.clearUntilRestored()
  expect(journal.incompleteSince).toBeUndefined()
  journal.restore()
  expect(journal.incompleteSince).toBe(lost)
})

it('clearing a journal keeps the remaining entries when more were dropped than are to be cleared', () => {
  const journal = journalOf([{}, {}, {}, {}], { capacity: 2 })
  journal.clear(1)
  expect(journal.query().map(({ id }) => id)).toEqual(['req_3', 'req_4'])
})

it.each([
  ['all', 0, 10, [1, 2, 3], 0],
  ['those after the first one', 1, 10, [2, 3], 0],
  ['nothing new', 3, 10, [], 0],
  ['nothing after more than there are', 9, 10, [], 0],
  ['the newest two', 0, 2, [2, 3], 1],
  ['none of three', 0, 0, [], 3],
])('the timeline of a journal shows %s: after %i, at most %i', (_, seen, most, sequences, skipped) => {
  const { entries, ...rest } = journalOf([{}, {}, {}]).timeline(seen, most)
  expect(entries.map(({ sequence, id }) => [sequence, id])).toEqual(
    sequences.map((sequence) => [sequence, `req_${sequence}`]),
  )
  expect(rest).toEqual({ skipped })
})

it('the timeline of a journal counts on after entries were dropped or cleared', () => {
  const journal = journalOf([{}, {}, {}, {}, {}], { capacity: 3 })
  const sequences = () => journal.timeline(0, 10).entries.map(({ sequence }) => sequence)
  expect(sequences()).toEqual([3, 4, 5])
  journal.clear()
  expect(sequences()).toEqual([])
  journal.append(recorded())
  expect(sequences()).toEqual([6])
})

describe('querying a journal', () => {
  const injected = new RequestTrace()
  injected.rules = ['first', 'second'].map((rule) => ({
    ...{ scenario: 'outage', rule, at: 'service', sentence: '', off_spec: false, matched: 1, of: null },
    ...{ do: [], injected: true, call: null },
  }))
  const journal = journalOf([
    { operation: 'create_token', method: 'POST', url: '/oauth/token' },
    { status: 404, errorCode: 'TOOL_NOT_FOUND' },
    { at: Date.parse('2026-01-02T00:00:00.000Z'), client: 'ci-7' },
    { operation: null, url: '/api/v1/execute_tol', status: 404, trace: injected },
  ])

  it.each([
    ['', ['req_1', 'req_2', 'req_3', 'req_4']],
    ['operation=execute_tool', ['req_2', 'req_3']],
    ['operation=create_*', ['req_1']],
    ['status=404', ['req_2', 'req_4']],
    ['status=4*', ['req_2', 'req_4']],
    ['client=ci-*', ['req_3']],
    ['error_code=TOOL_NOT_FOUND', ['req_2']],
    ['since=2026-01-02T00:00:00Z', ['req_3']],
    ['since=req_2', ['req_3', 'req_4']],
    ['since=req_1&limit=1', ['req_2']],
    ['limit=2', ['req_3', 'req_4']],
    ['environment=other&limit=1', ['req_4']],
    ['limit=12', ['req_1', 'req_2', 'req_3', 'req_4']],
    ['since=&limit=1', ['req_4']],
    ['injected=true', ['req_4']],
    ['injected=false', ['req_1', 'req_2', 'req_3']],
    ['scenario=outage', ['req_4']],
    ['rule=second', ['req_4']],
    ['rule=third', []],
    ['account=*', []],
  ])('%s finds %j', (query, found) => {
    expect(ids(journal, query)).toEqual(found)
  })

  it.each([
    ['opration=x', 'did you mean operation?', 'opration', expect.arrayContaining(['operation', 'environment'])],
    ['zzzzzzzz=x', /is not known here\. Allowed: operation/, 'zzzzzzzz', expect.arrayContaining(['operation'])],
    [
      'operation=execute_tol',
      'operation "execute_tol" is not known here; did you mean execute_tool?',
      'operation',
      expect.arrayContaining(['execute_tool']),
    ],
    ['limit=0', 'must be an integer from 1', 'limit', []],
    ['limit=1x', 'must be an integer from 1', 'limit', []],
    ['limit=-1', 'must be an integer from 1', 'limit', []],
    ['limit=10000000', 'must be an integer from 1', 'limit', []],
    ['since=2026-13-45T00:00:00Z', 'must be an ISO 8601 instant', 'since', []],
    ['since=2026-02-30', 'must be an ISO 8601 instant with its time zone, a day in UTC or', 'since', []],
    ['since=2026-01-31T12:00:00', 'must be an ISO 8601 instant with its time zone, a day in UTC or', 'since', []],
    ['injected=yes', 'injected must be true or false; found "yes"', 'injected', []],
    ['injected=', 'injected must be true or false; found ""', 'injected', []],
    [
      'status=abc',
      'status must be a status from 100 to 599, 0 for no answer, or a glob such as 4*; found "abc"',
      'status',
      [],
    ],
    ['status=999', 'status must be a status', 'status', []],
    ['status=99', 'status must be a status', 'status', []],
    ['status=600', 'status must be a status', 'status', []],
    ['status=9*', 'status must be a status', 'status', []],
    ['status=', 'status must be a status', 'status', []],
    ['kind=request_', 'did you mean request?', 'kind', expect.arrayContaining(['request', 'page'])],
    ['protocol=http2', 'did you mean http?', 'protocol', ['http', 'grpc', 'grpc-web', 'connect', 'mcp']],
    ['status=1&status=2', 'status is sent 2 times; send it once', 'status', []],
  ])('%s is refused, saying %s', (query, message, key, allowed) => {
    const read = () => readJournalQuery(new URLSearchParams(query))
    expect(read).toThrow(JournalQueryError)
    expect(read).toThrow(message)
    expect(read).toThrow(expect.objectContaining({ key, allowed }))
  })

  it('refuses an id after which nothing can be found, since all entries would look like the answer', () => {
    const found = () => ids(journal, 'since=req_9')
    expect(found).toThrow(JournalQueryError)
    expect(found).toThrow(
      /^since must be an ISO 8601 instant with its time zone, a day in UTC or the id of an entry that this journal has: .*; found "req_9"$/,
    )
  })

  it.each([
    [{ injected: 'yes' }, 'injected must be true or false; found "yes"'],
    [{ injected: 1 }, 'injected must be true or false; found "1"'],
    [{ status: 'abc' }, 'status must be a status'],
    [{ status: [404, 'abc'] }, 'status must be a status'],
    [{ status: [404, 999] }, 'status must be a status'],
    [{ status: 200.5 }, 'status must be a status'],
    [{ kind: ['page', 'pages'] }, 'did you mean page?'],
    [{ tool: { matches: '(' } }, 'tool must be matched by a regular expression with no look-ahead'],
    [{ body: { to: { matches: '(?=a)' } } }, 'body must be matched by a regular expression with no look-ahead'],
  ])('a match by %j is refused, saying %s', (match, message) => {
    expect(() => readMatch(match)).toThrow(message)
  })

  it('returns the latest 1,000 entries without a limit', () => {
    const found = journalOf(
      Array.from({ length: 1001 }, () => ({})),
      { capacity: 2000 },
    ).query()
    expect([found.length, found[0]?.id]).toEqual([1000, 'req_2'])
  })

  it('finds the latest entry with an id', () => {
    const journal = journalOf([{ status: 500, id: 'twice' }, { status: 200, id: 'twice' }, { status: 404 }])
    expect(journal.find('twice')?.status).toBe(200)
    expect(journal.find('never')).toBeUndefined()
  })
})

await preparePatterns('matches')

const body = (to: string) => ({
  requestBody: JSON.stringify({ tool_name: 'mail_send', tool_input: { to, api_key: 'k1' } }),
})
const journal = journalOf([body('ada@example.com'), { ...body('grace@example.com'), status: 500 }])

it.each([
  [{ operation: 'execute_tool' }, undefined, true, 2],
  [{ operation: 'execute_tool', status: 200 }, 1, true, 1],
  [{ operation: 'execute_tool' }, 1, false, 2],
  [{ tool: 'mail_*', body: { 'tool_input.to': 'ada@*' } }, 1, true, 1],
  [{ status: [200, 201] }, 1, true, 1],
  [{ tool: { matches: '^mail_' }, body: { 'tool_input.to': { matches: '^ada@' } } }, 1, true, 1],
  [{ tool: { equals: 'mail_*' } }, 0, true, 0],
  [{ client: 'nobody' }, 0, true, 0],
  [{ body: { 'tool_input.cc': '*' } }, 0, true, 0],
  [{}, 2, true, 2],
  [undefined, 2, true, 2],
  [{ operation: ['create_token', 'execute_tool'] }, 2, true, 2],
  [{ error_code: null }, 2, true, 2],
  [{ client: null }, 0, true, 0],
  [{ error_code: '*' }, 0, true, 0],
])('verifying: %j %j times: %s, %i matched', (match, times, ok, matched) => {
  expect(journal.verify(readMatch(match), times)).toMatchObject({ ok, matched })
})

it('verifying: names the closest entries and their differences when too few match', () => {
  const verdict = journal.verify(readMatch({ operation: 'execute_tool', body: { 'tool_input.to': 'eve@*' } }))
  expect(verdict).toMatchObject({ ok: false, matched: 0 })
  expect(verdict.near_misses).toMatchObject([
    {
      id: 'req_2',
      status: 500,
      differences: [{ field: 'body.tool_input.to', wanted: 'eve@*', found: 'grace@example.com' }],
    },
    { id: 'req_1', differences: [{ field: 'body.tool_input.to', wanted: 'eve@*', found: 'ada@example.com' }] },
  ])
})

it('verifying matches a key of the body that has a dot in it', () => {
  const journal = journalOf([{ requestBody: '{"tool_input.to":"ada"}' }])
  expect(journal.count(readMatch({ body: { 'tool_input.to': 'ada' } }))).toBe(1)
})

it('verifying: names no near misses when enough match', () => {
  const match = readMatch({ operation: 'execute_tool', status: 200 })
  const journal = journalOf([{}, {}, { status: 500 }])
  for (const times of [undefined, 1, 2]) expect(journal.verify(match, times).near_misses).toEqual([])
  expect(journal.verify({}, 9).near_misses).toEqual([])
  expect(journal.verify(match, 3).near_misses.map(({ id }) => id)).toEqual(['req_3'])
})

it('verifying: names the three closest entries that do not match: fewest differences first, then the latest', () => {
  const journal = journalOf([
    { status: 500, errorCode: 'A' },
    { status: 500 },
    { operation: 'create_token', status: 200 },
    { kind: 'page', status: 500 },
    { status: 200 },
    { status: 501 },
  ])
  const closest = (match: object) => journal.verify(readMatch(match), 9).near_misses.map(({ id }) => id)
  expect(closest({ operation: 'execute_tool', status: 200 })).toEqual(['req_6', 'req_2', 'req_1'])
  expect(closest({ operation: 'execute_tool', status: 200, error_code: null })).toEqual(['req_6', 'req_2', 'req_1'])
})

it('verifying: names entries of another kind or operation after those that differ less', () => {
  const closest = (entries: Partial<StoredEntry>[], match: object) =>
    journalOf(entries)
      .verify(readMatch(match))
      .near_misses.map(({ id }) => id)
  const wrong = { status: 500, errorCode: 'A', client: 'nobody' }
  const match = { operation: 'execute_tool', kind: 'request', status: 201, client: 'test_client', error_code: null }
  expect(closest([wrong, { operation: 'create_token', status: 201 }], match)).toEqual(['req_1', 'req_2'])
  expect(closest([wrong, { kind: 'control', status: 201 }], match)).toEqual(['req_1', 'req_2'])
  expect(closest([{ ...wrong, kind: 'control' }, { status: 201 }], { ...match, kind: 'control' })).toEqual([
    'req_1',
    'req_2',
  ])
  expect(closest([wrong, { kind: 'page' }], { status: 201, client: 'test_client' })).toEqual(['req_1', 'req_2'])
})

it('verifying: names changes by the control API only to those who ask for a kind', () => {
  const journal = journalOf([
    { kind: 'control', operation: null, method: '', url: 'a seed was added' },
    { kind: 'clock', operation: null, method: '', url: 'the clock is frozen' },
  ])
  const closest = (match: object) => journal.verify(readMatch(match)).near_misses.map(({ id }) => id)
  expect(closest({ operation: 'execute_tool' })).toEqual([])
  expect(closest({ kind: 'webhook' })).toEqual(['req_2', 'req_1'])
})

it('verifying looks for near misses among the latest 1,000 entries', () => {
  const close = { operation: 'create_token' } as const
  const journal = journalOf([close, ...Array.from({ length: 999 }, () => ({}))], { capacity: 2000 })
  const closest = () => journal.verify(readMatch({ operation: 'create_token', status: 500 })).near_misses[0]?.id
  expect(closest()).toBe('req_1')
  journal.append(recorded({ id: 'req_1001' }))
  expect(closest()).toBe('req_1001')
})

it('verifying masks the secrets of a near miss', () => {
  const { near_misses } = journal.verify(readMatch({ body: { 'tool_input.api_key': 'k2' } }))
  expect(near_misses[0]?.differences).toEqual([
    { field: 'body.tool_input.api_key', wanted: maskSecret('k2'), found: maskSecret('k1') },
  ])
})

it('verifying masks the secrets in the text of a near miss', () => {
  const journal = journalOf([{ requestBody: '{"input":{"message":"password=hidden"}}' }])
  const { near_misses } = journal.verify(readMatch({ body: { input: 'none' } }))
  expect(near_misses[0]?.differences).toMatchObject([
    { field: 'body.input', found: { message: `password=${maskSecret('hidden')}` } },
  ])
})

it.each([
  [{ opration: 'x' }, 'did you mean operation?', 'opration'],
  [{ operation: 'execute_tol' }, 'did you mean execute_tool?', 'operation'],
  [{ body: 'text' }, 'match.body must be an object', 'body'],
  [[], 'match must be an object', 'match'],
  [JSON.parse('{"__proto__": 1}'), 'not known here', '__proto__'],
])('verifying refuses the match %j', (match, message, key) => {
  expect(() => readMatch(match)).toThrow(message)
  expect(() => readMatch(match)).toThrow(expect.objectContaining({ key }))
})

/** The result of a wait after a turn of the event loop, or `still waiting`. */
const soon = (waiting: Promise<unknown>): Promise<unknown> => Promise.race([waiting, nextTurn('still waiting')])

it('waiting ends at once when enough entries exist, and goes on when one is missing', async () => {
  const journal = journalOf([{}, {}])
  expect(await soon(journal.wait({}, { times: 2 }))).toEqual({ ok: true, matched: 2, near_misses: [] })
  const waiting = journal.wait({}, { times: 3, timeoutMs: 60_000 })
  expect(await soon(waiting)).toBe('still waiting')
  journal.append(recorded())
  expect(await soon(waiting)).toMatchObject({ ok: true, matched: 3 })
})

it('waiting ends at once when its signal was aborted before', async () => {
  const waiting = journalOf([]).wait({}, { timeoutMs: 60_000, signal: AbortSignal.abort() })
  expect(await soon(waiting)).toMatchObject({ ok: false, matched: 0 })
})

it('waiting ends when enough matching entries exist, earlier ones included', async () => {
  const journal = journalOf([{}])
  const waiting = journal.wait(readMatch({ status: 200 }), { times: 2, timeoutMs: 60_000 })
  journal.append(recorded({ status: 404 }))
  journal.append(recorded({ status: 200 }))
  expect(await waiting).toMatchObject({ ok: true, matched: 2 })
})

it('waiting ends with near misses at its timeout', async () => {
  const verdict = await journalOf([{}]).wait(readMatch({ status: 500 }), { timeoutMs: 1 })
  expect(verdict).toMatchObject({
    ok: false,
    matched: 0,
    near_misses: [{ differences: [{ field: 'status', found: 200 }] }],
  })
})

it('waiting ends when its signal is aborted, and when the journal is closed', async () => {
  const journal = journalOf([])
  const gone = new AbortController()
  const first = journal.wait({}, { timeoutMs: 60_000, signal: gone.signal })
  const second = journal.wait({}, { timeoutMs: 60_000 })
  gone.abort()
  expect(await soon(first)).toMatchObject({ ok: false })
  expect(await soon(second)).toBe('still waiting')
  journal.close()
  expect(await soon(second)).toMatchObject({ ok: false })
})

it('waiting removes its listener from its signal', async () => {
  const journal = journalOf([])
  const { signal } = new AbortController()
  const waiting = journal.wait({}, { timeoutMs: 60_000, signal })
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  journal.append(recorded())
  await waiting
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('waiting goes on when the journal is cleared, and counts earlier matches', async () => {
  const journal = journalOf([{}])
  const waiting = journal.wait({}, { times: 2, timeoutMs: 60_000 })
  journal.clear()
  expect(await soon(waiting)).toBe('still waiting')
  journal.append(recorded())
  expect(await soon(waiting)).toMatchObject({ ok: true, matched: 2 })
})

it('subscribing delivers every event of an account and every entry, until it is ended', () => {
  const journal = journalOf([])
  const events: JournalEvent[] = []
  const end = journal.subscribe((entry) => events.push(...entryEvents(entry)))
  const entry = recorded()
  const at = '2026-01-01T00:00:00.000Z'
  entry.trace.transition('ca_1', 'token_expired', { from: 'ACTIVE', to: 'EXPIRED', at })
  journal.append(entry)
  end()
  journal.append(recorded({ id: 'req_2' }))
  expect(events).toMatchObject([
    { event: 'transition', entry: 'req_1', transition: { account_id: 'ca_1', to: 'EXPIRED' } },
    { event: 'entry', entry: { id: 'req_1' } },
  ])
})
