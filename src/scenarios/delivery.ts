import type { ServerResponse } from 'node:http'
import type { Asked, FaultEffect, Wire, WireAnswer } from './faults/fault.ts'

/** Puts an answer on the wire as it is. */
export function deliverWhole(response: ServerResponse, { status, headers, body }: WireAnswer): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
    response.end(body, () => {
      resolve()
    })
  })
}

/**
 * What happens on the wire before anything is carried out, one fault after the other.
 * @returns the fault that was the end of the connection; undefined when the request goes on
 */
export async function waitBefore(effects: readonly FaultEffect[], wire: Wire): Promise<FaultEffect | undefined> {
  for (const effect of effects) {
    await effect.before?.(wire)
    if (effect.before && isOver(wire.response)) return effect
  }
  return undefined
}

/** The injected answer; undefined when the plain one is to be given. */
export function injectedAnswer(effects: readonly FaultEffect[], asked: Asked): WireAnswer | undefined {
  return effects.find((effect) => effect.answer)?.answer?.(asked)
}

/** How the answer is delivered otherwise than whole; undefined when it is not. */
export function deliveryOf(effects: readonly FaultEffect[]): FaultEffect['deliver'] {
  return effects.find((effect) => effect.deliver)?.deliver
}

export function isOver(response: ServerResponse): boolean {
  return response.destroyed || !response.socket || response.socket.destroyed
}
