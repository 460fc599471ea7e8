import type { IncomingMessage, ServerResponse } from 'node:http'
import { createContextKey } from '@connectrpc/connect'
import { passedOn } from '../../model/domain/request-headers.ts'
import type { Deliver } from '../http/request-context.ts'
import type { OpenEntry, RequestEntries } from '../../journal/request-journal/request-entries.ts'
import { isBridged } from './http1-bridge.ts'

/** A request of gRPC, gRPC-Web or Connect, and its response. */
export class RpcExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Ended by an operation, or by a refusal. */
  readonly entry: OpenEntry
  /** Whether that has begun. */
  isTaken = false
  /** How a fault sends the answer; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** Whether the client no longer waits for the answer. */
  isOver = false

  constructor(request: IncomingMessage, response: ServerResponse, entries: RequestEntries) {
    this.request = request
    this.response = response
    this.entry = entries.begin('request', 'operations', request.headers)
  }

  /** Names and values in turn, as its client sent them. */
  get rawHeaders(): readonly string[] {
    const { request } = this
    return isBridged(request) ? passedOn(request).flat() : request.rawHeaders
  }
}

/** By which the implementation of a method finds its exchange. */
export const EXCHANGE = createContextKey<RpcExchange | undefined>(undefined)
