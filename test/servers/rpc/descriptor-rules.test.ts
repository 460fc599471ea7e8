import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  create,
  createFileRegistry,
  fromBinary,
  type MessageInitShape,
  setExtension,
  toBinary,
} from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  FieldOptionsSchema,
  FileDescriptorSetSchema,
  MessageOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import {
  field as fieldRules,
  FieldRulesSchema,
  message as messageRules,
  MessageRulesSchema,
} from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { createClient } from '@connectrpc/connect'
import { expect, it } from 'vitest'
import { explainEntry } from '../../../src/journal/request-journal/explain.ts'
import { servedRoutes } from '../../../src/model/contract/route.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import { methodsOf } from '../../../src/servers/rpc/http-rule.ts'
import { skippedLine, skippedRules } from '../../../src/servers/rpc/skipped-rules.ts'
import {
  Account_AuthorizationType,
  ConnectedAccounts,
  Providers,
  Tools,
} from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, DESCRIPTORS, entriesOf, failure, type RpcMock, TRANSPORTS, withRpc } from './fixture.ts'

type Rules = Readonly<Record<string, MessageInitShape<typeof FieldRulesSchema>>>

/** The fixture's descriptors with rules at fields, `SearchAccountsRequest.query`, and expressions at messages. */
function descriptorsWith(rules: Rules, expressions: Readonly<Record<string, string>>): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(DESCRIPTORS))
  const messages = set.file.flatMap((file) => file.messageType)
  const messageNamed = (name: string): DescriptorProto => {
    const message = messages.find((each) => each.name === name)
    if (!message) throw new Error(`the fixture has no message ${name}`)
    return message
  }
  for (const [place, init] of Object.entries(rules)) {
    const [message = '', field = ''] = place.split('.')
    const declared = messageNamed(message).field.find(({ name }) => name === field)
    if (!declared) throw new Error(`the fixture has no field ${place}`)
    declared.options ??= create(FieldOptionsSchema)
    setExtension(declared.options, fieldRules, create(FieldRulesSchema, init))
  }
  for (const [name, expression] of Object.entries(expressions)) {
    const message = messageNamed(name)
    message.options ??= create(MessageOptionsSchema)
    const cel = [{ id: 'ours', message: 'must be ours', expression }]
    setExtension(message.options, messageRules, create(MessageRulesSchema, { cel }))
  }
  return toBinary(FileDescriptorSetSchema, set)
}

interface Ruled {
  readonly rules?: Rules
  readonly expressions?: Readonly<Record<string, string>>
  readonly seed?: string
}

async function withRules({ rules = {}, expressions = {}, seed }: Ruled, work: (mock: RpcMock) => Promise<void>) {
  await withRpc({}, async ({ folder }) => {
    const file = join(folder, 'rules.binpb')
    writeFileSync(file, descriptorsWith(rules, expressions))
    const seeds = seed === undefined ? {} : { seeds: ['bundled', join(folder, 'seed.yaml')] }
    if (seed !== undefined) writeFileSync(join(folder, 'seed.yaml'), seed)
    await withRpc({ descriptors: [file], ...seeds }, work)
  })
}

const text = (value: MessageInitShape<typeof FieldRulesSchema>['type'] & { case: 'string' }) => ({ type: value })
const RULES: Rules = {
  'SearchAccountsRequest.query': text({ case: 'string', value: { notContains: 'zz' } }),
  'SearchAccountsRequest.page_size': { type: { case: 'int64', value: { lessThan: { case: 'lte', value: 20n } } } },
  'ExecuteToolRequest.tool_name': text({ case: 'string', value: { pattern: '^[a-z_]+$' } }),
  'ExecuteToolRequest.identifier': text({ case: 'string', value: { maxLen: 20n } }),
  'Provider.display_name': text({ case: 'string', value: { prefix: 'Our ' } }),
  'DeleteProviderRequest.name': text({ case: 'string', value: { maxLen: 30n } }),
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
}

