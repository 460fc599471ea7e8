import { checkContentType, decode, hasBody, parseJsonObject, readBody } from './body.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'
import { TokenError } from '../domain/errors.ts'

/** Reads the body that the operation takes (G7); operations that take none leave it unread. */
export function readSentBody(context: RequestContext, { bodyLimit }: AppServices): Promise<void> | undefined {
  const { request, route } = context
  if (route.bodyMediaType === null || !hasBody(request)) return undefined
  return route.bearer ? readJson(context, route.bodyMediaType, bodyLimit) : readForm(context, bodyLimit)
}

async function readJson(context: RequestContext, mediaType: string, limit: number): Promise<void> {
  const { request } = context
  checkContentType(request, mediaType)
  context.rawBody = await readBody(request, limit)
  context.body = parseJsonObject(context.rawBody)
}

const FORM = 'application/x-www-form-urlencoded'

/** The token request is a form, and its errors are those of RFC 6749 (G14). */
async function readForm(context: RequestContext, limit: number): Promise<void> {
  const type = context.request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) {
    const found = type === undefined ? 'no content type' : JSON.stringify(type.slice(0, 100))
    const description = `found ${found}, expected ${FORM}`
    throw new TokenError('invalid_request', `the body is no form; send Content-Type: ${FORM}`, false, [
      { field: 'Content-Type', description, constraint: 'content_type' },
    ])
  }
  context.rawBody = await readBody(context.request, limit)
  context.body = fieldsOf(new URLSearchParams(decode(context.rawBody)))
}

/** Each field once; one that is repeated has all its values. */
function fieldsOf(form: URLSearchParams): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of form) {
    const known = fields.get(name)
    if (known === undefined) fields.set(name, value)
    else if (typeof known === 'string') fields.set(name, [known, value])
    else known.push(value)
  }
  return Object.fromEntries(fields)
}
