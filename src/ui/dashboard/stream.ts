/*
 * Reads event streams for the tabs of a browser, which allows few connections to a server: tabs that show the same share one.
 * It runs in a shared worker, or in the page where there are none, and imports nothing.
 */

/** What a tab follows: an address of server-sent events, with the admin token. */
export interface StreamRequest {
  readonly address: string
  readonly token: string | null
}

/** What a tab is told. A stream that a tab joins begins again for all its tabs, so that each gets what there is. */
export type StreamMessage =
  | { readonly kind: 'connected' | 'beat' }
  | { readonly kind: 'event'; readonly event: string; readonly data: string }
  /** The status is 0 where the connection was lost. */
  | { readonly kind: 'ended'; readonly status: number; readonly message: string }

/** A tab that follows another address ignores what is still on its way from the one before. */
export type AddressedMessage = StreamMessage & Pick<StreamRequest, 'address'>

interface Feed {
  readonly ports: Set<MessagePort>
  reading: AbortController
}

const feeds = new Map<string, Feed>()

/** Serves a tab: each message is the request that it follows from now on, or null while it is hidden. */
export function serve(port: MessagePort): void {
  let leave = (): void => undefined
  port.onmessage = ({ data: request }: MessageEvent<StreamRequest | null>) => {
    leave()
    leave = request === null ? () => undefined : join(port, request)
  }
}

/** @returns what ends it */
function join(port: MessagePort, request: StreamRequest): () => void {
  const key = JSON.stringify(request)
  const feed = feeds.get(key) ?? { ports: new Set(), reading: new AbortController() }
  feeds.set(key, feed)
  feed.ports.add(port)
  feed.reading.abort()
  feed.reading = new AbortController()
  void keepReading(request, feed.reading.signal, (message) => {
    const { address } = request
    for (const each of feed.ports) each.postMessage({ ...message, address } satisfies AddressedMessage)
  })
  return () => {
    feed.ports.delete(port)
    if (feed.ports.size > 0) return
    feed.reading.abort()
    feeds.delete(key)
  }
}

const SHORTEST_PAUSE = 250
const MAX_PAUSE = 5000

type Post = (message: StreamMessage) => void

/** Reads until `stop` aborts. After the stream ends it connects again, with longer pauses after each failure. */
async function keepReading(request: StreamRequest, stop: AbortSignal, post: Post): Promise<void> {
  let pause = SHORTEST_PAUSE
  for (;;) {
    const end = await read(request, stop, (message) => {
      pause = SHORTEST_PAUSE
      if (!stop.aborted) post(message)
    }).catch(() => LOST)
    if (stop.aborted) return
    post({ kind: 'ended', ...end })
    // Without the admin token the next attempt is refused as well. A deleted environment can be created again.
    if (end.status === 401) return
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, MAX_PAUSE)
  }
}

const LOST = { status: 0, message: '' }

/** @returns why it ended */
async function read({ address, token }: StreamRequest, signal: AbortSignal, post: Post): Promise<typeof LOST> {
  const headers: HeadersInit = token === null ? {} : { Authorization: `Bearer ${token}` }
  const response = await fetch(address, { headers, signal })
  if (!response.ok || !response.body) {
    const { error } = (await response.json()) as { error?: { message?: string } }
    const message = error?.message ?? `The server answered ${response.status}.`
    return response.status === 503 ? LOST : { status: response.status, message }
  }
  post({ kind: 'connected' })
  const reader = response.body.pipeThrough(new TextDecoderStream(), { signal }).getReader()
  let unfinished = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return LOST
    post({ kind: 'beat' })
    const parts = (unfinished + value).split('\n\n')
    unfinished = parts.pop() ?? ''
    for (const part of parts) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(part) ?? []
      if (event !== undefined && data !== undefined) post({ kind: 'event', event, data })
    }
  }
}

addEventListener('connect', (event) => serve((event as MessageEvent).ports[0] as MessagePort))
