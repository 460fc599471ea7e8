import type { RequestContext } from './request-context.ts'
import { sendAnswer } from './wire-answer.ts'

/** Puts the answer on the wire. */
export function send({ response, answer, fault }: RequestContext): Promise<void> | undefined {
  if (!answer || fault?.cut) return undefined
  if (fault?.deliver && !response.destroyed) return fault.deliver(answer)
  sendAnswer(response, answer)
  return undefined
}
