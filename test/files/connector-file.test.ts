import { expect, it } from 'vitest'
import { connectorOf } from './files.ts'

const MAIL = `
connector: mail
display_name: Mail
authorization_type: OAUTH
oauth: { scopes: [mail.read, mail.send], access_token_lifetime: 1h, refresh_token: rotate }
people: [ada@example.com, grace@example.com]
tools:
  - name: mail_send_message
    description: Sends one message.
    input_schema: { type: object, required: [to, subject], properties: { to: { type: string }, subject: { type: string }, body: { type: string } } }
    call: { method: POST, path: /v1/messages, body: { to: "{{input.to}}", subject: "{{input.subject}}", body: "{{input.body}}" } }
    result: { message_id: "{{response.body.id}}", thread_id: "{{response.body.thread_id}}" }
responders:
  - on: { method: POST, path: /v1/messages, body: { to: "*@blocked.example" } }
    respond: { status: 422, body: { error: recipient_blocked } }
  - on: { method: POST, path: /v1/messages }
    respond: { status: 201, body: { id: "msg_{{id}}", thread_id: "thr_{{faker 'string.alphanumeric' 8}}", from: "{{account.identifier}}" } }
  - on: { method: GET, path: /v1/messages }
    sequence: [ { status: 200, body: { messages: [] } }, { status: 200, body: { messages: [ { id: msg_1 } ] } } ]
    after_last: repeat
`

it('gives a tool without input schema the schema of an object without properties', async () => {
  const { tools } = await connectorOf(
    'connector: shop\nauthorization_type: NO_AUTH\ntools: [{ name: list, call: { method: GET, path: / } }]\n',
  )
  expect(tools[0]?.input_schema).toEqual({ type: 'object', properties: {} })
})

it('with the example of the documentation becomes a connector with every default', async () => {
  expect(await connectorOf(MAIL)).toEqual({
    connector: 'mail',
    display_name: 'Mail',
    description: '',
    icon_src: '',
    categories: [],
    authorization_type: 'OAUTH',
    oauth: {
      scopes: ['mail.read', 'mail.send'],
      access_token_lifetime: 3_600_000,
      refresh_token: 'rotate',
      domain: '',
    },
    cluster: 'serverless',
    credentials: { fields: [], send: { headers: {}, query: {} } },
    people: ['ada@example.com', 'grace@example.com'],
    reject: [],
    base_url: null,
    custom_provider: null,
    tools: [
      {
        name: 'mail_send_message',
        display_name: 'Mail send message',
        description: 'Sends one message.',
        tags: [],
        is_default: true,
        input_schema: {
          type: 'object',
          required: ['to', 'subject'],
          properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } },
        },
        call: {
          method: 'POST',
          path: '/v1/messages',
          query: {},
          headers: {},
          body: { to: '{{input.to}}', subject: '{{input.subject}}', body: '{{input.body}}' },
          timeout: 30_000,
        },
        result: { message_id: '{{response.body.id}}', thread_id: '{{response.body.thread_id}}' },
      },
    ],
    responders: [
      {
        on: { method: 'POST', path: '/v1/messages', body: { to: '*@blocked.example' } },
        answers: [{ status: 422, headers: {}, body: { error: 'recipient_blocked' } }],
        after_last: 'repeat',
      },
      {
        on: { method: 'POST', path: '/v1/messages' },
        answers: [
          {
            status: 201,
            headers: {},
            body: {
              id: 'msg_{{id}}',
              thread_id: "thr_{{faker 'string.alphanumeric' 8}}",
              from: '{{account.identifier}}',
            },
          },
        ],
        after_last: 'repeat',
      },
      {
        on: { method: 'GET', path: '/v1/messages' },
        answers: [
          { status: 200, headers: {}, body: { messages: [] } },
          { status: 200, headers: {}, body: { messages: [{ id: 'msg_1' }] } },
        ],
        after_last: 'repeat',
      },
    ],
  })
})

it('may be JSON and may name its schema', async () => {
  const text = JSON.stringify({
    $schema: './connector.schema.json',
    connector: 'news',
    authorization_type: 'NO_AUTH',
  })
  expect(await connectorOf(text)).toMatchObject({ connector: 'news', display_name: 'News', tools: [] })
})

it('reads every form of a duration', async () => {
  const lifetimes = ['90s', '1h30m', 'PT5M', '45'].map(async (written) => {
    const text = `{ connector: a, authorization_type: OAUTH_M2M, oauth: { access_token_lifetime: ${written} } }`
    return (await connectorOf(text)).oauth.access_token_lifetime
  })
  expect(await Promise.all(lifetimes)).toEqual([90_000, 5_400_000, 300_000, 45_000])
})

it('gives an answer the status 200 and an empty body by default', async () => {
  const { responders } = await connectorOf(
    '{ connector: a, authorization_type: NO_AUTH, responders: [{ on: { path: /x }, respond: {} }] }',
  )
  expect(responders[0]?.answers).toEqual([{ status: 200, headers: {}, body: null }])
})

it('flattens nested objects of a body match to dotted paths, but not lists', async () => {
  const { responders } = await connectorOf(`
connector: a
authorization_type: NO_AUTH
responders:
  - on: { body: { order: { customer: { name: Ada }, lines: [1, 2], note: {} }, "meta.kind": "b*" } }
    respond: { status: 204 }
`)
  expect(responders[0]?.on.body).toEqual({
    'order.customer.name': 'Ada',
    'order.lines': [1, 2],
    'order.note': {},
    'meta.kind': 'b*',
  })
})

it('sends credential fields of its own in the usual places of its type', async () => {
  const { credentials } = await connectorOf(
    '{ connector: a, authorization_type: BASIC, credentials: { fields: [{ name: user, secret: false }, { name: pin, hint: Four digits }] } }',
  )
  expect(credentials).toEqual({
    fields: [
      { name: 'user', label: 'User', secret: false, required: true, hint: '' },
      { name: 'pin', label: 'Pin', secret: true, required: true, hint: 'Four digits' },
    ],
    send: { headers: { Authorization: '{{basic credentials.user credentials.pin}}' }, query: {} },
  })
})

it('needs no authorization type when it only serves custom providers', async () => {
  expect(await connectorOf('{ connector: acme, custom_provider: Acme }')).toMatchObject({ custom_provider: 'Acme' })
})

it('follows aliases', async () => {
  const { responders } = await connectorOf(`
connector: a
authorization_type: NO_AUTH
responders:
  - { on: { path: /a }, respond: &answer { status: 202, body: { ok: true } } }
  - { on: { path: /b }, respond: *answer }
`)
  expect(responders[1]?.answers).toEqual(responders[0]?.answers)
})

it('keeps keys named __proto__ and constructor as ordinary keys', async () => {
  const { responders, tools } = await connectorOf(`
connector: constructor
authorization_type: NO_AUTH
tools:
  - { name: __proto__, call: { method: GET, path: /x, headers: { __proto__: h } } }
responders:
  - { on: { path: /x }, respond: { body: { __proto__: { polluted: true }, constructor: 1 } } }
`)
  expect(JSON.stringify(responders[0]?.answers[0]?.body)).toBe('{"__proto__":{"polluted":true},"constructor":1}')
  expect(Object.keys(tools[0]?.call.headers ?? {})).toEqual(['__proto__'])
  expect(Object.prototype).not.toHaveProperty('polluted')
})
