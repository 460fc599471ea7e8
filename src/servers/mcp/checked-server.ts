/* eslint-disable @typescript-eslint/no-deprecated -- tools have plain JSON Schemas, which the high-level server does not take */
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server'
import { quote } from '../../model/domain/text.ts'

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

const REQUESTS = new Map<string, StandardSchemaV1Sync>([
  ['initialize', specTypeSchemas.InitializeRequest],
  ['tools/list', specTypeSchemas.ListToolsRequest],
  ['tools/call', specTypeSchemas.CallToolRequest],
])

/** Refuses params as invalid that the library takes for an internal error, or ignores: lists have one page unless `isPaged`. */
export class CheckedServer extends Server {
  isPaged = false

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    return (request, context) => {
      const reason = paramsIssue(method, request, this.isPaged)
      if (reason !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, reason)
      return wrapped(request, context)
    }
  }
}

function paramsIssue(method: string, request: JSONRPCRequest, isPaged: boolean): string | undefined {
  const [issue] = REQUESTS.get(method)?.['~standard'].validate(request).issues ?? []
  if (issue) return `${(issue.path ?? []).map(String).join('.')}: ${issue.message}`
  const cursor: unknown = method === 'tools/list' && !isPaged && request.params?.['cursor']
  if (typeof cursor !== 'string' || cursor === '') return undefined
  return `params.cursor: ${quote(cursor)} is no nextCursor of this list`
}
