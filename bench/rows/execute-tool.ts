import { type HopCall, startBareHop } from '../bare.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds } from '../rounds.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { send, type HttpRequest, requestText } from '../wire.ts'
import { createAccountRequest } from './create.ts'
import { costFigure } from './throughput.ts'

/** A tool, the call that its connector makes, and what the third party answers to it. */
interface Tool {
  what: string
  name: string
  input: object
  call: Omit<HopCall, 'headers'>
}

const SEND: Tool = {
  what: 'execute_tool, a message is sent',
  name: 'mail_send_message',
  input: { to: 'grace@example.com', subject: 'Lunch', body: 'On Friday?' },
  call: {
    method: 'POST',
    path: '/v1/messages',
    body: '{"to":"grace@example.com","subject":"Lunch","body":"On Friday?"}',
    status: 201,
    answer: '{"id":"msg_12345678901234567890","thread_id":"thr_12345678","from":"ada@load.example"}',
  },
}

const LIST: Tool = {
  what: 'execute_tool, messages are listed',
  name: 'mail_list_messages',
  input: { folder: 'inbox', limit: 10 },
  call: {
    method: 'GET',
    path: '/v1/messages?folder=inbox&limit=10',
    body: '',
    status: 200,
    answer: '{"messages":[{"id":"msg_1","from":"grace@example.com","subject":"Lunch on Friday?"}]}',
  },
}

/** Tool executions with the hop to the third party, against a bare server that makes the same hop with keep-alive. */
export async function executeToolRow(bench: Bench): Promise<Results> {
  const figures = [await measure(bench, SEND, { bar: 'execute-tool' })]
  if (bench.scale.unjudged) {
    const state = await bench.states.copy(100)
    figures.push(
      await measure(bench, LIST, {}),
      await measure(bench, { ...SEND, what: `${SEND.what}, with a state file` }, { accounts: 100 }, state),
    )
    bench.states.remove(state)
  }
  return { figures, peers: [] }
}

async function measure(
  bench: Bench,
  tool: Tool,
  judged: Pick<Figure, 'bar' | 'accounts'>,
  state?: string,
): Promise<Figure> {
  await using ours = await startToolmock({ cli: bench.cli, ...(state !== undefined && { state }) })
  const toolCall = await toolRequest(ours, tool)
  const answer = await send(`${ours.url}/api/v1/execute_tool`, toolCall)
  if (answer.status !== 200) throw new Error(`${tool.name} answers ${answer.status}: ${answer.body}`)
  const json = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(tool.call.body)) }
  await using bare = await startBareHop(answer, { ...tool.call, headers: { Authorization: 'Bearer token', ...json } })
  const requests = [requestText(`${ours.url}/api/v1/execute_tool`, toolCall)]
  const targets = { ours: { ...ours, requests, statuses: [200] }, bare: { ...bare, requests, statuses: [200] } }
  const samples = await measureRounds(bench.generator, targets, { ...bench.scale, connections: 16 })
  return costFigure({ what: tool.what, ...judged, ...samples })
}

async function toolRequest({ url }: Served, { name, input }: Tool): Promise<HttpRequest> {
  const created = await send(`${url}/api/v1/connected_accounts`, await createAccountRequest(url, 'ada'))
  if (created.status !== 201) throw new Error(`the account was not created: ${created.body}`)
  const { connected_account } = JSON.parse(created.body) as { connected_account: { id: string } }
  const headers = { ...(await bearer(url)), 'Content-Type': 'application/json' }
  const body = JSON.stringify({ connected_account_id: connected_account.id, tool_name: name, tool_input: input })
  return { method: 'POST', headers, body }
}
