import { Api, type ClientCredentials, type ConformTarget } from '../conform/target.ts'
import { CONNECTION_TYPES, TRAITS } from '../../model/domain/authorization-type.ts'
import { DEFAULT_PEOPLE, typeOfConnection } from '../../model/domain/connector-defaults.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  objectAt,
  ownMember,
  textAt,
  textOf,
} from '../../model/domain/json.ts'

/** A seed with the connectors and tools that a service lists; undefined where a mock has the same ones already. */
export async function mirrorOf(api: Api, mock: Api): Promise<JsonObject | undefined> {
  const listed = await objectsAt(api, '/connections', 'connections')
  const mockConnections = await objectsAt(mock, '/connections', 'connections')
  const isSame = listed.every(
    ({ key_id, type }, at) => key_id === mockConnections[at]?.['key_id'] && !isOtherType(type, mockConnections[at]),
  )
  if (listed.length === 0 || (isSame && listed.length === mockConnections.length)) return undefined
  const tools = await objectsAt(api, '/tools?page_size=1000', 'tools')
  const connectors = listed.flatMap((connection) => mirroredConnector(connection, tools))
  const names = new Set(connectors.map(({ connector }) => connector))
  // The mock has no place for a type that the document does not have.
  const mirrored = listed.filter(
    ({ key_id, type }) => names.has(key_id) || CONNECTION_TYPES.some((each) => each === type),
  )
  const connections = mirrored.map((each) => connectionDocument(each, names.has(each['key_id'])))
  return { connectors, connections: connections.map(({ id: _ofTheService, ...seedConnection }) => seedConnection) }
}

/** Whether the type of a connection is another word of the document, and no word of the service for it. */
function isOtherType(type: JsonValue | undefined, mockConnection: JsonObject | undefined): boolean {
  return CONNECTION_TYPES.some((each) => each === type) && type !== mockConnection?.['type']
}

/** A connection without a tool needs no connector of its own. */
function mirroredConnector(connection: JsonObject, tools: readonly JsonObject[]): JsonObject[] {
  const [name, provider] = [textAt(connection, 'key_id'), textAt(connection, 'provider')]
  const type = CONNECTION_TYPES.find((each) => each === connection['type'])
  const authorization_type = type && typeOfConnection(type)
  const listed = tools.filter((tool) => [name, provider].includes(textAt(tool, 'provider')))
  const [{ provider: ofTools = name } = {}] = listed
  if (authorization_type === undefined || listed.length === 0) return []
  return [
    {
      connector: name,
      ...(ofTools === name ? {} : { provider: ofTools }),
      ...{ authorization_type, ...(TRAITS[authorization_type].source === 'consent' && { people: DEFAULT_PEOPLE }) },
      ...{ tools: listed.flatMap(mirroredTool), responders: [ANSWER] },
    },
  ]
}

const ANSWER = { on: { method: 'POST', path: '/*' }, respond: { status: 200, body: {} } }

function mirroredTool(tool: JsonObject): JsonObject[] {
  const definition = ownMember(tool, 'definition')
  if (!isJsonObject(definition)) return []
  const { name, description = '', input_schema = { type: 'object' } } = definition
  if (name === undefined) return []
  const call = { method: 'POST', path: `/${textOf(name)}` }
  return [{ name, description, input_schema, ...listedFields(definition), call }]
}

/** What lists show of a tool that a connector file can say as well, beside its description and input. */
export function listedFields(definition: JsonObject): JsonObject {
  const hint = ownMember(objectAt(definition, 'annotations'), 'read_only_hint')
  const output_schema = objectAt(definition, 'output_schema')
  return {
    ...fieldsIn(definition, ['display_name']),
    ...(Object.keys(output_schema).length > 0 && { output_schema }),
    ...(typeof hint === 'boolean' && { annotations: { read_only_hint: hint } }),
  }
}

const CONNECTION_FIELDS = [
  ...['id', 'key_id', 'organization_id', 'organization_name', 'domains', 'enabled', 'provider', 'provider_key'],
  ...['status', 'type'],
]

/** A listed connection as a seed has it. A connector of its name gives it its type. */
export function connectionDocument(connection: JsonObject, hasConnector: boolean): JsonObject {
  const fields = fieldsIn(connection, CONNECTION_FIELDS)
  if (!/^[A-Z][A-Z0-9_]*$/.test(textAt(fields, 'provider'))) delete fields['provider']
  if (hasConnector) delete fields['type']
  return fields
}

/** Of an object, the fields of these names that have a value. */
export function fieldsIn(object: JsonObject, names: readonly string[]): JsonObject {
  const pairs = names.map((name) => [name, ownMember(object, name)] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined && value !== '')) as JsonObject
}

/** Whether both list the same connections and providers, and as many accounts. */
export async function holdSame(both: readonly ConformTarget[], client: ClientCredentials): Promise<boolean> {
  const [mine, theirs] = await Promise.all(
    both.map(async (target) => {
      const api = new Api(target, client)
      const connections = await objectsAt(api, '/connections', 'connections')
      const providers = await objectsAt(api, '/providers?page_size=1000', 'providers')
      const accounts = await api.get('/connected_accounts')
      const names = [...connections.map(({ key_id }) => key_id), ...providers.map(({ identifier }) => identifier)]
      return jsonText([names, accounts.status === 200 ? accounts.at('total_size') : null])
    }),
  )
  return mine === theirs
}

async function objectsAt(api: Api, path: string, name: string): Promise<JsonObject[]> {
  const response = await api.send('GET', path)
  if (response.status !== 200) return []
  const list = response.at(name)
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
