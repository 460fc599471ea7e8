import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'
import { textAnswer, wireAnswer } from './wire-answer.ts'

/** The reply as it goes over the wire, once for the journal and the client alike. */
export function serialize(context: RequestContext, { responseCache }: AppServices): void {
  const reply = context.wire?.reply ?? context.reply
  if (reply && context.fault?.text !== undefined)
    context.answer = textAnswer(reply, context.fault.text, context.requestId)
  else if (reply) context.answer = wireAnswer(reply, context.requestId, responseCache.of(reply))
}
