import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import { FAULT_KINDS, type FaultKind, FAULTS } from '../../src/scenarios/faults/faults.ts'
import { it, type ScenarioMock, withScenarios } from './scenario-mock.ts'
import { until } from '../support/until.ts'

/** A scenario with one rule at the service that applies these faults to every listing. */
function listingDoes(...faults: JsonObject[]): object {
  const rule = { name: 'r', at: 'service', on: { operation: 'list_connected_accounts' }, do: faults }
  return { name: 's', rules: [rule] }
}

function creatingDoes(fault: JsonObject, when: object = {}): object {
  const rule = { name: 'r', at: 'service', on: { operation: 'create_connected_account' }, when, do: [fault] }
  return { name: 's', rules: [rule] }
}

interface Received {
  /** Everything that was received, as text. */
  text: string
  /** The number of received chunks. */
  pieces: number
  /** How the connection ended: by the other side's FIN, or by an error. */
  end: string
}

/** Requests a listing over a plain socket; returns everything that it receives until the connection ends. */
function listRaw(mock: ScenarioMock): Promise<Received> {
  const { hostname, port } = new URL(mock.url)
  return new Promise((resolve) => {
    const received = { text: '', pieces: 0 }
    const socket = connect(Number(port), hostname, () => {
      const head = ['GET /api/v1/connected_accounts HTTP/1.1', `Host: ${hostname}:${port}`, 'Connection: close']
      socket.write([...head, `Authorization: ${mock.authorization()}`, '', ''].join('\r\n'))
    })
    socket.on('data', (chunk: Buffer) => {
      received.text += chunk.toString()
      received.pieces += 1
    })
    socket.on('end', () => resolve({ ...received, end: 'FIN' }))
    socket.on('error', (error: Error & { code?: string }) => {
      resolve({ ...received, end: error.code ?? error.message })
    })
  })
}

/** The declared and the received length of an answer. */
function lengths(text: string): { declared: number; received: number } {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { declared: Number(/content-length: (\d+)/i.exec(head)?.[1]), received: Buffer.byteLength(body) }
}

