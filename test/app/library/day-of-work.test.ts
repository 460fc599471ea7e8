import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createToolmock, type ToolmockEnvironment } from '../../../src/index.ts'
import { type Client, clientOf } from './client.ts'

type Json = Record<string, unknown>

const ADA = 'ada@example.com'
const CONNECTORS = ['mail', 'calendar', 'crm']
const CLOCK = '2026-03-02T08:00:00Z'
const TOOLMOCK = { clock: CLOCK, idSeed: 3 }

/** The input of one day, so that two days differ. */
interface Plan {
  readonly name: string
  readonly email: string
  /** The hour of the meeting tomorrow. */
  readonly hour: string
  readonly amount: number
}
const LENA: Plan = { name: 'Lena Vogt', email: 'lena@vogt.example', hour: '15', amount: 4800 }
const OMAR: Plan = { name: 'Omar Haddad', email: 'omar@haddad.example', hour: '16', amount: 125 }

/** Ids that the planner has read from results of tools. */
interface Made {
  readonly contact: string
  readonly deal: string
  readonly event: string
  readonly message: string
  readonly thread: string
  readonly reply: string
}

/** The tool calls of an agent: execute_tool and its results. */
class Agent {
  constructor(readonly client: Client) {}

  async connect(): Promise<void> {
    for (const connector of CONNECTORS) {
      const token = { oauth_token: { access_token: `at_${connector}`, refresh_token: `rt_${connector}` } }
      await this.client.account({ connector, identifier: ADA, connected_account: { authorization_details: token } })
    }
  }

  async tool(tool_name: string, tool_input: Json): Promise<Json> {
    const { status, body } = await this.execute(tool_name, tool_input)
    expect([tool_name, status, body]).toEqual([tool_name, 200, expect.anything()])
    return body['data'] as Json
  }

  /** The word of the third party that refused the call. */
  async refusal(tool_name: string, tool_input: Json): Promise<unknown> {
    const { body } = await this.execute(tool_name, tool_input)
    const [detail] = body['details'] as { tool_error_info?: { tool_error_code?: string } }[]
    return detail?.tool_error_info?.tool_error_code ?? JSON.stringify(body)
  }

  private execute(tool_name: string, tool_input: Json) {
    const [connector] = tool_name.split('_')
    return this.client.post('/execute_tool', { connector, identifier: ADA, tool_name, tool_input })
  }
}

const rows = (data: Json, key: string): Json[] => data[key] as Json[]
const ids = (data: Json, key: string): unknown[] => rows(data, key).map(({ id }) => id)

/**
 * A scripted planner, whose next step depends on the results of tools. It reads unread mail, answers the customer, moves a
 * conflicting meeting, updates the customer relations, and cleans up.
 */
async function work(agent: Agent, plan: Plan): Promise<Made> {
  const unread = rows(await agent.tool('mail_list_messages', { folder: 'inbox', unread: true }), 'messages')
  const offer = unread.find(({ from }) => from === 'marco@brightside.example')
  const { contacts } = await agent.tool('crm_list_contacts', { query: String(offer?.['from']) })
  const [marco] = contacts as Json[]
  const { company } = await agent.tool('crm_get_company', { company_id: marco?.['company_id'] })

  // A meeting with the customer: the first time is taken, the next one is free.
  const meeting = {
    title: `Meeting of ${(company as Json)['name'] as string} and ${plan.name}`,
    attendees: [marco?.['email']],
  }
  const taken = { start: '2026-03-03T12:45:00Z', end: '2026-03-03T13:15:00Z' }
  expect(await agent.refusal('calendar_create_event', { ...meeting, ...taken })).toBe('409')
  const day = { from: '2026-03-03T00:00:00Z', to: '2026-03-04T00:00:00Z' }
  const busy = rows(await agent.tool('calendar_get_free_busy', day), 'busy')
  expect(busy.map(({ start }) => start)).toEqual(['2026-03-03T08:00:00Z', '2026-03-03T12:30:00Z'])
  const free = { start: `2026-03-03T${plan.hour}:00:00Z`, end: `2026-03-03T${plan.hour}:30:00Z` }
  const event = await agent.tool('calendar_create_event', { ...meeting, ...free })

  const answer = `Gladly, tomorrow at ${plan.hour} o'clock.`
  const reply = await agent.tool('mail_reply_to_message', { message_id: offer?.['id'], body: answer })
  await agent.tool('mail_label_message', { message_id: offer?.['id'], add: ['answered'], remove: ['sales'] })

  // The invoice goes to a colleague, the newsletter away.
  const { messages } = await agent.tool('mail_search_messages', { query: 'invoice overdue', folder: 'inbox' })
  const [invoice] = messages as Json[]
  const { text } = await agent.tool('mail_get_message', { message_id: invoice?.['id'] })
  const sent = await agent.tool('mail_send_message', { to: plan.email, subject: 'Please pay', body: text })
  await agent.tool('mail_move_message', { message_id: invoice?.['id'], folder: 'archive' })
  const letters = rows(await agent.tool('mail_list_messages', { label: 'newsletter' }), 'messages')
  for (const { id } of letters) await agent.tool('mail_delete_message', { message_id: id })
  expect(await agent.refusal('mail_send_message', { to: 'x@blocked.example', subject: 'Hi' })).toBe('recipient_blocked')

  const contact = await agent.tool('crm_create_contact', {
    name: plan.name,
    email: plan.email,
    company_id: marco?.['company_id'],
  })
  expect(await agent.refusal('crm_create_contact', { name: 'Again', email: plan.email })).toBe('duplicate')
  const won = rows(await agent.tool('crm_list_deals', { stage: 'proposal', contact_id: marco?.['id'] }), 'deals')
  for (const { id } of won) await agent.tool('crm_update_deal', { deal_id: id, stage: 'won' })
  const deal = await agent.tool('crm_create_deal', {
    title: `Follow-up of ${plan.name}`,
    company_id: marco?.['company_id'],
    contact_id: contact['id'],
    amount: plan.amount,
  })
  await agent.tool('crm_add_note', { contact_id: contact['id'], text: `Meets us at ${plan.hour} o'clock.` })
  await agent.tool('calendar_delete_event', { event_id: 'evt_dentist' })
  return {
    contact: String(contact['id']),
    deal: String(deal['id']),
    event: String(event['id']),
    message: String(sent['message_id']),
    thread: String(reply['thread_id']),
    reply: String(reply['message_id']),
  }
}

