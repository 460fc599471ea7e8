import type { ServerResponse } from 'node:http'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import type { ReadGuard } from '../state/environment.ts'
import { errorReply, sendAnswer, wireAnswer } from './answer.ts'

type Send = (...given: unknown[]) => unknown

interface Holding {
  /** Answers in place of what was held back. Without it the answer is that of the service. */
  readonly refuse?: (error: unknown) => void
  readonly readGuard?: () => ReadGuard | undefined
}

/**
 * Holds an answer back until everything that it may say is durable: those of pages, fake applications and streams. An operation
 * waits in its pipeline, a refusal and a call of the control API by themselves. When the disk refuses, the answer is 503.
 * @returns what ends that, for an answer that has waited in a pipeline: a second time it would wait for later commits
 */
export function holdAnswer(
  response: ServerResponse,
  registry: Pick<EnvironmentRegistry, 'durable' | 'isOver'>,
  { refuse = (error) => sendError(response, error), readGuard }: Holding = {},
): () => void {
  const sendOn = response.write.bind(response) as Send
  // A stream writes again and again, and its server may have been stopped in between for longer than its lease.
  const write: Send = (...given) => {
    if (!registry.isOver) return sendOn(...given)
    response.destroy()
    return false
  }
  const calls: (() => unknown)[] = []
  let isHeld = true
  let isRefused = false
  const release = (): void => {
    isHeld = false
    for (const call of calls.splice(0)) call()
  }
  const refused = (error: unknown): void => {
    if (!isHeld) return
    isHeld = false
    refuse(error)
    // What is left of a stream has no place behind the refusal.
    isRefused = true
  }
  const held =
    (send: Send, answered: unknown): Send =>
    (...given) => {
      if (isHeld && calls.length === 0) {
        const pending = registry.durable(readGuard?.())
        if (pending) pending.then(release, refused)
        else isHeld = false
      }
      if (isRefused) return answered
      if (!isHeld) return send(...given)
      calls.push(() => send(...given))
      return answered
    }
  Object.assign(response, {
    writeHead: held(response.writeHead.bind(response) as Send, response),
    write: held(write, true),
    end: held(response.end.bind(response) as Send, response),
  })
  return release
}

function sendError(response: ServerResponse, error: unknown): void {
  const requestId = String(response.getHeader('X-Request-Id') ?? '')
  sendAnswer(response, wireAnswer(errorReply(error, requestId), requestId))
}
