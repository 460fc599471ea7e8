import { describe, expect, it } from 'vitest'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import {
  type EntryEnvironment,
  type EntryInput,
  KEPT,
  type StoredEntry,
} from '../../../src/journal/request-journal/entry.ts'
import { Journals } from '../../../src/journal/request-journal/journal.ts'

const DEFAULT: EntryEnvironment = { name: 'default', clock: { now: () => 500 } }
const OTHER: EntryEnvironment = { name: 'other', clock: { now: () => 900 } }

function journalsWith(environment: EntryEnvironment | undefined = DEFAULT): Journals {
  return new Journals({ capacity: 1000, maxBytes: 1e9, realTime: () => 100, defaultEnvironment: () => environment })
}

const input = (fields: Partial<EntryInput> = {}): EntryInput => ({
  kind: 'request',
  id: 'req_1',
  url: '/api',
  status: 200,
  environment: undefined,
  vocabulary: undefined,
  ...fields,
})

function recordedBy(journals: Journals, fields: Partial<EntryInput> = {}): StoredEntry {
  let entry: StoredEntry | undefined
  journals.observe((each) => (entry = each))
  journals.add(input(fields))
  if (!entry) throw new Error('nothing was recorded')
  return entry
}

describe('recording', () => {
  it('fills in what the caller does not know', () => {
    expect(recordedBy(journalsWith())).toEqual({
      kind: 'request',
      id: 'req_1',
      environment: 'default',
      at: 500,
      realAt: 100,
      durationMs: 0,
      operation: null,
      protocol: 'http',
      method: '',
      url: '/api',
      requestHeaders: [],
      requestBody: '',
      isRequestShortened: false,
      status: 200,
      errorCode: null,
      responseHeaders: {},
      responseBody: '',
      isResponseShortened: false,
      client: null,
      mcpClient: null,
      trace: new RequestTrace(),
      vocabulary: undefined,
      findings: [],
      checkViolations: [],
      test: undefined,
      failure: null,
      webhook: null,
    })
  })

  it('keeps what the caller knows', () => {
    const known = {
      operation: 'execute_tool',
      protocol: 'grpc',
      method: 'POST',
      requestHeaders: ['Accept', '*/*'],
      requestBody: 'sent',
      errorCode: 'TOOL_NOT_FOUND',
      responseHeaders: { 'X-A': 'b' },
      responseBody: Buffer.from('answer'),
      client: 'ci',
      trace: new RequestTrace(),
      failure: 'a stack',
    } satisfies Partial<EntryInput>
    const entry = recordedBy(journalsWith(), { ...known, environment: OTHER, startedAt: 70 })
    expect(entry).toMatchObject({ ...known, environment: 'other', at: 900, realAt: 100, durationMs: 30 })
    expect(entry.trace).toBe(known.trace)
  })

  it('uses real time for a request without an environment', () => {
    const entry = recordedBy(
      new Journals({ capacity: 9, maxBytes: 1e9, realTime: () => 7, defaultEnvironment: () => undefined }),
    )
    expect(entry).toMatchObject({ environment: '', at: 7, realAt: 7 })
  })

  it.each([KEPT - 1, KEPT, KEPT + 1])('keeps the beginning of a body of %i bytes', (size) => {
    const journals = journalsWith()
    const text = 'x'.repeat(size)
    for (const body of [text, Buffer.from(text)]) {
      const { requestBody, responseBody } = recordedBy(journals, { requestBody: body, responseBody: body })
      expect([requestBody, responseBody].map(String)).toEqual(Array(2).fill(text.slice(0, KEPT)))
    }
  })

  it.each<[string, string | Buffer, string | undefined]>([
    ['a whole text of more bytes than are kept', '€'.repeat(KEPT - 1), undefined],
    ['a whole text', '€'.repeat(KEPT), undefined],
    ['a long text', '€'.repeat(KEPT + 1), `the body had ${3 * KEPT + 3} bytes; the first ${KEPT} characters are kept`],
    ['whole bytes', Buffer.alloc(KEPT, 'x'), undefined],
    [
      'long bytes',
      Buffer.alloc(KEPT + 1, 'x'),
      `the body had ${KEPT + 1} bytes; the first ${KEPT} characters are kept`,
    ],
  ])('records whether %s is complete', (_, body, truncated) => {
    const journals = journalsWith()
    const length = String(Buffer.byteLength(body))
    recordedBy(journals, {
      requestHeaders: ['Content-Length', length],
      requestBody: body,
      responseHeaders: { 'Content-Length': length },
      responseBody: body,
    })
    const [entry] = journals.of(DEFAULT).query()
    expect([entry?.request.truncated, entry?.response.truncated]).toEqual([truncated, truncated])
  })

  it('puts each request into the journal of its environment, and all others into that of the default one', () => {
    const journals = journalsWith()
    const seen: string[] = []
    journals.observe(({ id }) => seen.push(`first ${id}`))
    journals.observe(({ id }) => seen.push(`second ${id}`))
    journals.add(input({ id: 'a', environment: OTHER }))
    journals.add(input({ id: 'b' }))
    const ids = (environment: object) =>
      journals
        .of(environment)
        .entries()
        .map(({ id }) => id)
    expect([ids(OTHER), ids(DEFAULT)]).toEqual([['a'], ['b']])
    expect(seen).toEqual(['first a', 'second a', 'first b', 'second b'])
  })
})

describe('the journal of an environment that is removed', () => {
  it('ends its waits, and an environment that comes after it begins with an empty one', async () => {
    const journals = journalsWith()
    journals.add(input())
    const waiting = journals.of(DEFAULT).wait({}, { times: 2, timeoutMs: 60_000 })
    journals.remove(DEFAULT)
    expect(await waiting).toMatchObject({ ok: false, matched: 1 })
    expect(journals.of({ ...DEFAULT }).size).toBe(0)
  })

  it('may never have been used', () => {
    expect(() => journalsWith().remove(OTHER)).not.toThrow()
  })
})

it('closing ends the waits of every environment', async () => {
  const journals = journalsWith()
  const waits = [DEFAULT, OTHER].map((environment) => journals.of(environment).wait({}, { timeoutMs: 60_000 }))
  journals.close()
  expect(await Promise.all(waits)).toMatchObject([{ ok: false }, { ok: false }])
})
