import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { CheckedRequest } from '../../model/contract/contract.ts'
import type { Route } from '../../model/contract/route.ts'
import type { Operation, ServedOperation } from '../../model/contract/shapes.ts'
import type { Client } from '../../model/domain/generated/tables.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { FieldViolation } from '../../model/domain/errors.ts'
import type { Vocabulary } from '../../model/domain/vocabulary.ts'
import type { Reply } from '../../service/operations/operation.ts'
import type { Protocol } from '../../journal/request-journal/entry.ts'
import type { OpenEntry } from '../../journal/request-journal/request-entries.ts'
import type { Environment } from '../../state/environment.ts'
import type { SentBody } from './body.ts'
import type { ExtensionRoute } from './extensions.ts'

/** A request as it was sent, and how it is answered. HTTP/1.1 requests implement it in `node-request.ts`; another protocol adds its own class. */
export interface SentRequest {
  readonly method: string
  /** Path and query, percent-encoded as they were sent. */
  readonly url: string
  /** The query without the question mark; empty when there is none. */
  readonly query: string
  readonly pathParameters: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly hasBody: boolean
  /** Without its `Content-Encoding`. @throws ServiceError for a body of more than `limit` bytes, or one that cannot be read (G7) */
  readBody(limit: number): Promise<Buffer>
  /** What links are built on, without a trailing slash: the configured base URL, else the address that the client used. */
  baseUrl(configured: string | undefined): string
  /** The call that this request was made of; undefined for a request of HTTP. */
  readonly call: RemoteCall | undefined
  /** For faults of scenarios that end a connection. */
  readonly response: ServerResponse
  send(response: EncodedResponse, deliver: Deliver | undefined): Promise<void> | undefined
}

/** A call of another protocol, which was transcoded to a request of HTTP. */
export interface RemoteCall {
  readonly protocol: Protocol
  /** `acme.tools.v1.Tools/ExecuteTool` */
  readonly method: string
  /** Why it ended before its answer; undefined while its client waits. */
  readonly cancelled: string | undefined
  /** Where it was sent to, path and query; absent where the address that it stands for says it. */
  readonly url?: string
  /** Name and version that a client of MCP has sent. */
  readonly mcpClient?: string | undefined
  /** Finds who calls, in place of the check of the bearer token, and whose entry it is. @throws ServiceError UNAUTHENTICATED */
  readonly authenticate?: (entry: CallersEntry) => Authenticated
  /** Told that a fault ends the connection without an answer. */
  readonly silence?: () => void
  /** What keeps it from being a request of HTTP: a field of the path that is missing. */
  readonly refused: Error | undefined
}

/** Whose request it is, known also when the token that it sends is no longer valid. */
export type CallersEntry = Pick<OpenEntry, 'environment' | 'client'>

export interface Authenticated {
  readonly environment: Environment
  readonly client: Client | undefined
}

/** Sends an answer as a fault wants it: slowly, in part or broken. */
export type Deliver = (response: ServerResponse, wireResponse: EncodedResponse) => Promise<void>

/** One request on its way through the pipeline. Each step fills in what it finds out. */
export interface RequestContext extends OpenEntry {
  readonly request: SentRequest
  readonly route: { readonly operation: ServedOperation; readonly bearer: boolean }
  /** As it was sent; empty when there is none or it was not read. Of a long body of the proxy the beginning. */
  rawBody: Buffer | string
  body: unknown
  /** The query in the document's words, where the environment has a vocabulary (G48). */
  documentQuery: string | undefined
  checked: CheckedRequest<Operation> | undefined
  reply: Reply | undefined
  fault: ResponseFault | undefined
  error: unknown
  /** Where the mock's own answer breaks the contract: a defect of the mock. */
  responseViolations: readonly FieldViolation[]
  /** The reply in the words of the environment's vocabulary, where it has one (G48). */
  wire: WireWords | undefined
  /** The answer of the third party behind the proxy, or of a responder, as it is sent. */
  foreign: EncodedResponse | undefined
  wireResponse: EncodedResponse | undefined
}

export interface OperationContext extends RequestContext {
  readonly route: Route
}

export interface ProxyContext extends RequestContext {
  readonly request: SentRequest & {
    /** As it was sent; of more than `buffered` bytes the beginning. @throws ServiceError for a body of more than `limit` bytes */
    readSentBody(limit: number, buffered: number): Promise<SentBody>
  }
  /** What follows {@link rawBody} in a long body. */
  rest: SentBody['rest']
}

export interface ExtensionContext extends RequestContext {
  readonly route: ExtensionRoute
}

/** What the rules of scenarios do to an answer (1.4). */
export interface ResponseFault {
  readonly cut: string | undefined
  readonly injected: boolean
  /** Whether the injected answer is the response of MCP, and not the result in it. */
  readonly ofMcp?: boolean
  /** The text of an injected answer that is no JSON. */
  readonly text: string | undefined
  readonly deliver: Deliver | undefined
}

export interface WireWords {
  readonly vocabulary: Vocabulary
  readonly reply: Reply | undefined
}
