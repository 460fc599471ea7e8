import { describe, expect, it } from 'vitest'
import type { Request, TimelineEntry } from '../../../src/ui/dashboard/api.ts'
import { correctedBy } from '../../../src/ui/dashboard/corrected.ts'
import { curlOf } from '../../../src/ui/dashboard/send-again.tsx'
import { failureScenario, failuresOf } from '../../../src/ui/dashboard/failure.ts'
import { distanceOf } from '../../../src/ui/dashboard/format.ts'
import { fieldsOf, inputOf } from '../../../src/ui/dashboard/input-form.ts'
import { hashOf, readHash } from '../../../src/ui/dashboard/hash-route.ts'
import { linesOf, Timeline } from '../../../src/ui/dashboard/timeline-entries.ts'
import { AT, REQUEST } from '../../support/entry-document.ts'

it('a request as a curl command quotes for a shell, and uses a variable for the masked token', () => {
  const headers = { authorization: 'Bearer ***', 'content-type': 'application/json', host: 'x', 'x-note': "it's" }
  const request = { ...REQUEST, query: { a: ['1', '$x'] }, request: { headers, body: { text: "it's $HOME" } } }
  expect(curlOf(request, 'http://localhost:8665')).toBe(
    [
      `curl -X POST 'http://localhost:8665/api/v1/execute_tool?a=1&a=%24x'`,
      `  -H "Authorization: Bearer $TOOLMOCK_TOKEN"`,
      `  -H 'content-type: application/json'`,
      String.raw`  -H 'x-note: it'\''s'`,
      String.raw`  --data-raw '{"text":"it'\''s $HOME"}'`,
    ].join(' \\\n'),
  )
})

it('a request as a curl command sends a form as one', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = { grant_type: 'client_credentials' }
  expect(curlOf({ ...REQUEST, request: { headers, body } }, 'http://h')).toContain(
    "--data-urlencode 'grant_type=client_credentials'",
  )
})

describe('a failure of the next request', () => {
  it('is for the same operation, tool and account, and is optional', () => {
    expect(failureScenario(REQUEST, 'timeout')).toEqual({
      name: 'next-execute_tool-mail_send_message-ca_1',
      description: 'The next mail_send_message fails: no response.',
      rules: [
        {
          name: 'next mail_send_message',
          at: 'service',
          on: { operation: 'execute_tool', tool: 'mail_send_message', account: { id: 'ca_1' } },
          when: { first: 1 },
          do: [{ timeout: {} }],
          must_fire: false,
        },
      ],
    })
  })

  it('has one scenario for each operation, tool and account, by a name that a scenario may have', () => {
    const names = (request: Partial<Request>) => failureScenario({ ...REQUEST, ...request }, 'rate_limited').name
    const all = [
      {},
      { account: 'ca_2' },
      { tool: 'weather_get_forecast' },
      { operation: 'list_connections', tool: null },
    ]
    expect(new Set(all.map((request) => names(request as Partial<Request>))).size).toBe(all.length)
    expect(names({ tool: `"><script> ${'x'.repeat(200)}` })).toMatch(/^[A-Za-z0-9._-]{1,100}$/)
  })

  it.each([
    [{ operation: 'execute_tool', account: 'ca_1' } as const, true],
    [{ operation: 'execute_tool', account: null } as const, false],
    [{ operation: 'list_connections', account: null } as const, false],
  ])('of %j can be an expired token: %s', (request, can) => {
    expect(failuresOf(request).includes('expired_token')).toBe(can)
  })

  it('is not offered for a request without an operation', () => {
    expect(failuresOf({ operation: null, account: null })).toEqual([])
  })
})

it.each([
  ['2099-12-31T00:00:00Z', '2026-11-28T00:00:00Z', 'in 73 y 33 d'],
  ['2026-11-28T00:00:00Z', '2099-12-31T00:00:00Z', '73 y 33 d ago'],
  ['2027-11-28T00:00:00Z', '2026-11-28T00:00:00Z', 'in 1 y 0 d'],
  ['2028-02-29T00:00:00Z', '2027-03-01T00:00:00Z', 'in 365 d 00 h'],
  ['2027-02-28T23:59:59Z', '2026-03-01T00:00:00Z', 'in 364 d 23 h'],
  ['2026-01-02T04:00:00Z', '2026-01-01T00:00:00Z', 'in 1 d 04 h'],
  ['2026-01-01T00:00:00Z', '2026-01-01T00:04:09Z', '4 min 09 s ago'],
])('how far an instant is from another: %s seen from %s is %s', (instant, now, text) => {
  expect(distanceOf(Date.parse(instant), Date.parse(now))).toBe(text)
})

const schema = {
  type: 'object',
  required: ['to'],
  properties: {
    to: { type: 'string', description: 'Who gets it.' },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    level: { enum: ['low', 'high'], type: 'string' },
    tags: { type: 'array' },
  },
}

