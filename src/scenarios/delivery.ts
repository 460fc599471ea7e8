import type { ServerResponse } from 'node:http'
import type { Asked, FaultEffect, InjectedAnswer, Wire, WireAnswer } from './faults/fault.ts'

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
    if (effect.delay) await wire.pauses.wait(effect.delay(wire.chance), wire.response)
    if (effect.before) {
      await turnOf(wire.response)
      await effect.before(wire)
    }
    if (isOver(wire.response)) return effect
  }
  return undefined
}

/** The injected answer; undefined when the plain one is to be given. */
export function injectedAnswer(effects: readonly FaultEffect[], asked: Asked): InjectedAnswer | undefined {
  return effects.find((effect) => effect.answer)?.answer?.(asked)
}

/** An injected answer as it goes over the wire. */
export function encoded({ status, headers, body }: InjectedAnswer): WireAnswer {
  if (body === undefined) return { status, headers, body: '' }
  const [type, text] = typeof body === 'string' ? ['text/plain', body] : ['application/json', JSON.stringify(body)]
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return { status, headers: typed ? headers : { 'Content-Type': type, ...headers }, body: text }
}

/** How the answer is delivered otherwise than whole; undefined when it is not. */
export function deliveryOf(effects: readonly FaultEffect[]): FaultEffect['deliver'] {
  const deliver = effects.find((effect) => effect.deliver)?.deliver
  return (
    deliver &&
    (async (wire, answer) => {
      await turnOf(wire.response)
      if (!isOver(wire.response)) await deliver(wire, answer)
    })
  )
}

/** Waits for the answers to earlier requests of the same connection: what is done to the connection would be done to them. */
function turnOf(response: ServerResponse): Promise<void> {
  const { socket } = response.req
  if (response.socket || socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('socket', end)
      socket.off('close', end)
      resolve()
    }
    response.on('socket', end)
    socket.on('close', end)
  })
}

function isOver(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed
}