async function rest({ url, headers }: RpcMock, { method, path, body }: Sent) {
  const sent = body && { body: JSON.stringify(body) }
  const all = { ...headers, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(`${url}/api/v1${path}`, { method, headers: all, ...sent })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}

/** The findings of the latest entry. */
function findings(mock: RpcMock) {
  return (entriesOf(mock).at(-1)?.findings ?? []).map(({ kind, code, field, basis }) => [kind, code, field, basis])
}

const LIST = '/connected_accounts'
it.each<[name: string, sent: Sent, field: string, code: string]>([
  ['a text of the query', { method: 'GET', path: `${LIST}:search?query=abzz` }, 'query', 'string.not_contains'],
  [
    'a large number of the query',
    { method: 'GET', path: `${LIST}:search?query=abcd&page_size=21` },
    'page_size',
    'int64.lte',
  ],
  [
    'a pattern in the body',
    { method: 'POST', path: '/execute_tool', body: { tool_name: 'Mail!', connected_account_id: 'ca_1' } },
    'tool_name',
    'string.pattern',
  ],
  [
    'a field of the message that is the body',
    { method: 'POST', path: '/custom-providers', body: { display_name: 'Notes', proxy_url: 'https://p.example' } },
    'display_name',
    'string.prefix',
  ],
  [
    'a field of the path',
    { method: 'DELETE', path: '/custom-providers/a-provider-with-a-long-name' },
    'name',
    'string.max_len',
  ],
])('refuse %s by REST', async (_, sent, field, code) => {
  await withRules({ rules: RULES }, async (mock) => {
    const { status, body } = await rest(mock, sent)
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(`"field":"${field}"`) as string])
    expect(findings(mock)).toContainEqual(['violation', `buf.validate.${code}`, field, 'descriptors'])
  })
})

it('are what an explanation names', async () => {
  await withRules({ rules: RULES }, async (mock) => {
    await rest(mock, { method: 'GET', path: `${LIST}:search?query=abzz` })
    const { journals, defaultEnvironment } = mock.app.services
    const journal = journals.of(defaultEnvironment()!)
    expect(explainEntry(journal, journal.query().at(-1)!.id, undefined)?.because).toBe(
      'The request breaks a rule of the definitions that the mock was started with (G70).',
    )
  })
})

it.each(Object.entries(TRANSPORTS))('refuse the same by %s', async (_, transport) => {
  await withRules({ rules: RULES }, async (mock) => {
    const { headers } = mock
    const accounts = createClient(ConnectedAccounts, transport(mock.url))
    const { code, rawMessage } = await failure(accounts.searchAccounts({ query: 'abzz' }, { headers }))
    expect([code, rawMessage]).toEqual([3, expect.stringMatching(/^query /)])
    expect(findings(mock)).toEqual([['violation', 'buf.validate.string.not_contains', 'query', 'descriptors']])
  })
})

it('let what they allow pass, and do not see members that the message lacks', async () => {
  await withRules({ rules: RULES }, async (mock) => {
    const { headers } = mock
    expect((await rest(mock, { method: 'GET', path: `${LIST}:search?query=abcd&page_size=20` })).status).toBe(200)
    await clientOf(ConnectedAccounts, mock).searchAccounts({ query: 'abcd', pageSize: 20n }, { headers })
    const body = { display_name: 'Our notes', proxy_url: 'https://p.example', more: 'Their notes' }
    expect((await rest(mock, { method: 'POST', path: '/custom-providers', body })).status).toBe(201)
    await clientOf(Tools, mock).listTools({ filter: { provider: 'mail' } }, { headers })
    expect(entriesOf(mock).map(({ status }) => status)).toEqual([200, 200, 201, 200])
  })
})

it('hold for whole messages too', async () => {
  const expressions = { ProviderRequest: 'this.provider.display_name.startsWith("Our")' }
  await withRules({ expressions }, async (mock) => {
    const { headers } = mock
    const provider = { displayName: 'Notes', description: '', proxyUrl: 'https://p.example' }
    const { code } = await failure(clientOf(Providers, mock).createProvider({ provider }, { headers }))
    expect(code).toBe(3)
    expect(findings(mock)).toEqual([['violation', 'buf.validate.ours', 'body', 'descriptors']])
  })
})

