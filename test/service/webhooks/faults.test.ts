import { expect } from 'vitest'
import { it, type WebhookMock } from './fixture.ts'
import { OTHER_SECRET, SECRET } from './receiver.ts'

const account = (name: string) => ({ connector: 'mail', identifier: `${name}@example.com` })

/** Starts a scenario with one rule at webhooks. */
async function rule({ call }: WebhookMock, fault: object, more: object = {}): Promise<void> {
  const rules = [{ name: 'fault', at: 'webhook', do: [fault], ...more }]
  const put = await call('put', '/scenarios/events', { name: 'events', rules })
  if (put.status !== 200) throw new Error(put.text)
  await call('post', '/scenarios/events/start')
}

async function findings({
  call,
}: WebhookMock): Promise<{ field: string; code: string; found: string; requests: string[] }[]> {
  const { body } = await call('get', '/contract')
  const { total } = body as {
    total: {
      findings: {
        operation: string
        field: string
        code: string
        found: string
        basis: string
        requests: string[]
      }[]
    }
  }
  return total.findings
    .filter(({ operation }) => operation === 'webhook')
    .map(({ field, code, found, requests }) => ({ field, code, found, requests }))
}

const FIRST = { when: { first: 1 } }

it('drop loses an attempt, and the next one comes by the schedule', async ({ mock }) => {
  const { call, service, receiver, attempted, attempts } = mock
  await rule(mock, { drop: {} }, FIRST)
  await service('post', '/connected_accounts', account('ada'))
  await attempted(1)
  expect((await attempts())[0]).toMatchObject({ status: 0, rules: [{ rule: 'fault' }] })
  expect(receiver.answers).toEqual([])
  await call('put', '/clock', { advance: '5s' })
  await receiver.answered(1)
  expect(receiver.types).toEqual(['created'])
})

it('latency makes it come late, behind nothing but its own account', async ({ mock }) => {
  const { service, receiver } = mock
  await rule(mock, { latency: '100ms' }, { on: { account: { identifier: 'late@*' } }, ...FIRST })
  for (const name of ['late', 'ada']) await service('post', '/connected_accounts', account(name))
  await receiver.answered(2)
  expect(receiver.events.map(({ data }) => data['identifier'])).toEqual(['ada@example.com', 'late@example.com'])
})

it.for([{ bad_signature: {} }, { stale_timestamp: {} }])(
  '%j is refused by an application that verifies',
  async (fault, { mock }) => {
    const { call, service, receiver, attempted } = mock
    await rule(mock, fault, { on: { body: { type: 'connected_account.created' } }, ...FIRST })
    await service('post', '/connected_accounts', account('ada'))
    await attempted(1)
    expect(receiver.answers).toEqual([401])
    await call('put', '/clock', { advance: '5s' })
    await attempted(2)
    expect(receiver.types).toEqual(['created'])
    expect(await findings(mock)).toEqual([])
  },
)

it.for([
  [{ bad_signature: {} }, 'webhook-signature', 'forged'],
  [{ stale_timestamp: {} }, 'webhook-timestamp', 'stale'],
])('%j is a finding when an application takes it', async ([fault, path, constraint], { mock }) => {
  const { service, receiver, attempted, attempts } = mock
  receiver.answer = () => 204
  await rule(mock, fault, FIRST)
  await service('post', '/connected_accounts', account('ada'))
  await attempted(1)
  const [attempt] = await attempts()
  expect(await findings(mock)).toEqual([{ field: path, code: constraint, found: '204', requests: [attempt?.id] }])
  const { body: journal } = await mock.http('get', '/_mock/requests?short=true&kind=webhook')
  const { entries } = journal as { entries: { id: string; marks: string[] }[] }
  expect(entries.map(({ id, marks }) => [id, marks.includes('violation')])).toEqual([[attempt?.id, true]])
  const verdict = await mock.http('get', '/_mock/contract?format=junit')
  expect(verdict.text).toContain(`webhook: ${path} must be verified`)
  expect(verdict.text).toContain('convention:G68')
})

it('old_secret signs with the last secret alone', async ({ mock }) => {
  const { call, service, receiver, url } = mock
  await rule(mock, { old_secret: {} }, { on: { body: { type: '*.created' } } })
  for (const [name, secrets] of Object.entries({ ada: [SECRET, OTHER_SECRET], grace: [OTHER_SECRET, SECRET] })) {
    await call('put', '/webhooks/app', { url, secrets })
    await service('post', '/connected_accounts', account(name))
    await receiver.answered(receiver.answers.length + 1)
  }
  expect(receiver.answers).toEqual([401, 200])
  expect(receiver.requests.map(({ signatures }) => signatures.length)).toEqual([1, 1])
  expect(await findings(mock)).toEqual([])
})

it('duplicate sends an event twice with one id; an application that acts twice is found out', async ({ mock }) => {
  const { service, receiver, attempted, attempts } = mock
  const seen = new Set<string>()
  let isCareful = true
  receiver.answer = async ({ id, type, data }) => {
    if (type.endsWith('created') && !(isCareful && seen.has(id))) {
      const { identifier } = data
      await service('post', '/connected_accounts/magic_link', { connector: 'mail', identifier })
    }
    seen.add(id)
    return 200
  }
  await rule(mock, { duplicate: {} }, { on: { body: { type: '*.created' } } })
  await service('post', '/connected_accounts', account('ada'))
  await attempted(3)
  expect(receiver.types).toEqual(['created', 'created', 'magic_link_generated'])
  expect(new Set((await attempts()).slice(0, 2).map(({ webhook }) => webhook.event)).size).toBe(1)
  expect(await findings(mock)).toEqual([])
  isCareful = false
  await service('post', '/connected_accounts', account('grace'))
  await receiver.answered(6)
  expect(await findings(mock)).toMatchObject([
    {
      field: 'webhook-id',
      code: 'treated_twice',
      found: expect.stringMatching(/^create_magic_link twice, again in req_/),
    },
  ])
})

it('reorder: 2 sends an event after the next one of its account', async ({ mock }) => {
  const { service, receiver } = mock
  await rule(mock, { reorder: 2 }, { on: { account: account('ada') }, ...FIRST })
  await service('post', '/connected_accounts', account('ada'))
  await service('post', '/connected_accounts', account('grace'))
  await service('post', '/connected_accounts:delete', account('ada'))
  await receiver.answered(3)
  const ofAda = receiver.events.filter(({ data }) => data['identifier'] === 'ada@example.com')
  expect(ofAda.map(({ type }) => type)).toEqual(['connected_account.deleted', 'connected_account.created'])
})

it('are refused at other places, and other faults at this one', async ({ mock: { call } }) => {
  const rules = [
    { name: 'a', at: 'service', do: [{ drop: {} }] },
    { name: 'b', at: 'webhook', do: [{ timeout: {} }] },
    { name: 'c', at: 'webhook', on: { tool: 't' }, do: [{ reorder: 1 }] },
  ]
  const put = await call('put', '/scenarios/events', { name: 'events', rules })
  const { message } = (put.body as { error: { message: string } }).error
  expect(put.status).toBe(400)
  for (const part of ['set at service', 'set at webhook', 'unknown at webhook', 'at least 2'])
    expect(message).toContain(part)
})
