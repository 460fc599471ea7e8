import { defaultBody } from '../default-answer.ts'
import type { Asked, FaultMaker, WireAnswer } from './fault.ts'

/** Another answer instead of the plain one. */
export const respond: FaultMaker<'respond'> = (params) => {
  const { status, error_code, message, headers, body } = params
  const oauthError = typeof body === 'object' && body !== null && 'error' in body ? String(body['error']) : undefined
  const detail = error_code ?? oauthError
  const words = [status === null ? undefined : String(status), detail && `(${detail})`].filter(Boolean).join(' ')
  return {
    kind: 'respond',
    sentence: `answers ${words || 'something else'} instead of the plain answer`,
    answer: (asked): WireAnswer => {
      const made = body === undefined ? defaultBody(params, asked) : { body, headers: {} }
      return { status: status ?? 200, ...encoded(made.body, { ...made.headers, ...headers }, asked) }
    },
  }
}

function encoded(body: unknown, headers: Record<string, string>, { at }: Asked): Pick<WireAnswer, 'headers' | 'body'> {
  const all = at === 'token_refresh' ? { 'Cache-Control': 'no-store', ...headers } : headers
  if (body === undefined) return { headers: all, body: '' }
  const [type, text] = typeof body === 'string' ? ['text/plain', body] : ['application/json', JSON.stringify(body)]
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return { headers: typed ? all : { 'Content-Type': type, ...all }, body: text }
}
