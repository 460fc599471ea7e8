import type { Operation, QueryOf, RequestBody } from '../../model/contract/shapes.ts'
import type { ToolSchemas } from '../../model/contract/tool-schemas.ts'
import type { ThirdParty } from '../../model/domain/ports.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { Environment } from '../../state/environment.ts'

/** The input of an operation: its environment and a request that has passed the contract check. */
export interface Call<Id extends Operation> {
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  /** The client whose credentials or bearer token came with the request. */
  readonly clientId: string
  /** What links and redirects are built on, without a trailing slash. */
  readonly baseUrl: () => string
  /** Whether a locator needs a scope, as part 4 says (`--documented-only`, G21). */
  readonly documentedOnly: boolean
  /** Whether every environment has virtual MCP servers (`--mcp`, G61). */
  readonly mcp: boolean
  readonly query: QueryOf<Id>
  readonly path: Readonly<Record<string, string>>
  readonly body: RequestBody<Id>
  /** Validates a tool's input by the tool's own JSON Schema. */
  readonly toolSchemas: Pick<ToolSchemas, 'prepare' | 'check'>
  /** What this call is about and what it causes, for the request journal. */
  readonly trace: RequestTrace
}

/** What an operation answers; `body` undefined means no body content (4.8). */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The same body object is answered again and never changes, so its check and its text can be cached. */
  readonly cacheable?: boolean
}

export type Handler<Id extends Operation> = (call: Call<Id>) => Reply | Promise<Reply>
