import { createServer, type IncomingMessage, request as askMock, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ConformOptions, type ConformReport, checkConformance } from '../../src/compare/conform/run.ts'
import type { Operation } from '../../src/model/contract/shapes.ts'
import type { Handler } from '../../src/service/operations/operation.ts'
import { OPERATIONS } from '../../src/service/operations/table.ts'
import { type AppOptions, createApp } from '../../src/app/app.ts'
import type { ClientCredentials } from '../../src/compare/conform/target.ts'
import type { Mutant, Parts, WireReply, WireRequest } from './mutant.ts'

type RequestChange = Parameters<Parts['request']>[0]
type ReplyChange = Parameters<Parts['reply']>[0]

/** Runs the suite against a fresh mock with that mutation. */
export function conformOf(
  mutant: Pick<Mutant, 'mutate'>,
  options: Pick<ConformOptions, 'only'> = {},
): Promise<ConformReport> {
  return withBrokenMock(mutant, { mcp: true }, async ({ baseUrl, client }) => {
    const standard = { baseUrl, client, prefix: 'conform-mutant', allowProviderChanges: true }
    return checkConformance({ ...standard, controlApi: true, ...options })
  })
}

/** What a caller of a broken mock has to know. */
export interface BrokenMock {
  readonly baseUrl: string
  readonly client: ClientCredentials
}

/** A fresh mock with a mutation, as long as it is used. */
export async function withBrokenMock<T>(
  mutant: Pick<Mutant, 'mutate'>,
  options: AppOptions,
  use: (mock: BrokenMock) => Promise<T>,
): Promise<T> {
  const operations: Record<string, unknown> = { ...OPERATIONS }
  const requests: RequestChange[] = []
  const replies: ReplyChange[] = []
  mutant.mutate({
    around: (operation, wrapped) => {
      const handler = operations[operation] as Handler<typeof operation>
      operations[operation] = (call: Parameters<typeof handler>[0]) => wrapped(call, handler)
    },
    request: (change) => void requests.push(change),
    reply: (change) => void replies.push(change),
  })
  const app = await createApp({ ...options, operations: operations as { [Id in Operation]: Handler<Id> } })
  const mock = await app.listen({ host: '127.0.0.1', port: 0 })
  const front = createServer(
    (request, response) => void forward(request, response, { port: mock.port, requests, replies }),
  )
  try {
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const baseUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    return await use({ baseUrl, client: app.client })
  } finally {
    front.closeAllConnections()
    front.close()
    await app.close()
  }
}

interface Changes {
  readonly port: number
  readonly requests: readonly RequestChange[]
  readonly replies: readonly ReplyChange[]
}

/** Forwards a request to the mock, and returns its answer, both with the changes of the mutant. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { port, requests, replies }: Changes,
): Promise<void> {
  const seen = wireRequest(request)
  for (const change of requests) change(seen)
  const { method, headers } = seen
  const onward = askMock({ host: '127.0.0.1', port, method, path: urlOf(seen), headers, agent: false })
  // The mock may close the connection before it has read the rest of a refused body.
  onward.on('error', () => undefined)
  if (seen.body === undefined) request.pipe(onward)
  else onward.end(seen.body)
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = await answer.toArray()
  request.unpipe(onward).resume()
  onward.destroy()
  const reply = replyOf(answer, Buffer.concat(chunks).toString())
  if (/^\/(api|oauth|proxy|mcp|\.well-known)\//.test(seen.path)) for (const change of replies) change(reply, seen)
  response.writeHead(reply.status, reply.headers)
  response.end(typeof reply.body === 'object' ? JSON.stringify(reply.body) : reply.body)
}

function replyOf({ statusCode = 0, headers }: IncomingMessage, text: string): WireReply {
  const { 'content-length': _length, connection: _connection, ...rest } = headers
  const isJson = text !== '' && headers['content-type']?.startsWith('application/json')
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)])),
    body: isJson ? JSON.parse(text) : text || undefined,
  }
}

function wireRequest(request: IncomingMessage): WireRequest {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  return {
    method: request.method ?? '',
    path,
    query: new URLSearchParams(query),
    sentQuery: query,
    headers: { ...request.headers, connection: 'close' },
  }
}

/** An unchanged query is forwarded byte for byte. */
function urlOf({ path, query, sentQuery }: WireRequest): string {
  const isChanged = query.toString() !== new URLSearchParams(sentQuery).toString()
  const text = isChanged ? query.toString() : sentQuery
  return text === '' ? path : `${path}?${text}`
}
