import type { Exchange } from './exchange.ts'
import { wireAnswer } from './wire-answer.ts'

/** The reply as it goes over the wire, once for the journal and the client alike. */
export function serialize(exchange: Exchange): void {
  const reply = exchange.spoken?.reply ?? exchange.reply
  if (reply) exchange.answer = wireAnswer(reply, exchange.requestId)
}