describe('faults on the wire at the service, seen from a plain socket', () => {
  it('reset_connection: the client gets RST and no bytes', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ reset_connection: {} })] })
    expect(await listRaw(mock)).toEqual({ text: '', pieces: 0, end: 'ECONNRESET' })
  })

  it('empty_response: the client gets FIN and no bytes', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ empty_response: {} })] })
    expect(await listRaw(mock)).toEqual({ text: '', pieces: 0, end: 'FIN' })
  })

  it.for([
    ['half of it', {}, 0.5],
    ['none of it', { bytes: 0 }, 0],
  ])('truncate_body: the body ends early after %s', async ([_name, params, share], { startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ truncate_body: params })] })
    const { text, end } = await listRaw(mock)
    const { declared, received } = lengths(text)
    expect(text).toContain('HTTP/1.1 200 OK')
    expect(declared).toBeGreaterThan(20)
    expect(received).toBe(Math.floor(declared * share))
    expect(end).toBe('FIN')
  })

  it('malformed_json: the body has its length and is not JSON', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ malformed_json: {} })] })
    const { text } = await listRaw(mock)
    const { declared, received } = lengths(text)
    expect(received).toBe(declared)
    expect(() => JSON.parse(text.split('\r\n\r\n')[1] ?? '') as unknown).toThrow(SyntaxError)
  })

  it('slow_body: the whole body arrives, in pieces and over time', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ slow_body: { over: 120, pieces: 4 } })] })
    const start = performance.now()
    const { text, pieces } = await listRaw(mock)
    expect(performance.now() - start).toBeGreaterThan(110)
    expect(pieces).toBeGreaterThan(2)
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ connected_accounts: [] })
  })

  it('latency: the complete answer arrives later', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ latency: { min: 80, max: 90 } })] })
    const start = performance.now()
    expect((await mock.call('GET', '/connected_accounts')).status).toBe(200)
    expect(performance.now() - start).toBeGreaterThan(75)
  })

  it('timeout: no bytes arrive until the client gives up', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [listingDoes({ timeout: {} })] })
    const signal = AbortSignal.timeout(150)
    const asked = fetch(`${mock.url}/api/v1/connected_accounts`, {
      headers: { Authorization: mock.authorization() },
      signal,
    })
    await expect(asked).rejects.toThrow('aborted due to timeout')
  })

  it.for([['timeout', {}] as const, ['latency', 60_000] as const, ['slow_body', { over: 60_000 }] as const])(
    'a request that waits in %s does not keep the server from closing',
    async ([kind, params], { startMock }) => {
      const mock = await startMock({ scenarios: [listingDoes({ [kind]: params })], limits: { closeTimeout: 600_000 } })
      const asked = listRaw(mock)
      await until(() => mock.scenarios.list()[0]?.rules[0]?.hits === 1)
      await mock.close()
      await asked
    },
  )

  it('respond: the answer replaces the operation, which is not carried out', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [CREATE_REFUSED] })
    const asked = { connector: 'mail', identifier: 'ada@example.com' }
    const refused = await mock.call('POST', '/connected_accounts', asked)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('7')
    expect(refused.headers.get('x-request-id')).toBeTruthy()
    expect(refused.body).toMatchObject({ code: 14, details: [{ error_code: 'STORAGE_UNAVAILABLE' }] })
    expect((await mock.call('POST', '/connected_accounts', asked)).status).toBe(201)
  })

  it.for([
    [{ status: 409 }, { resource_info: { resource_name: expect.stringMatching(/^ca_/) as string } }],
    [
      { status: 400, error_code: 'INVALID_CONNECTOR', message: 'no' },
      {
        validation_error_info: {
          field_violations: [{ field: 'connector', description: 'no', constraint: 'scenario' }],
        },
      },
    ],
  ])('respond %j has the details of such an error', async ([params, details], { startMock }) => {
    const mock = await startMock({ scenarios: [creatingDoes({ respond: params })] })
    const answer = await mock.call('POST', '/connected_accounts', {
      connector: 'mail',
      identifier: 'ada@example.com',
    })
    expect(answer.body).toMatchObject({ details: [{ ...details, request_info: {} }] })
  })

  it('respond 409 names the existing account', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [creatingDoes({ respond: { status: 409 } }, { after: 1 })] })
    const id = await mock.account()
    const answer = await mock.call('POST', '/connected_accounts', {
      connector: 'mail',
      identifier: 'ada@example.com',
    })
    expect(answer.body).toMatchObject({ details: [{ resource_info: { resource_name: id } }] })
  })

  it.each(['plain', 'Grüße', 'Grüße 😀'])('respond sends a header in Latin-1 with any body: %s', (body) => {
    const parameters = { status: 503, headers: { 'X-Note': 'Zürich' }, body: { body } }
    const rules = [
      { name: 'a', at: 'service', on: { operation: 'list_connected_accounts' }, do: [{ respond: parameters }] },
      { name: 'b', at: 'third_party', do: [{ respond: parameters }] },
    ]
    return withScenarios({ scenarios: [{ name: 's', rules }] }, async (mock) => {
      for (const path of ['/api/v1/connected_accounts', '/third-party/mail/api/v1/messages']) {
        const answer = await fetch(`${mock.url}${path}`, { headers: { Authorization: mock.authorization() } })
        expect([path, answer.headers.get('x-note'), await answer.json()]).toEqual([path, 'Zürich', { body }])
      }
    })
  })

  it('respond with a text sends it unchanged', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [listingDoes({ respond: { status: 500, body: '<h1>Bad gateway</h1>' } })],
    })
    const { status, text, headers } = await mock.call('GET', '/connected_accounts')
    expect([status, text, headers.get('content-type')]).toEqual([500, '<h1>Bad gateway</h1>', 'text/plain'])
  })
})

const CREATE_REFUSED = {
  name: 's',
  rules: [
    {
      name: 'r',
      at: 'service',
      on: { operation: 'create_connected_account' },
      when: { first: 1 },
      do: [{ respond: { status: 503, headers: { 'Retry-After': 7 } } }],
    },
  ],
}

