import { jsonText } from '../model/domain/json.ts'
import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { encodeText } from '../platform/body-text.ts'
import type { EncodedResponse } from '../model/domain/encoded-response.ts'
import type { AnsweredRequest, FaultConnection, InjectedResponse, MatchedFault } from './faults/fault.ts'

/** At `consent` there is no connection to end. @returns the fault that ended the connection; undefined otherwise */
export async function actBefore(
  faults: readonly MatchedFault[],
  connection: Omit<FaultConnection, 'response'> & Partial<FaultConnection>,
): Promise<MatchedFault | undefined> {
  const { response, pauses, random } = connection
  for (const matched of faults) {
    const { fault, params } = matched
    if (fault.phase === 'wait') await pauses.wait(fault.delay(params, random), response)
    if (fault.phase === 'barrier') await matched.barrier?.pass(connection)
    if (!response) continue
    if (fault.phase === 'connection') await fault.end({ ...connection, response }, params)
    if (isOver(response)) return matched
  }
  return undefined
}

/** The injected answer; undefined when the plain one is to be given. */
export function injectedResponse(
  faults: readonly MatchedFault[],
  request: AnsweredRequest,
): InjectedResponse | undefined {
  for (const { fault, params } of faults) if (fault.phase === 'answer') return fault.response(request, params)
  return undefined
}

/** How a fault sends the answer; undefined when it is sent as it is. */
export function deliveryOf(
  faults: readonly MatchedFault[],
): ((connection: FaultConnection, response: EncodedResponse) => Promise<void>) | undefined {
  for (const { fault, params } of faults) {
    if (fault.phase !== 'delivery') continue
    return async (connection, response) => {
      if (!isOver(connection.response)) await fault.deliver(connection, response, params)
    }
  }
  return undefined
}

export function encodeInjected({ status, headers, body }: InjectedResponse): EncodedResponse {
  if (body === undefined) return { status, headers, body: '' }
  const [type, text] = typeof body === 'string' ? ['text/plain', body] : ['application/json', jsonText(body)]
  const ownType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (ownType === undefined) return { status, headers: { 'Content-Type': type, ...headers }, body: text }
  return { status, headers, body: encodeText(text, ownType) ?? text }
}

/** Sends the head of an answer, unless it is the rest of one that has begun. */
export function writeHead(
  response: ServerResponse,
  { status, headers, namesNoLength }: EncodedResponse,
  length: number,
): void {
  if (!response.headersSent)
    response.writeHead(status, namesNoLength ? headers : { ...headers, 'Content-Length': length })
}

/** Resolves once the answer is sent, or its client has gone. */
export async function sendWhole(response: ServerResponse, wireResponse: EncodedResponse): Promise<void> {
  const body = Buffer.from(wireResponse.body)
  writeHead(response, wireResponse, body.length)
  // Behind a text, node would write the headers in UTF-8 too.
  response.end(body)
  await finished(response).catch(() => undefined)
}

function isOver(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed
}
