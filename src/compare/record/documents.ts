import {
  AUTHORIZATION_TYPES,
  type AuthorizationType,
  type ConnectionType,
  type CredentialKind,
  TRAITS,
} from '../../model/domain/authorization-type.ts'
import {
  CONNECTOR_NAME,
  defaultCredentialField,
  DEFAULT_PEOPLE,
  defaultCredentials,
  TOOL_NAME,
  typeOfConnection,
} from '../../model/domain/connector-defaults.ts'
import { SEED_ACCOUNT_FIELDS } from '../../model/domain/generated/tables.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  jsonType,
  type JsonValue,
  listAt,
  objectAt,
  ownMember,
  textAt,
  textOf,
} from '../../model/domain/json.ts'
import { isMcpPath, mcpSettingsOf } from '../drift/mcp.ts'
import { routeOf } from '../../model/contract/route.ts'
import { fieldsIn, listedFields, connectionDocument } from '../drift/mirror.ts'
import { FileSize } from '../../files/openapi/connector-from-openapi.ts'
import { literalValue, unusedName } from '../../files/openapi/generated-values.ts'
import { recordedTool, mcpExchange } from './mcp-exchange.ts'
import { headerIn, type Recorded } from './recorded.ts'
import { replayedExchange } from './rehearsal.ts'
import { type Observed, parsedExchange, toolErrorOf } from './observed.ts'
import { quote, shorten } from '../../model/domain/text.ts'
import { isMatcher } from '../../model/domain/value-match.ts'
import type { Secrets } from './secrets.ts'

export interface RecordedSeed {
  readonly seed: JsonObject
  /** By the names of their files. */
  readonly connectors: ReadonlyMap<string, JsonObject>
  /** What is in neither, a sentence each. */
  readonly notes: readonly string[]
}

/** What was there when it was first seen, as a seed and connectors. What the recording itself made is in neither. */
export function documentsOf(exchanges: readonly Recorded[], secrets: Secrets): RecordedSeed {
  const traffic = new Traffic()
  for (const exchange of exchanges) traffic.add(exchange, parsedExchange(exchange))
  const mcp = mcpSettingsOf(exchanges.map(replayedExchange))
  const settings = { virtual_mcp: true, ...(Object.keys(mcp).length > 0 && { mcp }) }
  const isOfMcp = exchanges.some(({ target }) => isMcpPath(target))
  return traffic.documents(secrets, isOfMcp && { settings })
}

type Texts = Readonly<Record<string, string>>

interface Call {
  readonly tool: string
  readonly input: JsonObject
  /** What the third party must answer; undefined where it answered nothing that a responder can. */
  readonly response: JsonObject | undefined
  readonly locator: Texts
}

class Traffic {
  /** By id; those that no answer has shown by their names. */
  readonly #accounts = new Map<string, JsonObject>()
  /** Ids of accounts and identifiers of providers that the recording made, and names of accounts that a link made. */
  readonly #made = new Set<string>()
  /** Connectors of links that may have made an account. */
  readonly #linked = new Set<string>()
  readonly #connections = new Map<string, JsonObject>()
  readonly #providers = new Map<string, JsonObject>()
  /** As they were listed, by name. */
  readonly #tools = new Map<string, JsonObject>()
  readonly #calls: Call[] = []
  readonly #notes = new Set<string>()
  /** Fields of static credentials, and scopes of tokens, by connector. */
  readonly #fields = new Map<string, Set<string>>()
  readonly #scopes = new Map<string, JsonValue>()
  /** The connector that a further connection of its provider belongs to (G73), by the name of the connection. */
  readonly #furtherConnections = new Map<string, string>()
  /** Whom a session token is for. */
  readonly #tokenUsers = new Map<string, string>()

