import { type ServiceResponse, Skipped } from '../conform/service-response.ts'
import { ConformTarget } from '../conform/target.ts'
import { operationAt } from '../../model/contract/route.ts'
import { type JsonValue, parsedJson, textOf } from '../../model/domain/json.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import type { AskingCheck } from './findings.ts'
import type { Exchange } from './har.ts'
import { mcpOperation } from './mcp.ts'

export interface Allowed {
  /** Whether the service is on this machine: everything may be sent there. */
  readonly isLocal: boolean
  /** Accounts of this run may be created, changed and removed. */
  readonly writes: boolean
  /** What the identifiers of those accounts begin with. */
  readonly prefix: string
}

/** Requests that change nothing but one account, which they name. */
const OF_ONE_ACCOUNT: ReadonlySet<string> = new Set([
  'create_connected_account',
  'update_connected_account',
  'delete_connected_account',
  'create_magic_link',
  'verify_user',
])

/** Requests to virtual MCP servers that call no tool. */
const MCP_READS: ReadonlySet<string | undefined> = new Set([
  ...['mcp_initialize', 'mcp_notifications_initialized', 'mcp_ping', 'mcp_tools_list'],
])

/** What may be sent to a service that is not on this machine. */
export class Permission {
  readonly #allowed: Allowed
  /** Ids of the accounts that this run has created. */
  readonly #accounts = new Set<string>()

  constructor(allowed: Allowed) {
    this.#allowed = allowed
  }

  /** An account of an answer, which later requests may name by its id. */
  addAccount(body: JsonValue | undefined): void {
    const [id, identifier] = ['id', 'identifier'].map((name) => textOf(valueAt(body, `connected_account.${name}`)))
    if (id && identifier?.startsWith(this.#allowed.prefix)) this.#accounts.add(id)
  }

  /** @throws Skipped for a request that may not be sent */
  check(request: HttpRequest): void {
    const { method, path, body } = request
    const [file = ''] = path.split('?')
    if (this.#allowed.isLocal || (method === 'GET' && !file.startsWith('/proxy/')) || file === '/oauth/token') return
    if (MCP_READS.has(mcpOperation(request))) return
    const operation = operationAt(method, file)
    if (operation === undefined || !OF_ONE_ACCOUNT.has(operation))
      throw new Skipped('calls no tool and changes no provider of a service that is not on this machine')
    if (!this.#allowed.writes) throw new Skipped('only reading requests are sent there: --allow-writes allows others')
    const [id, identifier] = ['id', 'identifier'].map((name) => textOf(valueAt(parsedJson(body ?? ''), name)))
    const isOwn = id ? this.#accounts.has(id) : identifier?.startsWith(this.#allowed.prefix)
    if (!isOwn)
      throw new Skipped(`only accounts whose identifier begins with ${this.#allowed.prefix} are changed there`)
  }
}

/** A target that gets only what may be sent to the service, and keeps what was asked and answered. */
export class PermittedTarget extends ConformTarget {
  readonly exchanges: Exchange[] = []
  readonly #permission: Permission

  constructor(baseUrl: string, allowed: Allowed) {
    super(baseUrl)
    this.#permission = new Permission(allowed)
  }

  /** Sends a request of the comparison. @throws Skipped for one that may not be sent */
  async ask(request: HttpRequest, check: AskingCheck | undefined): Promise<ServiceResponse> {
    this.#permission.check(request)
    const response = await this.responseTo(request)
    this.#permission.addAccount(parsedJson(response.text))
    this.exchanges.push({ request, serviceResponse: response, check })
    return response
  }

  protected responseTo(request: HttpRequest): Promise<ServiceResponse> {
    return super.send(request)
  }
}
