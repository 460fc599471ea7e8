import { isJsonObject } from '../../domain/json.ts'
import { defaultBody } from '../default-answer.ts'
import type { FaultMaker } from './fault.ts'

/** Another answer instead of the plain one. */
export const respond: FaultMaker<'respond'> = (params) => {
  const { status, error_code, headers, body } = params
  const oauthError = isJsonObject(body) && typeof body['error'] === 'string' ? body['error'] : undefined
  const detail = error_code ?? oauthError
  const words = [status === null ? undefined : String(status), detail && `(${detail})`].filter(Boolean).join(' ')
  return {
    kind: 'respond',
    sentence: `answers ${words || 'something else'} instead of the plain answer`,
    answer: (asked) => {
      const made = body === undefined ? defaultBody(params, asked) : { body, headers: {} }
      return { status: status ?? 200, body: made.body, headers: { ...made.headers, ...headers } }
    },
  }
}