it('the form of a tool has a field for each member of the schema', () => {
  expect(fieldsOf(schema)).toEqual([
    { name: 'to', kind: 'text', required: true, description: 'Who gets it.' },
    { name: 'count', kind: 'number', required: false, description: '' },
    { name: 'urgent', kind: 'boolean', required: false, description: '', choices: ['true', 'false'] },
    { name: 'level', kind: 'text', required: false, description: '', choices: ['low', 'high'] },
    { name: 'tags', kind: 'json', required: false, description: '' },
  ])
})

it('the form of a tool sends values of the right types, and omits empty ones', () => {
  const values = { to: '7', count: '7', urgent: 'true', level: '', tags: '["a"]' }
  expect(inputOf(fieldsOf(schema), values)).toEqual({ input: { to: '7', count: 7, urgent: true, tags: ['a'] } })
})

it('the form of a tool sends an invalid number unchanged, so that the mock refuses it', () => {
  expect(inputOf(fieldsOf(schema), { count: 'many' })).toEqual({ input: { count: 'many' } })
})

it.each([
  [{ tags: '[' }, 'tags is not valid JSON.'],
  [{ tags: '{"__proto__": 1}' }, undefined],
])('the form of a tool: of %j shows %s', (values, problem) => {
  expect(inputOf(fieldsOf(schema), values).problem).toBe(problem)
})

it('the form of a tool: of a schema without members is one JSON object', () => {
  const fields = fieldsOf({ type: 'object' })
  expect(inputOf(fields, { input: '{"a":1}' })).toEqual({ input: { a: 1 } })
  expect(inputOf(fields, { input: '[]' }).problem).toBe('The input is not a JSON object.')
})

it.each([
  ['', { view: 'timeline', id: '', parameters: {} }],
  ['#/accounts/ca_1?environment=worker-2', { view: 'accounts', id: 'ca_1', parameters: { environment: 'worker-2' } }],
  ['#/timeline/a%2Fb%20c?q=%26', { view: 'timeline', id: 'a/b c', parameters: { q: '&' } }],
  ['#/timeline/a%3Fb%23c%25', { view: 'timeline', id: 'a?b#c%', parameters: {} }],
  ['#/nowhere/x', { view: 'timeline', unknown: 'nowhere', id: 'x', parameters: {} }],
  ['#/timeline/%', { view: 'timeline', id: '%', parameters: {} }],
])('the URL fragment of a view: %s is read, and is the same after it was written and read again', (hash, place) => {
  expect(readHash(hash)).toEqual(place)
  expect(readHash(hashOf(readHash(hash)))).toEqual(place)
})

