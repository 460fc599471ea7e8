import type { Tool } from '../domain/connector.ts'
import { type JsonObject, type JsonValue, isJsonObject, own } from '../domain/json.ts'
import type { ToolAnswer } from '../domain/ports.ts'
import type { Received } from './exchange.ts'

/** Deeper answers cannot be passed on: writing them as JSON again would overflow the stack. */
const DEPTH_LIMIT = 200
const MESSAGE_LIMIT = 500

/** An answer whose body was read: what result templates see as `response`. */
export interface UsableAnswer extends JsonObject {
  status: number
  headers: JsonObject
  body: JsonValue
}

/** What the service makes of what came back (G44); a usable answer still has to become the tool's result. */
export function readAnswer(received: Received): UsableAnswer | ToolAnswer {
  if (received.kind === 'timed_out')
    return { kind: 'timed_out', message: `the third party did not answer: ${received.message}` }
  if (received.kind === 'broken')
    return { kind: 'failed', status: null, code: 'CONNECTION_FAILED', message: received.message }
  const { status, headers } = received
  const body = bodyOf(received)
  if (status >= 400) return errorOf(status, body ?? null, headers['retry-after'] ?? null)
  const unusable = (message: string): ToolAnswer => ({ kind: 'failed', status, code: 'UNUSABLE_ANSWER', message })
  if (status >= 300) return unusable(`the third party answered ${String(status)}, and redirects are not followed`)
  if (body === undefined)
    return unusable(`the third party answered ${String(status)} with a body that is not usable JSON`)
  return { status, headers: headers as JsonObject, body }
}

export function isToolAnswer(answer: UsableAnswer | ToolAnswer): answer is ToolAnswer {
  return Object.hasOwn(answer, 'kind')
}

/** Without a result template the body is passed on; what is no object is wrapped. */
export function passedOn(body: JsonValue, tool: Tool): JsonObject {
  if (tool.result !== null) throw new Error(`${tool.name} has a result template`)
  if (body === null) return {}
  return isJsonObject(body) ? body : { value: body }
}

function errorOf(status: number, body: JsonValue, retryAfter: string | null): ToolAnswer {
  const message = `the third party answered ${String(status)}${saying(body)}`
  if (status === 401) return { kind: 'unauthorized', status, message }
  if (status === 429) return { kind: 'rate_limited', status, message, retry_after: retryAfter }
  return { kind: 'failed', status, code: String(status), message }
}

/** The words of the usual error shapes: `message`, `error_description`, `error`, `error.message`. */
function saying(body: JsonValue): string {
  if (typeof body === 'string') return body === '' ? '' : `: ${body.slice(0, MESSAGE_LIMIT)}`
  if (!isJsonObject(body)) return ''
  const error = own(body, 'error')
  const candidates = [
    own(body, 'message'),
    own(body, 'error_description'),
    error,
    isJsonObject(error) ? own(error, 'message') : null,
  ]
  const text = candidates.find((candidate) => typeof candidate === 'string' && candidate !== '')
  return typeof text === 'string' ? `: ${text.slice(0, MESSAGE_LIMIT)}` : ''
}

/** JSON as a value, other types as text, null when there is none; undefined when it says that it is JSON and is not. */
function bodyOf({ status, headers, body }: Received & { kind: 'answer' }): JsonValue | undefined {
  const type = (headers['content-type'] ?? '').toLowerCase()
  const text = body.toString('utf8')
  if (text === '') return type.includes('json') && status !== 204 ? undefined : null
  if (type !== '' && !type.includes('json')) return text
  if (isTooDeep(text)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Brackets inside of texts count too: this is a guard, not a parser. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x5b || code === 0x7b) depth += 1
    else if (code === 0x5d || code === 0x7d) depth -= 1
    if (depth > DEPTH_LIMIT) return true
  }
  return false
}
