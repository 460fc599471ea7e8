import type { Explanation, Request } from './api.ts'

/** The request as an action corrects it; undefined where it is not the action of this page. */
export function correctedBy(
  { action, target, value }: Explanation['actions'][number],
  request: Request,
): Request | undefined {
  const [, method, path] = /^([A-Z]+) (\S+)$/.exec(value ?? '') ?? []
  if (action === 'send_again_as')
    return method !== undefined && path !== undefined ? { ...request, method, path } : undefined
  if (target === null || value === null || !['send_again_with', 'rename_field'].includes(action)) return undefined
  const [query, body] = [structuredClone(request.query), structuredClone(request.request.body)]
  const names = target.split(/[.[\]]+/).filter((name) => name !== '')
  const last = names.pop() ?? ''
  const inQuery = names.length === 0 && (last in query || !isRecord(body))
  let object: unknown = inQuery ? query : body
  for (const name of names) object = isRecord(object) && Object.hasOwn(object, name) ? object[name] : undefined
  if (!isRecord(object)) return undefined
  object[action === 'rename_field' ? value : last] = action === 'rename_field' ? object[last] : value
  if (action === 'rename_field') Reflect.deleteProperty(object, last)
  return { ...request, query, request: { ...request.request, body } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
