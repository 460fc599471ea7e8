import { objectIn, operationIn, resolveReference } from '../../model/contract/document-parts.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../../model/domain/json.ts'
import { isMcpOperation, MCP_BASIS, MCP_HEADERS, MCP_SCHEMAS } from './mcp.ts'

/** A part of an answer as `spec/openapi.yaml` declares it. */
export interface ResponseNode {
  readonly schema: JsonObject
  /** Where it comes from that this part is there at all. */
  readonly presence: string
  /** Where its form and its words come from. */
  readonly basis: string
  /** Where it comes from which value it has. */
  readonly valueBasis: string
}

export interface ResponseSchema {
  readonly basis: string
  readonly body: ResponseNode | undefined
  readonly headers: readonly { readonly name: string; readonly node: ResponseNode }[]
}

/** The answers of the contract, with the basis of each part. */
export class ResponseSchemas {
  readonly #document: JsonObject

  constructor(document: object) {
    this.#document = { ...(document as JsonObject), mcp: MCP_SCHEMAS }
  }

  /** The answer that an operation declares for a status; one of no operation has the body of errors. */
  of(operation: string | undefined, status: number): ResponseSchema {
    if (isMcpOperation(operation)) {
      const headers = MCP_HEADERS.map((name) => ({ name, node: this.#node({}, MCP_BASIS) }))
      return { basis: MCP_BASIS, body: this.#node({ $ref: '#/mcp/message' }, MCP_BASIS), headers }
    }
    // Errors of paths that no operation has are those of any operation.
    const described = operationIn(this.#document, operation ?? (status >= 400 ? 'list_connections' : ''))
    const response = objectIn(this.#document, described, 'responses', String(status))
    const basis =
      operation === undefined
        ? 'convention:G8'
        : (basisText(response['x-basis']) ?? basisText(described['x-basis']) ?? '')
    const schema = objectIn(this.#document, response, 'content', 'application/json', 'schema')
    const body = Object.keys(schema).length > 0 ? this.#node(schema, basis) : undefined
    const headers = Object.keys(objectIn(this.#document, response, 'headers')).map((name) => {
      const header = objectIn(this.#document, response, 'headers', name)
      const headerBasis = basisText(header['x-basis']) ?? basis
      const nodeBasis = headerBasis === 'transport' ? 'convention:G8' : headerBasis
      return { name: name.toLowerCase(), node: this.#node(objectIn(this.#document, header, 'schema'), nodeBasis) }
    })
    return { basis, body, headers }
  }

  /** A member of an object; undefined where the contract leaves open what the object holds. */
  member(node: ResponseNode, name: string): ResponseNode | undefined {
    const properties = objectIn(this.#document, node.schema, 'properties')
    if (Object.hasOwn(properties, name)) return this.#node(properties[name], node.basis)
    const open = ownMember(node.schema, 'additionalProperties')
    if (isJsonObject(open)) return this.#node(open, node.basis)
    const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => [ownMember(node.schema, keyword) ?? []].flat())
    return branches.map((each) => this.member(this.#node(each, node.basis), name)).find((node) => node !== undefined)
  }

  item(node: ResponseNode): ResponseNode | undefined {
    const items = ownMember(node.schema, 'items')
    return items === undefined ? undefined : this.#node(items, node.basis)
  }

  #node(raw: JsonValue | undefined, around: string): ResponseNode {
    const schemaObject = isJsonObject(raw) ? raw : {}
    const schema = resolveReference(this.#document, schemaObject)
    const presence = basisText(schemaObject['x-basis']) ?? around
    const basis = basisText(schema['x-basis']) ?? presence
    return { schema, presence, basis, valueBasis: basisText(schema['x-value-basis']) ?? presence }
  }
}

/** An `x-basis` may be a list; its first entry counts. */
function basisText(basis: JsonValue | undefined): string | undefined {
  const [first] = [basis].flat()
  return typeof first === 'string' ? first : undefined
}
