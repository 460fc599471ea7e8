import { contractBreaches } from './observed.ts'
import { bodyText, headerIn, MAX_KEPT, type Message, type Recorded } from './recorded.ts'
import type { Secrets } from './secrets.ts'

export interface HarOptions {
  readonly upstream: string
  readonly version: string
  readonly secrets: Secrets
}

/** The recording as HAR 1.2, without its secrets. */
export function harOf(exchanges: readonly Recorded[], options: HarOptions) {
  return {
    log: {
      version: '1.2',
      creator: { name: 'toolmock', version: options.version },
      entries: exchanges.map((exchange) => entryOf(exchange, options)),
    },
  }
}

function entryOf(exchange: Recorded, { upstream, secrets }: HarOptions) {
  const { startedAt, durationMs, method, target, request, response } = exchange
  const url = secrets.url(upstream.replace(/\/+$/, '') + target)
  const [requestMessage, received] = [shownMessage(request, secrets), shownMessage(response, secrets)]
  const notes = [
    ...contractBreaches(exchange).map((problem) => `contract: ${secrets.text(problem)}`),
    ...(response ? [] : ['the service gave no answer']),
    ...(response?.isTorn === true ? ['the answer ended before it was complete'] : []),
    ...(requestMessage.note === undefined ? [] : [`the request: ${requestMessage.note}`]),
  ]
  return {
    startedDateTime: new Date(startedAt).toISOString(),
    time: durationMs,
    request: {
      headersSize: -1,
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: requestMessage.headers,
      queryString: harQuery(url),
      ...(request.body.size === 0
        ? {}
        : { postData: { mimeType: requestMessage.type, text: requestMessage.text ?? '' } }),
      bodySize: request.body.size,
    },
    response: {
      headersSize: -1,
      status: response?.status ?? 0,
      statusText: secrets.phrase(response?.reason ?? ''),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: received.headers,
      content: {
        size: response?.body.size ?? 0,
        mimeType: received.type || 'x-unknown',
        ...(received.text === undefined ? {} : { text: received.text }),
        ...(received.note === undefined ? {} : { comment: received.note }),
      },
      redirectURL: secrets.url(headerIn(response, 'location') ?? ''),
      bodySize: response?.body.size ?? -1,
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    ...(notes.length > 0 ? { comment: notes.join('; ') } : {}),
  }
}

/** A message without its secrets, with what is to be said of its body. */
function shownMessage(message: Message | undefined, secrets: Secrets) {
  const headers = (message?.headers ?? []).map(([name, value]) => {
    return { name: secrets.text(name), value: secrets.header(name, value) }
  })
  return { headers, type: secrets.text(headerIn(message, 'content-type') ?? ''), ...harBody(message, secrets) }
}

/** A body without its secrets. One that is no text may hide secrets in any form, and is left out. */
function harBody(message: Message | undefined, secrets: Secrets): { readonly text?: string; readonly note?: string } {
  if (!message) return {}
  const { size } = message.body
  if (size === 0) return { text: '' }
  const text = bodyText(message)
  if (text === undefined) return { note: `${size} bytes that are no text, which are left out` }
  return { text: secrets.body(text), ...(size > MAX_KEPT && { note: `cut: the first ${MAX_KEPT} of ${size} bytes` }) }
}

function harQuery(url: string): { name: string; value: string }[] {
  const [, query] = /\?([^#]*)/.exec(url) ?? []
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
}
