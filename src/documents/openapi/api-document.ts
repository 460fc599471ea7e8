import { isJsonObject, type JsonObject, type JsonValue, own } from '../../domain/json.ts'

/** An OpenAPI document of version 2.0, 3.0 or 3.1, read as far as a connector needs it. */
export interface ApiDocument {
  readonly title: string
  readonly description: string
  /** The path of its first server, which all paths start with: `/v1`, or empty. */
  readonly basePath: string
  readonly operations: readonly ApiOperation[]
  /** Operations with methods that a tool cannot call. */
  readonly otherMethods: readonly string[]
  readonly securitySchemes: JsonObject
  readonly follow: Follow
}

export interface ApiOperation {
  /** `GET /contacts/{id}`: what messages call it. */
  readonly place: string
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters: readonly ApiParameter[]
  readonly body: (ApiContent & { readonly isRequired: boolean }) | undefined
  readonly responses: ReadonlyMap<string, ApiContent | undefined>
  /** Alternatives, each with the schemes that it needs together. */
  readonly security: readonly (readonly string[])[]
}

export interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly isRequired: boolean
  readonly schema: JsonValue
}

export interface ApiContent {
  readonly mediaType: string
  readonly schema: JsonValue
  readonly example: JsonValue | undefined
}

/** The value itself, or what its `$ref` leads to; undefined for one that leads out of the document or nowhere. */
export type Follow = (value: JsonValue | undefined) => JsonValue | undefined

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'QUERY']

const MAX_HOPS = 50

/** The parts of a document that a connector is made of; undefined when it is no OpenAPI document. */
export function readApiDocument(root: JsonValue): ApiDocument | undefined {
  if (!isJsonObject(root) || !isJsonObject(own(root, 'paths'))) return undefined
  const isVersion2 = textOf(root, 'swagger').startsWith('2')
  if (!isVersion2 && !textOf(root, 'openapi').startsWith('3')) return undefined
  const follow = followIn(root)
  const read = { root, isVersion2, follow }
  const operations: ApiOperation[] = []
  const otherMethods: string[] = []
  for (const [path, value] of Object.entries(objectAt(root, 'paths'))) {
    const item = follow(value)
    if (!path.startsWith('/') || !isJsonObject(item)) continue
    for (const [name, operation] of Object.entries(item)) {
      const method = METHODS.find((known) => known === name.toUpperCase())
      if (method && isJsonObject(operation)) operations.push(operationOf(read, path, method, item, operation))
      else if (OTHER_METHODS.includes(name.toUpperCase())) otherMethods.push(`${name.toUpperCase()} ${path}`)
    }
  }
  const info = objectAt(root, 'info')
  return {
    title: textOf(info, 'title'),
    description: textOf(info, 'description'),
    basePath: isVersion2 ? pathOf(textOf(root, 'basePath')) : serverPath(root),
    operations,
    otherMethods,
    securitySchemes: isVersion2
      ? objectAt(root, 'securityDefinitions')
      : objectAt(objectAt(root, 'components'), 'securitySchemes'),
    follow,
  }
}

interface Reading {
  readonly root: JsonObject
  readonly isVersion2: boolean
  readonly follow: Follow
}

function followIn(root: JsonObject): Follow {
  const followed: Follow = (value) => {
    let at = value
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const ref = isJsonObject(at) ? own(at, '$ref') : undefined
      if (typeof ref !== 'string') return at
      if (!ref.startsWith('#')) return undefined
      at = pointedAt(root, ref)
    }
    return undefined
  }
  return followed
}