/** A scenario with one rule at the third party's API that applies these faults to every call. */
function mailDoes(...faults: JsonObject[]): object {
  return { name: 's', rules: [{ name: 'r', at: 'third_party', on: { connector: 'mail' }, do: faults }] }
}

/** One call for each fault, and the answer of its caller. */
const AT_THIRD_PARTY: readonly [kind: FaultKind, parameters: JsonValue, status: number, said: RegExp][] = [
  ['reset_connection', {}, 500, /ECONNRESET/],
  ['empty_response', {}, 500, /socket hang up|ECONNRESET/],
  ['truncate_body', {}, 500, /aborted|ECONNRESET/],
  ['malformed_json', {}, 500, /JSON/],
  ['slow_body', { over: 50 }, 200, /msg_/],
  ['latency', 30, 200, /msg_/],
  ['respond', { status: 418, body: { error: 'teapot' } }, 500, /teapot/],
  ['respond', { status: 429, headers: { 'Retry-After': '3' }, body: {} }, 429, /TOOL_ERROR/],
]

describe('faults on the wire at the third party, seen by the caller of a tool', () => {
  it.for(AT_THIRD_PARTY)('%s %j: %i', async ([kind, params, status, said], { startMock }) => {
    const mock = await startMock({ scenarios: [mailDoes({ [kind]: params })] })
    const answer = await mock.send(await mock.account())
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(said)
  })

  it('are all in the table above except those that wait for another request or for the time-out of the tool', () => {
    const elsewhere = ['model', 'webhook', 'consent']
    const onTheWire = FAULT_KINDS.filter(
      (kind) => !elsewhere.includes(FAULTS[kind].phase) && kind !== 'timeout' && kind !== 'hold_until',
    )
    expect(onTheWire.filter((kind) => !AT_THIRD_PARTY.some(([tested]) => tested === kind))).toEqual([])
  })

  it('a connection that a fault broke is not used again', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [mailOnce({ reset_connection: {} })] })
    const id = await mock.account()
    expect((await mock.send(id)).status).toBe(500)
    expect((await mock.send(id)).status).toBe(200)
  })
})

function mailOnce(fault: JsonObject): object {
  return { name: 's', rules: [{ name: 'r', at: 'third_party', when: { first: 1 }, do: [fault] }] }
}

it('a client that goes away while its third party answers has got nothing, and the journal says so', () => {
  const rule = { name: 'slow', at: 'third_party', do: [{ hold_until: { requests: 2, within: '60s' } }] }
  return withScenarios({ scenarios: [{ name: 'slow', rules: [rule] }] }, async (mock) => {
    const connected_account_id = await mock.account()
    const client = new AbortController()
    let isClosed = false
    const watch = (message: unknown): void => {
      ;(message as { response: ServerResponse }).response.once('close', () => (isClosed = true))
      unsubscribe('http.server.request.start', watch)
    }
    subscribe('http.server.request.start', watch)
    const gone = fetch(`${mock.url}/api/v1/execute_tool`, {
      method: 'POST',
      headers: { Authorization: mock.authorization(), 'Content-Type': 'application/json' },
      body: JSON.stringify({ connected_account_id, tool_name: 'mail_list_messages', tool_input: {} }),
      signal: client.signal,
    })
    await until(() => mock.scenarios.list()[0]?.rules[0]?.matched === 1)
    client.abort()
    await expect(gone).rejects.toThrow()
    await until(() => isClosed)
    mock.scenarios.stop('slow')
    const match = { operation: 'execute_tool' }
    const journal = async (path: string, init?: object) =>
      (await fetch(`${mock.url}/_mock/requests${path}`, init)).json()
    const waiting = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ match }) }
    expect(await journal('/wait', waiting)).toMatchObject({ ok: true })
    const { requests } = (await journal('?operation=execute_tool')) as { requests: { id: string; status: number }[] }
    expect(requests.map(({ status }) => status)).toEqual([0])
    expect(await journal(`/${requests[0]!.id}/explain`)).toMatchObject({
      text: expect.stringContaining('No answer was sent: its client has gone.') as string,
    })
  })
})