/** Reads every effect of a day back through tools. */
async function readBack(agent: Agent, plan: Plan, made: Made): Promise<void> {
  const sent = await agent.tool('mail_list_messages', { folder: 'sent', limit: 2 })
  expect(new Set(ids(sent, 'messages'))).toEqual(new Set([made.message, made.reply]))
  const next = await agent.tool('mail_list_messages', {
    folder: 'sent',
    limit: 2,
    page_token: sent['next_page_token'],
  })
  expect(new Set(ids(next, 'messages'))).toEqual(new Set(['msg_4', 'msg_8']))
  expect(next['next_page_token']).toBe('')
  expect(await agent.tool('mail_get_message', { message_id: made.message })).toMatchObject({
    from: ADA,
    to: plan.email,
    subject: 'Please pay',
    text: expect.stringContaining('1,280.00 EUR'),
    folder: 'sent',
  })
  const thread = rows(await agent.tool('mail_get_thread', { thread_id: made.thread }), 'messages')
  expect(thread.map(({ id }) => id)).toEqual(['msg_3', 'msg_4', 'msg_5', made.reply])
  expect(thread.at(-1)).toMatchObject({ to: 'marco@brightside.example', text: expect.stringContaining(plan.hour) })
  expect(thread.at(-2)).toMatchObject({ labels: ['answered'], answered: true, unread: false })
  const { threads } = await agent.tool('mail_list_threads', { query: 'spring campaign' })
  expect(threads).toMatchObject([{ id: made.thread, message_count: 4 }])
  expect(ids(await agent.tool('mail_list_messages', { folder: 'archive' }), 'messages')).toContain('msg_2')
  expect(ids(await agent.tool('mail_list_messages', { label: 'newsletter' }), 'messages')).toEqual([])
  expect(ids(await agent.tool('mail_list_messages', { folder: 'trash' }), 'messages')).toEqual(['msg_6', 'msg_9'])

  const day = { from: '2026-03-03T00:00:00Z', to: '2026-03-04T00:00:00Z' }
  expect(ids(await agent.tool('calendar_list_events', day), 'events')).toEqual(['evt_lunch', made.event])
  expect(await agent.tool('calendar_get_event', { event_id: made.event })).toMatchObject({
    start: `2026-03-03T${plan.hour}:00:00Z`,
    attendees: ['marco@brightside.example'],
    organizer: ADA,
  })
  expect(await agent.refusal('calendar_get_event', { event_id: 'evt_dentist' })).toBe('404')

  const found = await agent.tool('crm_search', { query: plan.name })
  expect([ids(found, 'contacts'), ids(found, 'deals')]).toEqual([[made.contact], [made.deal]])
  expect(await agent.tool('crm_get_contact', { contact_id: made.contact })).toMatchObject({ stage: 'lead' })
  expect(await agent.tool('crm_list_notes', { contact_id: made.contact })).toMatchObject({
    notes: [{ text: `Meets us at ${plan.hour} o'clock.`, author: ADA }],
    total: 1,
  })
  expect(ids(await agent.tool('crm_list_deals', { stage: 'won' }), 'deals')).toEqual(['deal_spring', 'deal_website'])
  const company = await agent.tool('crm_get_company', { company_id: 'com_brightside' })
  expect(rows(company, 'deals').find(({ id }) => id === made.deal)).toMatchObject({ amount: plan.amount })
  expect(await agent.refusal('crm_delete_contact', { contact_id: made.contact })).toBe('contact_has_deals')
}

async function agentOf(environment: Pick<ToolmockEnvironment, 'env'>): Promise<Agent> {
  return new Agent(await clientOf(environment))
}

it('has effects that tools read back, also after a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-day-'))
  try {
    const options = { ...TOOLMOCK, state: join(folder, 'state.json') }
    let made: Made
    {
      await using mock = await createToolmock(options)
      const agent = await agentOf(mock)
      await agent.connect()
      made = await work(agent, LENA)
      await readBack(agent, LENA, made)
    }
    await using again = await createToolmock(options)
    await readBack(await agentOf(again), LENA, made)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)

it('is isolated from another one in another environment at the same time', async () => {
  await using mock = await createToolmock(TOOLMOCK)
  const days = [LENA, OMAR].map(async (plan) => {
    const environment = await mock.environment(plan.name.toLowerCase().replace(' ', '-'), { clock: CLOCK })
    const agent = await agentOf(environment)
    await agent.connect()
    return { agent, plan, made: await work(agent, plan) }
  })
  for (const { agent, plan, made } of await Promise.all(days)) await readBack(agent, plan, made)
}, 60_000)