it('are noted with descriptor_rules: warn, and nothing with off', async () => {
  for (const [mode, expected] of [
    ['warn', [['warning', 'buf.validate.string.not_contains', 'query', 'descriptors']]],
    ['off', []],
  ] as const) {
    await withRules({ rules: RULES, seed: `settings: { descriptor_rules: ${mode} }` }, async (mock) => {
      expect((await rest(mock, { method: 'GET', path: `${LIST}:search?query=abzz` })).status).toBe(200)
      expect(findings(mock)).toEqual(expected)
    })
  }
})

it('see the words of the vocabulary, whichever words a request has', async () => {
  const rules: Rules = { 'AccountInput.authorization_type': { type: { case: 'enum', value: { notIn: [9] } } } }
  const seed = 'settings: { vocabulary: { WORKSPACE_DWD: SUITE_DWD } }'
  await withRules({ rules, seed }, async (mock) => {
    const body = { connector: 'mail', identifier: 'a@b', connected_account: { authorization_type: 'SUITE_DWD' } }
    expect((await rest(mock, { method: 'POST', path: LIST, body })).status).toBe(400)
    const place = 'connected_account.authorization_type'
    expect(findings(mock)).toContainEqual(['violation', 'buf.validate.enum.not_in', place, 'descriptors'])
  })
})

it('are skipped where the document allows more, and the start names them', async () => {
  const rules: Rules = {
    'AccountInput.api_config': { required: true },
    'SearchAccountsRequest.query': text({ case: 'string', value: { minLen: 4n } }),
  }
  await withRules({ rules }, async (mock) => {
    const accounts = 'acme.tools.v1.ConnectedAccounts'
    expect((await rest(mock, { method: 'GET', path: `${LIST}:search?query=abc` })).status).toBe(200)
    const { headers } = mock
    const connectedAccount = { authorizationType: Account_AuthorizationType.OAUTH }
    const account = { connector: 'mail', identifier: 'new@example.com', connectedAccount }
    await clientOf(ConnectedAccounts, mock).createAccount(account, { headers })
    const { methodTable } = mock.app
    expect(methodTable).toContain(
      `${accounts}/SearchAccounts query: minLength 4, but the spec has minLength 3 (document:4.9)`,
    )
    expect(methodTable).toContain(
      `${accounts}/CreateAccount connected_account.api_config: is required, but the spec does not require it (document:2.1)`,
    )
  })
})

it.each<
  [rule: string, type: NonNullable<MessageInitShape<typeof FieldRulesSchema>['type']>, schema: JsonObject, line: string]
>([
  [
    'a length',
    { case: 'string', value: { maxLen: 5n } },
    { maxLength: 9 },
    'maxLength 5, but the spec has maxLength 9',
  ],
  [
    'a range',
    { case: 'int64', value: { greaterThan: { case: 'gt', value: 1n }, lessThan: { case: 'lte', value: 20n } } },
    { minimum: 2, maximum: 30 },
    'maximum 20, but the spec has maximum 30',
  ],
  [
    'a list of words',
    { case: 'string', value: { in: ['a'] } },
    { enum: ['a', 'b'] },
    'has fewer words, but the spec allows b',
  ],
  [
    'an enumeration',
    { case: 'string', value: { const: 'b' } },
    { enum: ['a', 'b'] },
    'has fewer words, but the spec allows a',
  ],
  [
    'refused words',
    { case: 'string', value: { notIn: ['b'] } },
    { enum: ['a', 'b'] },
    'has fewer words, but the spec allows b',
  ],
])('are compared with the spec: %s', (_, type, schema, line) => {
  const set = fromBinary(FileDescriptorSetSchema, descriptorsWith({ 'SearchAccountsRequest.query': { type } }, {}))
  const methods = methodsOf(createFileRegistry(set), servedRoutes({ documentedOnly: false, mcp: false }))
  const method = methods.find(({ name }) => name.endsWith('/SearchAccounts'))
  const parameters = [{ name: 'query', required: true, schema }]
  const spec = { paths: { '/api/v1/connected_accounts:search': { get: { parameters } } } }
  const place = 'acme.tools.v1.ConnectedAccounts/SearchAccounts query'
  expect(method && skippedRules(method, spec).map(skippedLine)).toEqual([`${place}: ${line} (document:4.9)`])
})
