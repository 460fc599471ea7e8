import type { JsonValue } from '../domain/json.ts'
import type { operations } from './generated/openapi-types.ts'

/** The operations of the service by `operationId`, those of Discovery and the token endpoint included. */
export type Operation = keyof operations

type Described<Id extends Operation> = operations[Id]

/** The query parameters of an operation, coerced to the types of the spec; `{}` where it has none. */
export type Query<Id extends Operation> =
  Described<Id> extends { parameters: { query: infer Parameters extends object } }
    ? Parameters
    : Described<Id> extends { parameters: { query?: infer Parameters extends object } }
      ? Parameters
      : Record<string, never>

type BodyIn<Described> = Described extends { content: infer Content } ? Parsed<Content[keyof Content]> : never

/** What the spec leaves open is still JSON, since it was parsed from it. */
type Parsed<T> = unknown extends T
  ? JsonValue
  : T extends readonly (infer Item)[]
    ? Parsed<Item>[]
    : T extends object
      ? { [Key in keyof T]: Parsed<T[Key]> }
      : T

/** The request body of an operation, as parsed; undefined where it takes none. */
export type RequestBody<Id extends Operation> =
  Described<Id> extends { requestBody: infer Body }
    ? BodyIn<Body>
    : Described<Id> extends { requestBody?: infer Body }
      ? [Exclude<Body, undefined>] extends [never]
        ? undefined
        : BodyIn<Exclude<Body, undefined>> | undefined
      : undefined

/** The statuses that an operation declares. */
export type Status<Id extends Operation> = keyof Described<Id>['responses'] & number

/** The JSON body of an answer; undefined where the spec declares no content. */
export type ResponseBody<Id extends Operation, S extends Status<Id>> = Described<Id>['responses'][S] extends {
  content: { 'application/json': infer Body }
}
  ? Body
  : undefined
