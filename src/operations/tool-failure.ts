import { type ErrorCode, ServiceError } from '../domain/errors.ts'
import type { ToolAnswer } from '../domain/ports.ts'

type Failure = Exclude<ToolAnswer, { kind: 'result' | 'unsendable' }>

type Unsendable = Extract<ToolAnswer, { kind: 'unsendable' }>

/** What the caller is told of a call that brought no result (G44); each that was sent carries `tool_error_info`. */
export function toolFailure(answer: Failure | Unsendable, execution_id: string): ServiceError {
  if (answer.kind === 'unsendable') return unsendable(answer)
  const { errorCode, tool_error_code } = described(answer)
  const retryAfter = answer.kind === 'rate_limited' ? answer.retry_after : null
  return new ServiceError(errorCode, answer.message, {
    tool: { execution_id, tool_error_code, tool_error_message: answer.message },
    ...(retryAfter === null ? {} : { headers: { 'Retry-After': retryAfter } }),
  })
}

/** Bad input, and no failure of anybody else's: a 400 like any other. */
function unsendable({ message }: Unsendable): ServiceError {
  const description = `found a value with which ${message}, expected another one`
  return new ServiceError('INVALID_TOOL_INPUT', `tool_input: ${description}`, {
    violations: [{ field: 'tool_input', description, constraint: 'path' }],
  })
}

function described(answer: Failure): { errorCode: ErrorCode; tool_error_code: string } {
  switch (answer.kind) {
    case 'rate_limited':
      return { errorCode: 'THIRD_PARTY_RATE_LIMITED', tool_error_code: '429' }
    case 'timed_out':
      return { errorCode: 'TOOL_EXECUTION_TIMED_OUT', tool_error_code: 'TIMEOUT' }
    case 'unauthorized':
      return { errorCode: 'TOOL_EXECUTION_FAILED', tool_error_code: '401' }
    case 'failed':
      return { errorCode: 'TOOL_EXECUTION_FAILED', tool_error_code: answer.code }
  }
}