describe('the timeline', () => {
  const NOTHING = { q: '', operation: '', status: '', account: '', mark: '' }
  const entry = (sequence: number, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
    sequence,
    id: `req_${sequence}`,
    kind: 'request',
    protocol: 'http',
    event: null,
    at: AT,
    real_at: AT,
    duration_ms: 1,
    environment: 'default',
    operation: 'list_connections',
    method: 'GET',
    path: '/api/v1/connections',
    status: 200,
    error_code: null,
    client: 'test_client',
    account: null,
    connector: null,
    identifier: null,
    tool: null,
    marks: [],
    ...more,
  })
  const timelineOf = (entries: readonly TimelineEntry[]): Timeline => {
    const timeline = new Timeline()
    timeline.add(entries, 0)
    return timeline
  }
  const ids = (entries: readonly TimelineEntry[]): number[] => entries.map(({ sequence }) => sequence)

  it('keeps the newest ten thousand, newest first', () => {
    const timeline = timelineOf(Array.from({ length: 9999 }, (_, at) => entry(at + 1)))
    timeline.add([entry(10_000), entry(10_001)], 0)
    expect(timeline.size).toBe(10_000)
    const all = timeline.matching(NOTHING)
    expect([all[0]?.sequence, all.at(-1)?.sequence]).toEqual([10_001, 2])
  })

  const ofOtherKinds = [
    entry(5, { kind: 'webhook', event: 'connected_account.expired' }),
    entry(6, { protocol: 'grpc-web' }),
    entry(7, { kind: 'clock' }),
  ]
  it.each([
    [{ q: 'ADA mail_send' }, [2]],
    [{ q: 'ada nobody' }, []],
    [{ status: 'error' }, [4, 3, 2]],
    [{ status: '4' }, [2]],
    [{ status: '0' }, [4]],
    [{ status: '502' }, [3]],
    [{ mark: 'violation' }, [3]],
    [{ operation: 'execute_tool' }, [2]],
    [{ account: 'ca_1' }, [2]],
    [{ kind: 'request' }, [4, 3, 2, 1]],
    [{ kind: 'grpc' }, [6]],
    [{ kind: 'webhook' }, [5]],
    [{ kind: '-webhook' }, [7, 6, 4, 3, 2, 1]],
    [{ kind: 'control' }, [7]],
    [{ q: 'expired' }, [5]],
  ])('filters by %j', (filter, found) => {
    const timeline = timelineOf([
      entry(1),
      entry(2, {
        operation: 'execute_tool',
        tool: 'mail_send_message',
        identifier: 'ada@example.com',
        account: 'ca_1',
        status: 409,
      }),
      entry(3, { status: 502, marks: ['violation'] }),
      entry(4, { status: 0 }),
      ...(Object.keys(filter).some((name) => ['kind', 'q'].includes(name)) ? ofOtherKinds : []),
    ])
    expect(ids(timeline.matching({ ...NOTHING, ...filter }))).toEqual(found)
  })

  it('shows no new entry while it is paused, and all of them after', () => {
    const timeline = timelineOf([entry(1)])
    timeline.togglePause()
    timeline.add([entry(2)], 0)
    expect([ids(timeline.matching(NOTHING)), timeline.waiting]).toEqual([[1], 1])
    timeline.togglePause()
    expect([ids(timeline.matching(NOTHING)), timeline.waiting]).toEqual([[2, 1], 0])
  })

  it('keeps the shown entries while it is paused and the stream begins again, and lets only new ones wait', () => {
    const timeline = timelineOf([entry(1)])
    timeline.togglePause()
    timeline.replace([entry(1), entry(2)])
    expect([ids(timeline.matching(NOTHING)), timeline.waiting]).toEqual([[1], 1])
    timeline.restarted('2026-01-31T12:00:00.000Z')
    timeline.replace([entry(1)])
    expect([ids(timeline.matching(NOTHING)), timeline.waiting, timeline.hasFormer]).toEqual([[], 1, true])
  })

  it('shows the entries of another environment also while it is paused', () => {
    const timeline = timelineOf([entry(1)])
    timeline.togglePause()
    timeline.clear()
    timeline.replace([entry(7)])
    timeline.add([entry(8)], 0)
    expect([ids(timeline.matching(NOTHING)), timeline.waiting]).toEqual([[7], 1])
  })

  it('counts entries that arrived too fast to be shown, until it starts again', () => {
    const timeline = new Timeline()
    timeline.replace([entry(1)])
    timeline.add([entry(4)], 2)
    timeline.add([entry(9)], 4)
    expect(timeline.skipped.value).toBe(6)
    timeline.replace([entry(1)])
    expect(timeline.skipped.value).toBe(0)
  })

  it('drops only the entries of one environment', () => {
    const timeline = timelineOf([entry(1), entry(2, { environment: 'worker-2' })])
    timeline.clear('worker-2')
    expect(ids(timeline.matching(NOTHING))).toEqual([1])
  })

  it('groups by the label of the test, groups with errors first, then that with the newest entry', () => {
    const entries = [entry(3, { environment: 'a' }), entry(2, { status: 500 }), entry(1, { environment: 'a' })]
    const labels = new Map([['a', 'mail > sends']])
    const lines = linesOf(entries, 'test', { collapsed: { of: new Map([['default', true]]) }, labels })
    expect(
      lines.map((line) => {
        if (line.kind === 'group') return [line.name, line.count, line.failed]
        return line.kind === 'entry' ? line.entry.sequence : line.kind
      }),
    ).toEqual([['default', 1, 1], ['mail > sends', 2, 0], 3, 1])
  })
})

describe('a request as an action corrects it', () => {
  const request: Request = {
    ...REQUEST,
    query: { pageSize: '5' },
    request: { headers: {}, body: { tool_name: 'list', accounts: [{ identifer: 'ada' }] } },
  }
  const body = { tool_name: 'list', accounts: [{ identifer: 'ada' }] }
  it.each([
    [
      'send_again_with',
      'tool_name',
      'mail_list',
      { request: { headers: {}, body: { ...body, tool_name: 'mail_list' } } },
    ],
    ['send_again_with', 'pageSize', '6', { query: { pageSize: '6' } }],
    ['rename_field', 'pageSize', 'page_size', { query: { page_size: '5' } }],
    [
      ...(['rename_field', 'accounts[0].identifer', 'identifier'] as const),
      { request: { headers: {}, body: { ...body, accounts: [{ identifier: 'ada' }] } } },
    ],
    ['send_again_as', null, 'GET /api/v1/connections', { method: 'GET', path: '/api/v1/connections' }],
  ] as const)('%s %s %s', (action, target, value, changed) => {
    expect(correctedBy({ action, target, value, text: '' }, request)).toEqual({ ...request, ...changed })
  })

  it.each([
    ['send_again_as', null, 'GET or PUT /api/v1/connections'],
    ['rename_field', 'nothing.there', 'x'],
    ['get_token', null, null],
  ] as const)('%s %s %s is no correction of this request', (action, target, value) => {
    expect(correctedBy({ action, target, value, text: '' }, request)).toBeUndefined()
  })
})
