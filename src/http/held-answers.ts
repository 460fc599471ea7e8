import type { RequestHandler } from 'express'
import type { ServerResponse } from 'node:http'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import { errorReply, wireAnswer } from './answer.ts'

type Send = (...given: unknown[]) => unknown

/**
 * Holds an answer back until everything that it may say is durable: those of pages, fake applications and the control API,
 * and every refusal. A request of an operation waits in its pipeline. When the disk refuses, the answer is 503 instead.
 */
export function holdAnswer(response: ServerResponse, registry: Pick<EnvironmentRegistry, 'durable' | 'isOver'>): void {
  const writeHead = response.writeHead.bind(response) as Send
  const sendOn = response.write.bind(response) as Send
  const end = response.end.bind(response) as Send
  // A stream writes again and again, and its server may have been stopped in between for longer than its lease.
  const write: Send = (...given) => {
    if (!registry.isOver) return sendOn(...given)
    response.destroy()
    return false
  }
  let isHeld = true
  let calls: (() => unknown)[] | undefined

  const release = (): void => {
    isHeld = false
    for (const call of calls ?? []) call()
  }
  const refuse = (error: unknown): void => {
    isHeld = false
    const requestId = String(response.getHeader('X-Request-Id') ?? '')
    const { status, headers, text } = wireAnswer(errorReply(error, requestId), requestId)
    writeHead(status, headers)
    end(text)
  }
  const held =
    (send: Send, answered: unknown): Send =>
    (...given) => {
      if (isHeld && !calls) {
        const pending = registry.durable()
        if (pending) {
          calls = []
          pending.then(release, refuse)
        } else isHeld = false
      }
      if (!isHeld || !calls) return send(...given)
      calls.push(() => send(...given))
      return answered
    }
  Object.assign(response, {
    writeHead: held(writeHead, response),
    write: held(write, true),
    end: held(end, response),
  })
}

/** These say nothing of what a commit changes, and a server that lets a probe wait is started again. */
const PROBES = ['/_mock/health', '/_mock/ready']

export function holdAnswers(registry: Pick<EnvironmentRegistry, 'durable' | 'isOver'>): RequestHandler {
  return (request, response, next) => {
    if (!PROBES.includes(request.path)) holdAnswer(response, registry)
    next()
  }
}
