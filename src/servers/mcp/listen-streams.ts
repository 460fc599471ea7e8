import { InMemoryServerEventBus } from '@modelcontextprotocol/server'
import type { ServiceParts } from '../http/services.ts'
import type { McpExchange } from './mcp-exchange.ts'
import { type ServerAddress, type ServerTool, serverTools } from './server-tools.ts'

/** How many `subscriptions/listen` streams may be open at once, of all virtual servers together. */
const MAX_LISTEN_STREAMS = 1000

/** How often open streams are compared with what their callers may see now, in milliseconds. */
const CHECK_MS = 250

interface Listening {
  readonly address: ServerAddress
  readonly exchange: McpExchange
  readonly bus: InMemoryServerEventBus
  tools: readonly ServerTool[]
}

/** The open `subscriptions/listen` streams: they hear when the tools of their server change. */
export class ListenStreams {
  readonly #open = new Map<McpExchange, Listening>()
  readonly #services: ServiceParts
  #timer: NodeJS.Timeout | undefined

  constructor(services: ServiceParts) {
    this.#services = services
    services.closing.addEventListener('abort', () => {
      for (const { exchange } of this.#open.values()) exchange.end()
    })
  }

  /** The options by which the library serves a stream; beyond the limit it refuses the stream in words. */
  open(listening: Omit<Listening, 'bus'>): { bus: InMemoryServerEventBus; maxSubscriptions: number } {
    const bus = new InMemoryServerEventBus()
    const isFull = this.#open.size >= MAX_LISTEN_STREAMS
    if (!isFull) {
      this.#open.set(listening.exchange, { ...listening, bus })
      // Requests change tools, and time ends tokens. However many requests there are, streams cost the same.
      this.#timer ??= setInterval(() => {
        for (const open of this.#open.values()) this.#updateTools(open)
      }, CHECK_MS).unref()
    }
    return { bus, maxSubscriptions: isFull ? 0 : 1 }
  }

  close(exchange: McpExchange): void {
    this.#open.delete(exchange)
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #updateTools(listening: Listening): void {
    const { exchange, bus, tools } = listening
    const current = this.#currentTools(listening)
    if (!current) exchange.end()
    else if (!areSameTools(tools, current)) {
      listening.tools = current
      bus.publish({ kind: 'tools_list_changed' })
    }
  }

  /** The tools of its server as they are now; undefined once there is none, or the token of the caller has ended. */
  #currentTools({ address, exchange: { caller } }: Listening): readonly ServerTool[] | undefined {
    try {
      return serverTools(caller.authenticate().environment, { caller, address }, this.#services)
    } catch {
      return undefined
    }
  }
}

/** Rows are immutable, so that a change is another object. */
function areSameTools(before: readonly ServerTool[], after: readonly ServerTool[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ tool, connection }, at) => tool === after[at]?.tool && connection === after[at].connection)
  )
}