  add(exchange: Recorded, { operation, query, sent, responseBody, status, code }: Observed): void {
    const body = isJsonObject(sent) ? sent : {}
    const asked = { ...textMembers(Object.fromEntries(query)), ...textMembers(body) }
    if (operation === undefined) this.#addMcp(exchange, sent)
    // A tool that the service does not have is none of the mock's.
    if (operation === 'execute_tool' && textAt(body, 'tool_name') !== '' && code !== 'TOOL_NOT_FOUND') {
      const input = ownMember(body, 'tool_input') ?? ownMember(body, 'params')
      const response = recordedResponse(responseBody, status, headerIn(exchange.response, 'retry-after'))
      const call = { tool: textAt(body, 'tool_name'), input: isJsonObject(input) ? input : {} }
      this.#calls.push({ ...call, response, locator: asked })
    }
    if (status < 200 || status >= 300 || !isJsonObject(responseBody)) return
    if (operation && routeOf(operation).mcp)
      this.#tokenUsers.set(textAt(responseBody, 'token'), textAt(body, 'identifier'))
    // A link makes an account where there is none. One that was there and was not seen before cannot be told from it.
    if (operation === 'create_magic_link' && asked['id'] === undefined && !this.#locatedAccount(asked)) {
      this.#made.add(accountKeyText(asked))
      this.#linked.add(asked['connector'] ?? '')
    }
    const [account, provider] = [objectAt(responseBody, 'connected_account'), objectAt(responseBody, 'provider')]
    const isCreated = operation === 'create_connected_account'
    if (isCreated) {
      this.#made.add(textAt(account, 'id'))
      const details = 'connected_account.authorization_details.static_auth.details'.split('.').reduce(objectAt, body)
      const name = textAt(account, 'connector')
      this.#fields.set(name, new Set([...(this.#fields.get(name) ?? []), ...Object.keys(details)]))
    }
    if (operation === 'create_custom_provider') this.#made.add(textAt(provider, 'identifier'))
    for (const each of [account, ...objectsIn(responseBody, 'connected_accounts')]) {
      // No answer shows the scope of an account.
      const scoped = { ...each, ...(isCreated && UNSCOPED), ...fieldsIn(asked, ['organization_id', 'user_id']) }
      const details = objectAt(each, 'authorization_details')
      const scopes = WITH_SCOPES.flatMap((kind) => listAt(objectAt(details, kind), 'scopes'))
      if (scopes.length > 0) this.#scopes.set(textAt(each, 'connector'), scopes)
      if (this.#made.has(accountKeyText(textMembers(each)))) this.#made.add(textAt(each, 'id'))
      setFirst(this.#accounts, scoped, textAt(each, 'id'))
    }
    for (const each of objectsIn(responseBody, 'connections')) setFirst(this.#connections, each, textAt(each, 'key_id'))
    for (const each of [provider, ...objectsIn(responseBody, 'providers')])
      setFirst(this.#providers, each, textAt(each, 'identifier'))
    for (const each of objectsIn(responseBody, 'tools')) {
      const tool = isJsonObject(ownMember(each, 'tool')) ? objectAt(each, 'tool') : each
      setFirst(this.#tools, tool, textAt(objectAt(tool, 'definition'), 'name'))
    }
  }

  #addMcp(exchange: Recorded, sent: JsonValue | undefined): void {
    const recorded = mcpExchange(exchange, sent, this.#tokenUsers)
    if (!recorded) return
    const { connection, identifier, method, params, result } = recorded
    for (const tool of objectsIn(result, 'tools'))
      setFirst(this.#tools, recordedTool(connection, tool), textAt(tool, 'name'))
    const data = ownMember(result, 'structuredContent')
    if (method !== 'tools/call' || identifier === undefined || !isJsonObject(data)) return
    const [tool, input] = [textAt(params, 'name'), objectAt(params, 'arguments')]
    this.#calls.push({
      tool,
      input,
      response: { status: 200, body: data },
      locator: { connector: connection, identifier },
    })
  }

  documents(secrets: Secrets, settings: JsonObject | false): RecordedSeed {
    this.#inferAccounts()
    const names = this.#connectorNames().filter((name) => this.#isAllowed(name, CONNECTOR_NAME))
    this.#findFurtherConnections(names)
    const ownConnectors = names.filter((name) => !this.#furtherConnections.has(name))
    const connectors = new Map<string, JsonObject>()
    const files = new Set<string>()
    for (const name of ownConnectors) {
      // Some file systems take upper and lower case for the same name.
      const file = unusedName(name.replaceAll(/[^\w-]+/g, '-'), (each) => files.has(each.toLowerCase()))
      files.add(file.toLowerCase())
      connectors.set(file, secrets.hide(this.#connectorDocument(name, secrets)))
    }
    const notMade = (all: Map<string, JsonObject>) =>
      [...all].flatMap(([key, each]) => (this.#made.has(key) ? [] : [each]))
    const ofAllowed = (field: string) => (each: JsonObject) => this.#isAllowed(textAt(each, field), CONNECTOR_NAME)
    const custom = notMade(this.#providers)
      .filter((each) => each['is_custom'] === true)
      .filter(ofAllowed('identifier'))
    const sections: Record<string, JsonValue[]> = {
      connectors: ownConnectors,
      connections: [...this.#connections]
        .filter(([name]) => this.#isAllowed(name, CONNECTOR_NAME))
        .map(([name, each]) => {
          const provider_key = this.#furtherConnections.get(name)
          return {
            ...connectionDocument(each, names.includes(name)),
            ...(provider_key !== undefined && { provider_key }),
          }
        }),
      providers: custom.map((each) => fieldsIn(each, PROVIDER_FIELDS)),
      accounts: notMade(this.#accounts).filter(ofAllowed('connector')).map(recordedAccount),
    }
    const filled = Object.entries(sections).filter(([, items]) => items.length > 0)
    const seed = { ...settings, ...Object.fromEntries(filled) }
    return { seed: secrets.json(seed) as JsonObject, connectors, notes: [...this.#notes] }
  }

  /** Whether the service takes a name. */
  #isAllowed(name: string, pattern: RegExp): boolean {
    const isAllowed = pattern.test(name)
    if (!isAllowed) this.#notes.add(`left out: ${quote(shorten(name, 60))}, a name that the service does not take`)
    return isAllowed
  }

  /** The account that a request names: the one in exactly that scope, else one within it (G21). */
  #locatedAccount(locator: Texts): JsonObject | undefined {
    const { connected_account_id: id, connector } = locator
    const accounts = [...this.#accounts.values()]
    if (id !== undefined) return accounts.find((account) => ownMember(account, 'id') === id)
    const ofName = accounts.filter(
      (account) =>
        ownMember(account, 'identifier') === locator['identifier'] &&
        (connector === undefined || ownMember(account, 'connector') === connector),
    )
    const scope = Object.keys(UNSCOPED)
    return (
      ofName.find((account) => scope.every((name) => textAt(account, name) === (locator[name] ?? ''))) ??
      ofName.find((account) => scope.every((name) => isAskedValue(ownMember(account, name), locator[name])))
    )
  }

  /** Accounts of tools that the third party answered, and that no answer has shown. */
  #inferAccounts(): void {
    for (const { tool, response, locator } of this.#calls) {
      const { connected_account_id: id, identifier = id } = locator
      if (!response || identifier === undefined || this.#locatedAccount(locator)) continue
      const connector = locator['connector'] ?? this.#connectorOfTool(tool)
      const scope = fieldsIn(locator, ['organization_id', 'user_id'])
      const account = { ...(id !== undefined && { id }), connector, identifier, ...scope, status: 'ACTIVE' }
      this.#accounts.set(id ?? accountKeyText(locator), account)
    }
  }

  /** In the order in which the service lists them. */
  #connectorNames(): string[] {
    const tools = [...this.#tools.keys()].map((tool) => this.#connectorOfTool(tool))
    const used = [
      ...[...this.#accounts.values()].map((account) => textAt(account, 'connector')),
      ...tools,
      ...this.#calls.map(({ tool }) => this.#connectorOfTool(tool)),
      ...this.#linked,
    ]
    const listed = [...this.#connections.keys(), ...this.#providers.keys(), ...tools].filter((name) =>
      used.includes(name),
    )
    return [...new Set([...listed, ...used])].filter((name) => name !== '')
  }

  /** Of several connections of one provider and type, all but the one that has its name, or the first, are further ones. */
  #findFurtherConnections(names: readonly string[]): void {
    const first = new Map<string, string>()
    const providerOf = (name: string): string => textAt(this.#connections.get(name) ?? {}, 'provider_key') || name
    const ofTheirProvider = names.filter((name) => providerOf(name) === name)
    for (const name of new Set([...ofTheirProvider, ...names])) {
      const kind = jsonText([providerOf(name), this.#typeOf(name, this.#accountsAt(name))])
      const connector = first.get(kind)
      if (connector === undefined) first.set(kind, name)
      else this.#furtherConnections.set(name, connector)
    }
  }

  #accountsAt(connection: string): JsonObject[] {
    return [...this.#accounts.values()].filter((account) => ownMember(account, 'connector') === connection)
  }

  #connectorOfConnection(name: string): string {
    return this.#furtherConnections.get(name) ?? name
  }

  #connectorOfTool(tool: string): string {
    return this.#connectorOfConnection(this.#connectionOfTool(tool))
  }

  #connectionOfTool(tool: string): string {
    const provider = textAt(this.#tools.get(tool) ?? {}, 'provider')
    const caller = this.#calls.find((call) => call.tool === tool)?.locator
    const account =
      (caller && this.#locatedAccount(caller)) ??
      [...this.#accounts.values()].find((each) => provider !== '' && ownMember(each, 'provider') === provider)
    if (account) return textAt(account, 'connector')
    return caller?.['connector'] ?? (provider === '' ? tool.split('_', 1).join() : provider.toLowerCase())
  }

  #connectorDocument(name: string, secrets: Secrets): JsonObject {
    const further = [...this.#furtherConnections].flatMap(([key, connector]) => (connector === name ? [key] : []))
    const connections = [name, ...further]
    const accounts = connections.flatMap((each) => this.#accountsAt(each))
    const custom = this.#providers.get(name)
    const type = this.#typeOf(name, accounts)
    const names = new Set([...this.#tools.keys(), ...this.#calls.map(({ tool }) => tool)])
    const tools = [...names].filter((tool) => this.#connectorOfTool(tool) === name && this.#isAllowed(tool, TOOL_NAME))
    const size = new FileSize()
    const provider = accounts.map((account) => textAt(account, 'provider')).find((each) => each !== '')
    const people = [...new Set(accounts.map((account) => textAt(account, 'identifier')))].slice(0, 50)
    const fields = [...new Set(connections.flatMap((each) => [...(this.#fields.get(each) ?? [])]))]
    const scopes = connections.flatMap((each) => this.#scopes.get(each) ?? [])
    const isOfProvider = custom?.['is_custom'] === true
    return {
      connector: name,
      ...(isOfProvider
        ? { custom_provider: textAt(custom, 'display_name') }
        : provider !== undefined && provider !== name && { provider }),
      authorization_type: type,
      ...(TRAITS[type].source === 'consent' && { people: people.length > 0 ? people : DEFAULT_PEOPLE }),
      ...(WITH_SCOPES.some((kind) => kind === TRAITS[type].kind) &&
        scopes.length > 0 && { oauth: { scopes: [...new Set(scopes)] } }),
      ...(type === 'CUSTOM' && { credentials: credentialsSection(fields) }),
      ...(tools.length > 0 && { tools: tools.map((tool) => this.#toolOf(tool)) }),
      ...(tools.length > 0 && { responders: tools.flatMap((tool) => this.#recordedResponders(tool, secrets, size)) }),
    }
  }

  #typeOf(name: string, accounts: readonly JsonObject[]): AuthorizationType {
    const said = accounts.map((account) => textAt(account, 'authorization_type'))
    const connection = textAt(this.#connections.get(name) ?? {}, 'type')
    const types: readonly string[] = AUTHORIZATION_TYPES
    const ofAccounts = said.find((type) => types.includes(type)) as AuthorizationType | undefined
    return ofAccounts ?? typeOfConnection(connection as ConnectionType) ?? 'OAUTH'
  }

  #toolOf(name: string): JsonObject {
    const definition = objectAt(this.#tools.get(name) ?? {}, 'definition')
    const inputs = this.#calls.filter(({ tool }) => tool === name).map(({ input }) => input)
    const inferred = 'It was called, and no list of tools was recorded: its input schema is inferred.'
    return {
      name,
      ...listedFields(definition),
      description: this.#tools.has(name) ? textAt(definition, 'description') : inferred,
      input_schema: ownMember(definition, 'input_schema') ?? inferredSchema(inputs),
      call: { method: 'POST', path: `/tools/${name}`, body: '{{input}}' },
    }
  }

  /** One responder for each account and input, the ones that ask for most first, and one for everything else. */
  #recordedResponders(tool: string, secrets: Secrets, size: FileSize): JsonObject[] {
    const request = { method: 'POST', path: `/tools/${tool}` }
    const groups = new Map<string, { on: JsonObject; answers: JsonObject[] }>()
    for (const call of this.#calls) {
      const account = this.#locatedAccount(call.locator)
      if (call.tool !== tool || !call.response || !account) continue
      const body = inputMatch(secrets.json(call.input) as JsonObject)
      const naming = this.#furtherConnections.size > 0 ? ['connector', ...NAMING] : NAMING
      const caller = Object.fromEntries(Object.entries(account).filter(([name]) => naming.includes(name)))
      const on: JsonObject = {
        ...request,
        account: inputMatch(secrets.json(caller) as JsonObject),
        ...(Object.keys(body).length > 0 && { body }),
      }
      const key = jsonText(on)
      const group = groups.get(key) ?? { on, answers: [] }
      const response = literalValue(secrets.json(call.response)) as JsonObject
      if (!size.fits([on, response])) {
        this.#notes.add(`left out: an answer of ${tool}, with which its file would be too large for the mock`)
        continue
      }
      group.answers.push(response)
      groups.set(key, group)
    }
    const sorted = [...groups.values()].sort(
      (a, b) => leafCount(ownMember(b.on, 'body')) - leafCount(ownMember(a.on, 'body')),
    )
    const notRecorded = { status: 404, body: { error: 'no call of this account with this input was recorded' } }
    return [...sorted.map(({ on, answers }) => ({ on, ...inSequence(answers) })), { on: request, respond: notRecorded }]
  }
}

/** The kinds of credentials that have scopes. */
const WITH_SCOPES: readonly CredentialKind[] = ['oauth_token', 'workspace_dwd']

const UNSCOPED = { organization_id: '', user_id: '' }
/** What names an account without its id, which is another one for each account that a test creates. */
const NAMING = ['identifier', ...Object.keys(UNSCOPED)]

const PROVIDER_FIELDS = [
  ...['id', 'identifier', 'display_name', 'description', 'icon_src', 'auth_patterns', 'metadata', 'proxy_enabled'],
  'proxy_url',
]

function recordedAccount(account: JsonObject): JsonObject {
  const fields = fieldsIn(account, SEED_ACCOUNT_FIELDS)
  // The mock gives the token of any other account a lifetime of its own.
  if (fields['status'] !== 'EXPIRED') delete fields['token_expires_at']
  if (!textAt(fields, 'id').startsWith('ca_')) delete fields['id']
  return fields
}

/** What the third party answered for a tool. */
function recordedResponse(
  responseBody: JsonValue | undefined,
  status: number,
  wait: string | undefined,
): JsonObject | undefined {
  const data = isJsonObject(responseBody) ? ownMember(responseBody, 'data') : undefined
  if (status === 200 && isJsonObject(data)) return { status: 200, body: data }
  const { tool_error_code = '', tool_error_message: message = '' } = toolErrorOf(responseBody) ?? {}
  const word = textOf(tool_error_code)
  const isStatus = /^[45]\d\d$/.test(word)
  const failed = isStatus ? Number(word) : status
  // No answer of the third party; or its 401, which is followed by a refresh and a second call, which the recording does not show.
  if (['', 'timeout', 'unusable_answer'].includes(word) || failed === 401) return undefined
  const headers = wait === undefined ? {} : { headers: { 'Retry-After': wait } }
  return { status: failed, ...headers, body: { ...(!isStatus && { code: word }), message } }
}

/** The answers in their order; one for all where they are alike. */
function inSequence(responses: readonly JsonObject[]): JsonObject {
  const distinct = new Set(responses.map((response) => jsonText(response)))
  return distinct.size === 1 ? { respond: responses[0] ?? {} } : { sequence: [...responses] }
}

/** An input as a match. Where a secret was, any text may be. A key with a dot would be read as a path. */
function inputMatch(input: JsonObject): JsonObject {
  const entries = Object.entries(input).flatMap(([key, value]): [string, JsonValue][] => {
    if (key.includes('.') || key === '' || value === null) return []
    const isMasked = /\*\*\*[\da-f]{4}/.test(jsonText(value))
    if (!isMasked && (isMatcher(value) || (typeof value === 'string' && value.includes('*'))))
      return [[key, { equals: value }]]
    if (isJsonObject(value) && Object.keys(value).length > 0) {
      const inner = inputMatch(value)
      return Object.keys(inner).length > 0 ? [[key, inner]] : []
    }
    if (typeof value === 'string') return [[key, value.replaceAll(/\*\*\*[\da-f]{4}/g, '*')]]
    return [[key, isMasked ? '*' : value]]
  })
  return Object.fromEntries(entries)
}

function leafCount(value: JsonValue | undefined): number {
  return isJsonObject(value)
    ? Object.values(value).reduce<number>((sum, each) => sum + leafCount(each), 0)
    : Number(value !== undefined)
}

function inferredSchema(inputs: readonly JsonObject[]): JsonObject {
  const types = new Map<string, Set<string>>()
  for (const [key, value] of inputs.flatMap((input) => Object.entries(input))) {
    types.set(key, (types.get(key) ?? new Set()).add(jsonType(value)))
  }
  const properties = [...types].map(([key, jsonTypes]) => [
    key,
    { type: jsonTypes.size === 1 ? [...jsonTypes][0] : [...jsonTypes] },
  ])
  return { type: 'object', properties: Object.fromEntries(properties) as JsonObject }
}

/** Fields of these names, and the headers that they travel in where a file does not say it. */
function credentialsSection(names: readonly string[]): JsonObject {
  const { fields, send } = defaultCredentials('CUSTOM', names.map(defaultCredentialField))
  return { fields: fields.map(({ name }) => ({ name })), send: { headers: send.headers } }
}

function setFirst(into: Map<string, JsonObject>, item: JsonObject, key: string): void {
  if (key !== '' && !into.has(key)) into.set(key, item)
}

function isAskedValue(value: JsonValue | undefined, asked: string | undefined): boolean {
  return value === undefined || asked === undefined || value === asked
}

function accountKeyText({ connector = '', identifier = '' }: Texts): string {
  return jsonText([connector, identifier])
}

function textMembers(object: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts.filter(([, value]) => value !== ''))
}

function objectsIn(object: JsonObject, key: string): JsonObject[] {
  return listAt(object, key).filter(isJsonObject)
}
