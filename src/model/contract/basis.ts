import { FIELD_BASIS } from './generated/basis-table.ts'
import type { Finding } from '../domain/finding.ts'

/** The basis of rules that belong to no field of the contract, by constraint and by error code (docs/fidelity.md). */
const OF_CONSTRAINT: Readonly<Record<string, string>> = {
  unknown: 'choice:G6',
  unread: 'choice:G6',
  near_miss: 'choice:G6',
  duplicate_member: 'choice:G76',
  similar_identifier: 'choice:G6',
  unverified_flow: 'document:4.7',
  barrier_opened_late: 'choice',
  refresh_token_replayed: 'convention:G46',
  credentials_overwritten_by_older: 'convention:G46',
  output_only: 'convention:G9',
  alias: 'convention:G11',
  repeated: 'convention:G5',
  encoding: 'document:4.1',
  scheme: 'document:5.3',
  forged: 'convention:G68',
  stale: 'convention:G68',
  treated_twice: 'convention:G68',
}
const OF_CODE: Readonly<Record<string, string>> = {
  MALFORMED_BODY: 'convention:G7',
  UNSUPPORTED_CONTENT_TYPE: 'convention:G7',
  BODY_TOO_LARGE: 'convention:G7',
  UNAUTHENTICATED: 'document:5.3',
  MISSING_LOCATOR: 'document:4',
  AMBIGUOUS_LOCATOR: 'choice:G21',
  CONTRADICTING_LOCATOR: 'choice:G21',
  INVALID_CONNECTOR: 'choice:G19',
  INVALID_PAGE_TOKEN: 'convention:G4',
  INVALID_TOOL_INPUT: 'convention:G44',
}
/** Rules about a field whose basis differs from the field's, by operation, path and constraint; `*` matches any. */
const OF_RULE: Readonly<Record<string, string>> = {
  '* organization_id required': 'choice:G21',
  '* connected_account.authorization_details.trusted_idp.db_user required': 'document:2.2',
  'create_connected_account connector minLength': 'choice:G52',
  'create_connected_account identifier minLength': 'choice:G52',
  'execute_tool tool_name minLength': 'choice:G52',
  'verify_user identifier minLength': 'document:4.7',
  '* identifier type': 'document:2.1',
  '* connector type': 'document:2.1',
  'create_magic_link connector known_connector': 'document:4.6',
  'create_magic_link * http_url': 'choice:G35',
  'create_magic_link user_verify_url format': 'choice:G35',
  'create_token grant_type enum': 'document:5.1',
  'create_token Content-Type content_type': 'document:5.1',
  'create_token * required': 'convention:G14',
  'create_token * exclusive': 'convention:G14',
  'create_token * repeated': 'convention:G14',
  '* connected_account.authorization_type authorization_type': 'choice:G10',
  '* * authorization_type': 'choice:G23',
}

type Broken = Pick<Finding, 'operation' | 'field' | 'code' | 'error_code'>

export function basisOf({ operation, field: path, code: constraint, error_code }: Broken): string {
  const rules = [`${operation} ${path}`, `* ${path}`, `${operation} *`, '* *']
  const [ofRule] = rules.flatMap((rule) => OF_RULE[`${rule} ${constraint}`] ?? [])
  const basis = ofRule ?? OF_CONSTRAINT[constraint] ?? OF_CODE[error_code ?? '']
  if (basis !== undefined) return basis
  if (constraint.startsWith('buf.validate.')) return 'descriptors'
  const parts = path
    .replace(/\[[^\]]*\]/g, '.[]')
    .split('.')
    .filter((part) => part !== '')
  // The deepest part of the path that has a basis of its own.
  const inside = parts.map((_, at) => parts.slice(0, parts.length - at).join('.'))
  const names = [...(constraint === 'required' ? [`${path} required`] : []), path, ...inside, '']
  const fields = FIELD_BASIS.get(operation ?? '')
  return names.flatMap((name) => fields?.get(name) ?? [])[0] ?? 'choice'
}
