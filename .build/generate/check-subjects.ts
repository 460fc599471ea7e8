import type { Operation } from '../../src/contract/shapes.ts'

/** What a conformance check asks about: one operation, or what all of them have in common. */
export type Subject = Operation | typeof ANY_OPERATION

export const ANY_OPERATION = 'any operation'

/** By the whole id of a check, by its part before the first hyphen, or by its family; the longest that is here counts. */
const SUBJECTS = new Map<string, Subject>([
  ['token', 'create_token'],
  ['bearer', ANY_OPERATION],
  ['errors', ANY_OPERATION],
  ['create', 'create_connected_account'],
  ['details', 'get_connected_account_details'],
  ['auth', 'get_connected_account_auth'],
  ['list', 'list_connected_accounts'],
  ['search', 'search_connected_accounts'],
  ['update', 'update_connected_account'],
  ['delete', 'delete_connected_account'],
  ['link', 'create_magic_link'],
  ['consent', 'create_magic_link'],
  ['verify', 'verify_user'],
  ['connections', 'list_connections'],
  ['providers', 'create_custom_provider'],
  ['providers/update', 'update_custom_provider'],
  ['providers/delete', 'delete_custom_provider'],
  ['execute', 'execute_tool'],
  ['discovery/tools', 'list_tools'],
  ['discovery/tool', 'list_tools'],
  ['discovery/scoped', 'list_scoped_tools'],
  ['discovery/available', 'list_available_tools'],
  ['discovery/providers', 'list_providers'],
  ['time/bearer', 'create_token'],
  ['time/link', 'create_magic_link'],
  ['time/expired-link', 'create_magic_link'],
  ['time/auth-request', 'verify_user'],
  ['time/token-expires', 'get_connected_account_details'],
  ['time/token-refreshed', 'get_connected_account_auth'],
  ['time/refresh-refused', 'get_connected_account_auth'],
  ['time/token-refreshed-for-tool', 'execute_tool'],
  ['time/expired-executes-nothing', 'execute_tool'],
  ['time/disconnected-executes-nothing', 'execute_tool'],
  ['time/update-reactivates', 'update_connected_account'],
  ['time/environments', ANY_OPERATION],
])

/** @throws Error when nothing says what the check asks about */
export function subjectOf(id: string, operations: ReadonlySet<string>): Subject {
  const [, named = ''] = /^(?:bearer\/missing-|shape\/)(.+)$/.exec(id) ?? []
  if (operations.has(named)) return named as Operation
  const subject = SUBJECTS.get(id) ?? SUBJECTS.get(id.split('-')[0] ?? '') ?? SUBJECTS.get(id.split('/')[0] ?? '')
  if (subject) return subject
  throw new Error(
    `The operation that the conformance check ${id} asks about belongs into .build/generate/check-subjects.ts`,
  )
}
