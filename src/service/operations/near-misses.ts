import type { CheckedRequest } from '../../model/contract/contract.ts'
import type { Operation, ServedOperation } from '../../model/contract/shapes.ts'
import { ruleAndFound } from '../../model/domain/errors.ts'
import { isJsonObject } from '../../model/domain/json.ts'
import { providerOf } from '../../model/domain/connector.ts'
import type { Locator } from '../../model/domain/locator.ts'
import type { RequestTrace, RequestWarning } from '../../model/domain/request-trace.ts'
import { nearMiss } from '../../model/domain/suggestion.ts'
import { maskText } from '../../model/domain/masking.ts'
import { quote } from '../../model/domain/text.ts'
import type { Environment } from '../../state/environment.ts'
import { isOfAccounts } from './connections.ts'
import { ACCOUNT_HEADERS } from './proxy.ts'

type Named = 'connector' | 'tool' | 'identifier'

/** What the values of fields and parameters name, by the names of these: also as a filter, and a list of values in the plural. */
const NAMED: ReadonlyMap<string, Named> = new Map(
  Object.entries({
    connector: 'connector',
    provider: 'connector',
    connection_name: 'connector',
    tool_name: 'tool',
    identifier: 'identifier',
  } as const).flatMap(([name, kind]) =>
    [name, `${name}s`, `filter.${name}`, `filter.${name}s`].map((each): [string, Named] => [each, kind]),
  ),
)

type Context = { readonly environment: Environment; readonly trace: RequestTrace }

/** Also identifiers that differ by case or blanks alone (G6). Before the operation, which may create what is named. */
export function noteNearMisses(
  context: Context,
  operation: Operation,
  { query, body }: Pick<CheckedRequest<Operation>, 'query' | 'body'>,
): void {
  for (const part of [query, body] as unknown[]) {
    if (!isJsonObject(part)) continue
    for (const field of Object.keys(part)) {
      const kind = namedBy(operation, field)
      if (kind === undefined) continue
      const value = part[field]
      for (const each of Array.isArray(value) ? value : [value])
        noteNearMiss(context, { field, named: kind, value: each })
    }
  }
}

/** Of list_providers it is the identifier of a provider, and that is a connector. */
function namedBy(operation: ServedOperation, field: string): Named | undefined {
  if (operation === 'list_providers' && field === 'filter.identifier') return 'connector'
  return NAMED.get(field)
}

/** Notes the same in the headers of the proxy, and names of headers that nearly are those of the account. */
export function noteProxyNearMisses(
  context: Context,
  headers: Readonly<Record<string, unknown>>,
  { connector, identifier }: Locator,
): void {
  noteNearMiss(context, { field: ACCOUNT_HEADERS.connector, named: 'connector', value: connector })
  noteNearMiss(context, { field: 'identifier', named: 'identifier', value: identifier })
  const names = [ACCOUNT_HEADERS.connector, ACCOUNT_HEADERS.id, 'identifier', 'organization_id', 'user_id']
  for (const name of Object.keys(headers)) {
    const meant = names.includes(name) ? undefined : nearMiss(name, names)
    if (meant !== undefined) context.trace.warn(nearMissWarning(name, 'names no account', meant))
  }
}

export function nearMissWarning(field: string, description: string, meant: string, value?: string): RequestWarning {
  return {
    field,
    description: value === undefined ? description : ruleAndFound(description, quote(maskText(value))),
    kind: 'near_miss',
    did_you_mean: meant,
  }
}

function noteNearMiss(
  { environment, trace }: Context,
  { field, named, value }: { readonly field: string; readonly named: Named; readonly value: unknown },
): void {
  if (typeof value !== 'string' || value === '') return
  if (named === 'identifier') {
    const similar = environment.model.accountIndex.similar(value)
    if (similar === undefined) return
    const rule = `differs from the known ${quote(similar)} by case or blanks alone`
    trace.warn({ field, description: ruleAndFound(rule, quote(maskText(value))), kind: 'similar_identifier' })
    return
  }
  const meant = named === 'tool' ? nearTool(environment, value) : nearConnector(environment, value)
  if (meant !== undefined) trace.warn(nearMissWarning(field, `names no ${named}`, meant, value))
}

/** As many connectors as a name is compared with. */
const COMPARED = 1000

function nearConnector(environment: Environment, name: string): string | undefined {
  if (environment.connector(name)) return undefined
  const connections = [...environment.model.tables.connections.values()]
  if (connections.some(({ key_id }) => key_id === name)) return undefined
  // A provider may have another name than its connector.
  if ([...environment.connectors.values()].some((each) => providerOf(each) === name)) return undefined
  const candidates = connections.filter(isOfAccounts).slice(0, COMPARED)
  return nearMiss(
    name,
    candidates.map(({ key_id }) => key_id),
  )
}

/** The tools of custom providers are those of connector files, too. */
function nearTool({ model }: Environment, name: string): string | undefined {
  const candidates: string[] = []
  for (const { tools } of model.tables.connectors.values()) {
    if (tools.some((tool) => tool.name === name)) return undefined
    for (const tool of tools) candidates.push(tool.name)
  }
  return nearMiss(name, candidates)
}