function pointedAt(root: JsonObject, ref: string): JsonValue | undefined {
  let at: JsonValue | undefined = root
  for (const part of ref.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = own(at as JsonObject, name)
  }
  return at
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function operationOf(
  read: Reading,
  path: string,
  method: Method,
  item: JsonObject,
  operation: JsonObject,
): ApiOperation {
  const { root, follow } = read
  // Those of the operation replace those of the path.
  const parameters = new Map<string, JsonObject>()
  for (const each of [...listAt(item, 'parameters'), ...listAt(operation, 'parameters')]) {
    const parameter = follow(each)
    if (isJsonObject(parameter)) parameters.set(`${textOf(parameter, 'in')} ${textOf(parameter, 'name')}`, parameter)
  }
  const all = [...parameters.values()]
  const security = Array.isArray(own(operation, 'security')) ? operation : root
  return {
    place: `${method} ${path}`,
    id: textOf(operation, 'operationId'),
    method,
    path,
    summary: [textOf(operation, 'summary'), textOf(operation, 'description')]
      .filter((text) => text !== '')
      .join('\n\n'),
    tags: listAt(operation, 'tags').filter((tag) => typeof tag === 'string'),
    parameters: all
      .filter((each) => !['body', 'formData'].includes(textOf(each, 'in')))
      .map((each) => toParameter(each, read)),
    body: read.isVersion2 ? bodyOfVersion2(all, operation, read) : bodyOf(operation, read),
    responses: new Map(
      Object.entries(objectAt(operation, 'responses')).map(([status, response]) => [
        status.toUpperCase(),
        contentOf(follow(response), read, operation),
      ]),
    ),
    security: listAt(security, 'security').map((each) => (isJsonObject(each) ? Object.keys(each).sort() : [])),
  }
}

function toParameter(parameter: JsonObject, { isVersion2, follow }: Reading): ApiParameter {
  const [, content] = Object.entries(objectAt(parameter, 'content'))[0] ?? []
  const described = own(parameter, 'schema') ?? (isJsonObject(content) ? own(content, 'schema') : undefined) ?? {}
  const { name: _name, in: _in, required: _required, description: _description, ...schema } = parameter
  return {
    name: textOf(parameter, 'name'),
    in: textOf(parameter, 'in'),
    description: textOf(parameter, 'description'),
    isRequired: own(parameter, 'required') === true,
    schema: isVersion2 ? schema : (follow(described) ?? {}),
  }
}

function bodyOf(operation: JsonObject, read: Reading): ApiOperation['body'] {
  const body = read.follow(own(operation, 'requestBody'))
  const content = contentOf(body, read, operation)
  return content && { ...content, isRequired: isJsonObject(body) && own(body, 'required') === true }
}

/** `in: body` is the body, and `in: formData` are the fields of one. */
function bodyOfVersion2(parameters: readonly JsonObject[], operation: JsonObject, read: Reading): ApiOperation['body'] {
  const [consumed] = [...listAt(operation, 'consumes'), ...listAt(read.root, 'consumes')]
  const body = parameters.find((each) => textOf(each, 'in') === 'body')
  if (body) {
    const schema = own(body, 'schema') ?? {}
    const mediaType = typeof consumed === 'string' ? consumed : 'application/json'
    return { mediaType, schema, example: undefined, isRequired: own(body, 'required') === true }
  }
  const fields = parameters.filter((each) => textOf(each, 'in') === 'formData').map((each) => toParameter(each, read))
  if (fields.length === 0) return undefined
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    mediaType: typeof consumed === 'string' ? consumed : 'application/x-www-form-urlencoded',
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      required,
    },
    example: undefined,
    isRequired: required.length > 0,
  }
}

/** The content of a body: JSON where there is JSON, else the first. */
function contentOf(
  value: JsonValue | undefined,
  { isVersion2, root, follow }: Reading,
  operation: JsonObject,
): ApiContent | undefined {
  if (!isJsonObject(value)) return undefined
  if (isVersion2) {
    const schema = own(value, 'schema')
    if (schema === undefined) return undefined
    const produced = [...listAt(operation, 'produces'), ...listAt(root, 'produces')].filter(
      (type) => typeof type === 'string',
    )
    const mediaType = produced.find(isJsonType) ?? produced[0] ?? 'application/json'
    return { mediaType, schema, example: own(objectAt(value, 'examples'), mediaType) }
  }
  const contents = Object.entries(objectAt(value, 'content'))
  const [mediaType, content] = contents.find(([type]) => isJsonType(type)) ?? contents[0] ?? []
  if (mediaType === undefined || !isJsonObject(content)) return undefined
  const [, named] = Object.entries(objectAt(content, 'examples'))[0] ?? []
  const first = follow(named)
  const example = own(content, 'example') ?? (isJsonObject(first) ? own(first, 'value') : undefined)
  return { mediaType, schema: own(content, 'schema') ?? {}, example }
}

/** JSON, or any type: `application/json`, `application/hal+json`, a wildcard. */
export function isJsonType(mediaType: string): boolean {
  return /^(application\/([\w.-]+\+)?json|text\/json|\*\/\*|application\/\*)\b/i.test(mediaType) || mediaType === '*/*'
}

function serverPath(root: JsonObject): string {
  const [server] = listAt(root, 'servers')
  if (!isJsonObject(server)) return ''
  const variables = objectAt(server, 'variables')
  const url = textOf(server, 'url').replaceAll(/\{([^{}]*)\}/g, (_whole, name: string) =>
    textOf(objectAt(variables, name), 'default'),
  )
  return pathOf(url.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '').replace(/^\/\/[^/]*/, ''))
}

function pathOf(text: string): string {
  const path = text
    .replace(/[?#].*$/, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
  return path.startsWith('/') ? path : ''
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = own(object, key)
  return isJsonObject(value) ? value : {}
}

export function listAt(object: JsonObject, key: string): JsonValue[] {
  const value = own(object, key)
  return Array.isArray(value) ? value : []
}

export function textOf(object: JsonObject, key: string): string {
  const value = own(object, key)
  return typeof value === 'string' ? value.trim() : ''
}

/** The first type of a schema. */
export function typeOf(schema: JsonObject): string {
  const [type] = [own(schema, 'type')].flat()
  return typeof type === 'string' ? type : ''
}

export function isNumberType(type: JsonValue): boolean {
  return type === 'integer' || type === 'number'
}
