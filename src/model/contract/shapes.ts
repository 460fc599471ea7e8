import type { JsonValue } from '../domain/json.ts'
import type { operations } from './generated/openapi-types.ts'

/** The operations of the service by `operationId`, those of Discovery and the token endpoint included. */
export type Operation = keyof operations

/** Any method below `/proxy/`. OpenAPI has no form for that, and what a third party takes and answers is no contract of the service. */
export const PROXY_REQUEST = 'proxy_request'

export type ExtensionName = string & { readonly kind: 'extension' }

/** Everything that the journal and scenarios know by a name: the operations, the proxy and extensions. */
export type ServedOperation = Operation | typeof PROXY_REQUEST | ExtensionName

type Described<Id extends Operation> = operations[Id]

type QueryIn<Id extends Operation> =
  Described<Id> extends { parameters: { query?: infer Parameters } } ? Parameters : never

/** The query parameters of an operation, converted to the types of the spec; `{}` where it has none. */
export type QueryOf<Id extends Operation> = [Exclude<QueryIn<Id>, undefined>] extends [never]
  ? Record<string, never>
  : Exclude<QueryIn<Id>, undefined>

type BodyIn<Described> = Described extends { content: infer Content } ? Parsed<Content[keyof Content]> : never

/** Where the spec leaves the type open, the value is still JSON. */
type Parsed<T> = unknown extends T
  ? JsonValue
  : T extends readonly (infer Item)[]
    ? Parsed<Item>[]
    : T extends object
      ? { [Key in keyof T]: Parsed<T[Key]> }
      : T

export type RequestBody<Id extends Operation> =
  Described<Id> extends { requestBody: infer Body }
    ? BodyIn<Body>
    : Described<Id> extends { requestBody?: infer Body }
      ? [Exclude<Body, undefined>] extends [never]
        ? undefined
        : BodyIn<Exclude<Body, undefined>> | undefined
      : undefined

export type StatusOf<Id extends Operation> = keyof Described<Id>['responses'] & number

/** The JSON body of an answer; undefined where the spec declares no content. */
export type ResponseBody<Id extends Operation, S extends StatusOf<Id>> = Described<Id>['responses'][S] extends {
  content: { 'application/json': infer Body }
}
  ? Body
  : undefined
