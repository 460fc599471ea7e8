import type { Exchange } from './exchange.ts'
import { sendAnswer } from './wire-answer.ts'

/** Puts the answer on the wire. */
export function send({ response, answer }: Exchange): void {
  if (answer) sendAnswer(response, answer)
}
