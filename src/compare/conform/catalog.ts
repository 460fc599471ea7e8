import { AUTHORIZATION_TYPES, type CredentialKind, TRAITS } from '../../model/domain/authorization-type.ts'
import { isJsonObject, type JsonObject, ownMember } from '../../model/domain/json.ts'
import { once } from '../../model/domain/once.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { Skipped } from './service-response.ts'
import type { Api } from './target.ts'

/** A connector of the target, and the kind of credentials it takes as far as its connection shows. */
export interface ListedConnector {
  readonly name: string
  readonly kind: CredentialKind | null
  /** The `type` of its connection; empty when it is not listed. */
  readonly type: string
}

export interface ListedTool {
  readonly name: string
  /** What its input must hold. */
  readonly required: readonly string[]
  /** The inputs that may be null. */
  readonly nullable: readonly string[]
}

const TOOLS = {
  'at all': () => true,
  'with required input': ({ required }: ListedTool) => required.length > 0,
  'without required input': ({ required }: ListedTool) => required.length === 0,
}

/** The connectors and tools that the target lists; they differ from one deployment to the next. */
export class Catalog {
  readonly #api: Api
  readonly #named: string | undefined
  readonly #listed = once(() => this.#enabledConnections())
  #tools = new Map<string, Promise<ListedTool[]>>()

  constructor(api: Api, connectorName: string | undefined) {
    this.#api = api
    this.#named = connectorName
  }

  /** The connector that most checks use: the one that was named, else the first whose tokens come from consent. */
  async main(): Promise<ListedConnector> {
    const name = this.#named
    if (name === undefined) return this.ofType('OAUTH')
    const listed = (await this.#listed()).find((each) => each.name === name)
    return listed ?? { name, kind: 'oauth_token', type: '' }
  }

  /** @throws Skipped when no enabled connection is of that type */
  async ofType(type: string): Promise<ListedConnector> {
    const connector = (await this.#listed()).find((each) => each.type === type)
    if (connector) return connector
    throw new Skipped(`the target lists no enabled connection of type ${type}; --connector names one`)
  }

  /** A tool of a connector. @throws Skipped when the target has no Discovery, or no such tool */
  async tool(connector: string, what: keyof typeof TOOLS = 'at all'): Promise<ListedTool> {
    const tool = (await this.toolsOf(connector)).find(TOOLS[what])
    if (tool) return tool
    throw new Skipped(`the target lists no tool of ${connector} ${what}`)
  }

  /** A tool that needs no input and has some that may be null, with its connector. @throws Skipped */
  async nullableTool(): Promise<{ connector: ListedConnector; tool: ListedTool }> {
    for (const connector of await this.#listed()) {
      const tools = await this.toolsOf(connector.name)
      const tool = tools.find(({ required, nullable }) => required.length === 0 && nullable.length > 0)
      if (tool) return { connector, tool }
    }
    throw new Skipped('the target lists no tool that needs no input and has some that may be null')
  }

  /** The tools of a connector. @throws Skipped when the target has no Discovery */
  toolsOf(connector: string): Promise<ListedTool[]> {
    const tools = this.#tools.get(connector) ?? this.#listTools(connector)
    this.#tools.set(connector, tools)
    return tools
  }

  async #enabledConnections(): Promise<ListedConnector[]> {
    const response = await this.#api.get('/connections')
    if (response.status !== 200) return []
    return response.objects('connections').flatMap((connection) => {
      const [name, type] = [ownMember(connection, 'key_id'), ownMember(connection, 'type')]
      if (typeof name !== 'string' || typeof type !== 'string' || ownMember(connection, 'enabled') === false) return []
      return [{ name, type, kind: credentialKind(type) }]
    })
  }

  async #listTools(connector: string): Promise<ListedTool[]> {
    const response = await this.#api.get('/tools', { 'filter.connector': connector, page_size: 100 })
    if (response.status !== 200) throw new Skipped('the target serves no list of tools')
    return response.objects('tools').flatMap(catalogTool)
  }
}

function catalogTool(tool: JsonObject): ListedTool[] {
  const name = valueAt(tool, 'definition.name')
  if (typeof name !== 'string') return []
  const required = valueAt(tool, 'definition.input_schema.required')
  const properties = valueAt(tool, 'definition.input_schema.properties')
  const nullable = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([input, property]) => {
    const type = valueAt(property, 'type')
    return Array.isArray(type) && type.includes('null') ? [input] : []
  })
  return [{ name, required: Array.isArray(required) ? required.map(String) : [], nullable }]
}

function credentialKind(connectionType: string): CredentialKind | null {
  const type = AUTHORIZATION_TYPES.find((each) => TRAITS[each].connectionType === connectionType)
  return type ? TRAITS[type].kind : null
}

/** What a create stores besides the name of the account. */
export function createBodyStoring(authorization_details: JsonObject): JsonObject {
  return { connected_account: { authorization_details } }
}

/** Credentials that a caller can store for a kind; what they hold is invented. */
export function credentialsOf(kind: CredentialKind | null, suffix = '1'): JsonObject {
  if (kind === null) return {}
  const tokens = { access_token: `at-${suffix}`, refresh_token: `rt-${suffix}` }
  const credentials: Readonly<Record<CredentialKind, JsonObject>> = {
    oauth_token: { ...tokens, scopes: ['conform.read'], domain: 'conform.example' },
    static_auth: { details: { api_key: `key-${suffix}` } },
    workspace_dwd: { subject: 'conform@example.com' },
    trusted_idp: { db_user: 'conform' },
  }
  return { [kind]: credentials[kind] }
}
