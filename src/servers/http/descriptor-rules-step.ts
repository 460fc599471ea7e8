import { bodyInWireWords, queryInWireWords } from '../../model/contract/vocabulary.ts'
import type { FieldViolation } from '../../model/domain/errors.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { RequestContext } from './request-context.ts'
import type { ServiceParts } from './services.ts'

const NONE: readonly never[] = Object.freeze([])
const NAME = /[A-Za-z_]\w*/g

/** What the client's descriptors forbid, in the document's words; with `descriptor_rules: warn` the request gets warnings instead. */
export function descriptorViolations(
  { environment, request, route, documentQuery, trace }: RequestContext,
  documentBody: JsonValue | undefined,
  { descriptorRules }: Pick<ServiceParts, 'descriptorRules'>,
): readonly FieldViolation[] {
  const mode = environment?.settings.descriptor_rules ?? 'enforce'
  if (!descriptorRules || mode === 'off') return NONE
  const { vocabulary } = environment ?? {}
  const { operation } = route
  const [path = ''] = request.url.split('?', 1)
  const violations = descriptorRules({
    method: request.method === 'HEAD' ? 'GET' : request.method,
    path,
    query: vocabulary ? queryInWireWords(operation, documentQuery ?? request.query, vocabulary) : request.query,
    body:
      vocabulary && documentBody !== undefined ? bodyInWireWords(operation, documentBody, vocabulary) : documentBody,
    rpc: request.call?.method,
  }).map((each) => {
    const field = vocabulary ? each.field.replace(NAME, (word) => vocabulary.document(word)) : each.field
    return { ...each, field }
  })
  if (mode === 'enforce') return violations
  for (const { field, description, constraint } of violations) trace.warn({ field, description, kind: constraint })
  return NONE
}
