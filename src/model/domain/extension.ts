import type { IncomingHttpHeaders } from 'node:http'
import type { Connector, Responder } from './connector.ts'
import type { FieldViolation } from './errors.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { matchPath, pathsOverlap } from './path-pattern.ts'

/** Answers of a user's own for a part of the service that the mock does not serve, as a file describes them. */
export interface Extension extends Pick<Connector, 'connector' | 'collections' | 'error_body'> {
  readonly extension: string
  /** Names the place of its collections. No connector has a dot in its name. */
  readonly connector: `extension.${string}`
  readonly responders: readonly ExtensionResponder[]
}

export interface ExtensionResponder extends Responder {
  readonly name: string
  readonly on: Responder['on'] & { readonly path: string }
  /** JSON Schema 2020-12. */
  readonly body_schema?: JsonObject
}

/** A method and path; without a method any. Paths have parameters in braces. */
export interface ServedPath {
  readonly method?: string | undefined
  readonly path: string
}

/** Whether there is a request that both answer. */
export function servesSame(one: ServedPath, another: ServedPath): boolean {
  const sameMethod = one.method === undefined || another.method === undefined || one.method === another.method
  return sameMethod && pathsOverlap(one.path, another.path)
}

/** Why an extension cannot be there together with others; undefined where it can. */
export function conflictWith(added: Extension, others: readonly Extension[]): string | undefined {
  for (const { extension, responders } of others) {
    if (extension === added.extension) return `extension ${extension} is there for the second time; give each once`
    for (const { name, on } of added.responders) {
      const same = responders.find((responder) => servesSame(on, responder.on))
      if (same)
        return `responder ${name} answers ${on.path}, which responder ${same.name} of extension ${extension} answers`
    }
  }
  return undefined
}

/** Whether an extension has a responder for this path, and this method where one is given. */
export function servesPath({ responders }: Extension, path: readonly string[], method?: string): boolean {
  return responders.some(
    ({ on }) => (method === undefined || on.method === undefined || on.method === method) && matchPath(on.path, path),
  )
}

/** A request of the service as an extension answers it. */
export interface ExtensionRequest {
  readonly method: string
  /** `http`, or that of a call: `grpc`, `grpc-web`, `connect`. */
  readonly protocol: string
  /** As it was sent, without the query. */
  readonly path: string
  /** Where it was sent, without its query. */
  readonly url: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** What is wrong with a body by the schema of the responder that answers it. */
  readonly check: (responder: ExtensionResponder, body: JsonValue) => readonly FieldViolation[]
}

/** What a responder answers, an error that the service words, or undefined where no responder takes the request. */
export type ExtensionResponse =
  | {
      readonly kind: 'answer'
      readonly responder: string
      readonly status: number
      readonly headers: Record<string, string>
      readonly body: string | Buffer
    }
  | {
      readonly kind: 'error'
      readonly responder: string
      readonly status: number
      readonly errorCode: string
      readonly code: number
      readonly message: string
    }
  | undefined
