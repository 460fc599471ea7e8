import { expect, it } from 'vitest'
import { ConformTarget } from '../../../src/compare/conform/target.ts'
import { exchangesOf, harSchema } from '../../../src/compare/drift/har.ts'
import { compareExchanges } from '../../../src/compare/drift/replay.ts'
import { driftText, reportOf } from '../../../src/compare/drift/report.ts'
import { HttpClient, type HttpRequest } from '../../../src/platform/http-client.ts'
import { createToolmock, type ToolmockOptions } from '../../../src/index.ts'

const CREATE = '/api/v1/connected_accounts'
type HarEntry = Parameters<typeof exchangesOf>[0]['log']['entries'][number]

it('has no difference at a mock that chooses alike, whatever ids and tokens it makes', async () => {
  const report = await replayed(await recorded({ idSeed: 1 }), { idSeed: 2 })
  expect(report.findings).toEqual([])
  expect(report.gaps.confirmed).toContain('G16')
})

it('confirms the rules by which both refuse a request', async () => {
  const report = await replayed(await recorded({}), {})
  expect(report.gaps.confirmed).toEqual(expect.arrayContaining(['G5', 'G7']))
})

it('names what differs at a mock that chooses otherwise', async () => {
  const report = await replayed(await recorded({}), { documentedOnly: true })
  expect(report.findings.map(({ id, class: of }) => `${of} ${id}`)).toEqual([
    'mock list_tools/404.PATH_NOT_FOUND/status',
  ])
})

it('is reported as text that ends with the gaps and the counts', async () => {
  const report = await replayed(await recorded({}), { documentedOnly: true })
  const lines = driftText(report).split('\n')
  expect(lines[0]).toBe('mock     list_tools/404.PATH_NOT_FOUND/status (convention)')
  expect(lines.at(-1)).toBe('1 finding: 0 contract, 1 mock, 0 data')
})

it('reads a recording of HAR 1.2, and leaves out what is not of the service', async () => {
  const har = harOf(await recorded({}))
  const page = { ...har.log.entries[0]!, request: { ...har.log.entries[0]!.request, url: 'http://h/index.html' } }
  har.log.entries.unshift(page)
  const exchanges = exchangesOf(harSchema.parse(JSON.parse(JSON.stringify(har))))
  expect(exchanges.map(({ request }) => `${request.method} ${request.path}`)[0]).toBe('POST /oauth/token')
})

/** What a client of a mock sends, with the answers. */
async function recorded(options: ToolmockOptions): Promise<HarEntry[]> {
  await using service = await createToolmock(options)
  const client = new HttpClient(service.url)
  const entries: HarEntry[] = []
  const ask = async (request: HttpRequest): Promise<Record<string, unknown>> => {
    const { status, headers, text } = await client.send(request)
    entries.push(entryOf(service.url, request, status, headers, text, entries.length))
    return JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>
  }
  const form = { grant_type: 'client_credentials', client_id: service.clientId, client_secret: service.clientSecret }
  const token = await ask({
    method: 'POST',
    path: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  const headers = { authorization: `Bearer ${String(token['access_token'])}`, 'content-type': 'application/json' }
  const account = { connector: 'mail', identifier: 'ada@drift.example', organization_id: 'org-drift' }
  const created = await ask({ method: 'POST', path: CREATE, headers, body: JSON.stringify(account) })
  const { id } = created['connected_account'] as { id: string }
  await ask({ method: 'GET', path: `${CREATE}/details?id=${id}`, headers })
  await ask({ method: 'GET', path: `${CREATE}?organization_id=org-drift`, headers })
  await ask({ method: 'POST', path: CREATE, headers, body: JSON.stringify(account) })
  await ask({ method: 'GET', path: '/api/v1/tools?page_size=2', headers })
  await ask({ method: 'GET', path: `${CREATE}?page_size=1&page_size=2`, headers })
  await ask({ method: 'POST', path: CREATE, headers, body: '{' })
  return entries
}

function entryOf(
  base: string,
  { method, path, headers = {}, body }: HttpRequest,
  status: number,
  answered: object,
  text: string,
  at: number,
): HarEntry {
  const pairs = (object: object) => Object.entries(object).map(([name, value]) => ({ name, value: String(value) }))
  const common = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1, bodySize: -1 }
  return {
    startedDateTime: new Date(at * 1000).toISOString(),
    time: 1,
    request: {
      ...common,
      method,
      url: base + path,
      headers: pairs(headers),
      queryString: [],
      ...(body === undefined ? {} : { postData: { mimeType: headers['content-type'] ?? '', text: body } }),
    },
    response: {
      ...common,
      status,
      statusText: '',
      headers: pairs(answered),
      content: { size: text.length, mimeType: 'application/json', text },
      redirectURL: '',
    },
    cache: {},
    timings: { send: 0, wait: 1, receive: 0 },
  }
}

function harOf(entries: HarEntry[]) {
  return { log: { version: '1.2', creator: { name: 'test', version: '1' }, entries } }
}

async function replayed(entries: HarEntry[], options: ToolmockOptions) {
  await using mock = await createToolmock(options)
  const target = new ConformTarget(mock.url)
  const client = { id: mock.clientId, secret: mock.clientSecret }
  const exchanges = exchangesOf(harOf(entries))
  try {
    const found = await compareExchanges({ exchanges, mock: target, client })
    return reportOf(found.list(), found.gaps())
  } finally {
    target.close()
  }
}
