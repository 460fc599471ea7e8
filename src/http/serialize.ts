import type { Corridor } from '../app-services.ts'
import type { Exchange } from './request-context.ts'
import { textAnswer, wireAnswer } from './wire-answer.ts'

/** The reply as it goes over the wire, once for the journal and the client alike. */
export function serialize(exchange: Exchange, { lasting }: Corridor): void {
  const reply = exchange.spoken?.reply ?? exchange.reply
  if (reply && exchange.fault?.text !== undefined)
    exchange.answer = textAnswer(reply, exchange.fault.text, exchange.requestId)
  else if (reply) exchange.answer = wireAnswer(reply, exchange.requestId, lasting.of(reply))
}
