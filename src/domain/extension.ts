import type { IncomingHttpHeaders } from 'node:http'
import type { Connector, Responder } from './connector.ts'
import { matchPath, pathsOverlap } from './path-pattern.ts'

/** Answers of a user's own for a part of the service that the mock does not serve, as a file describes them. */
export interface Extension extends Pick<Connector, 'collections' | 'error_body'> {
  readonly extension: string
  readonly responders: readonly ExtensionResponder[]
}

export interface ExtensionResponder extends Responder {
  readonly name: string
  readonly on: Responder['on'] & { readonly path: string }
}

/** A method and path; without a method any. Paths have parameters in braces. */
export interface ServedPath {
  readonly method?: string | undefined
  readonly path: string
}

/** Whether there is a request that both answer. */
export function servesSame(one: ServedPath, other: ServedPath): boolean {
  const sameMethod = one.method === undefined || other.method === undefined || one.method === other.method
  return sameMethod && pathsOverlap(one.path, other.path)
}

/** Whether an extension has a responder for this path, and this method where one is given. */
export function serves({ responders }: Extension, path: readonly string[], method?: string): boolean {
  return responders.some(
    ({ on }) => (method === undefined || on.method === undefined || on.method === method) && matchPath(on.path, path),
  )
}

/** A request of the service as an extension answers it. */
export interface ExtensionRequest {
  readonly method: string
  /** As it was sent, without the query. */
  readonly path: string
  /** Where it was sent, without its query. */
  readonly url: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What a responder answers, an error that the service words, or undefined where no responder takes the request. */
export type ExtensionAnswer =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Record<string, string>
      readonly body: string
    }
  | {
      readonly kind: 'error'
      readonly status: number
      readonly errorCode: string
      readonly code: number
      readonly message: string
    }
  | undefined
