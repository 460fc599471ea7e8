import { headerIn, type Headers, MAX_KEPT, type Recorded, type RecordedBody, textOfBody } from './recorded.ts'
import type { Secrets } from './secrets.ts'

export interface HarOptions {
  readonly upstream: string
  readonly version: string
  readonly secrets: Secrets
  /** What the contract says against an exchange. */
  readonly problems: (exchange: Recorded) => readonly string[]
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

const NO_TIMES = { send: 0, receive: 0 }
const UNKNOWN_SIZES = { headersSize: -1 }

function entryOf(exchange: Recorded, { upstream, secrets, problems }: HarOptions) {
  const { startedAt, durationMs, method, target, requestHeaders, requestBody, answer } = exchange
  const url = secrets.url(upstream.replace(/\/+$/, '') + target)
  const [type, answeredType] = [requestHeaders, answer?.headers ?? []].map((headers) =>
    secrets.text(headerIn(headers, 'content-type') ?? ''),
  )
  const sent = shownBody(requestBody, requestHeaders, secrets)
  const received = answer && shownBody(answer.body, answer.headers, secrets)
  const notes = [
    ...problems(exchange).map((problem) => `contract: ${secrets.text(problem)}`),
    ...(answer ? [] : ['the service gave no answer']),
    ...(answer?.isTorn === true ? ['the answer ended before it was complete'] : []),
    ...(sent.note === undefined ? [] : [`the request: ${sent.note}`]),
  ]
  return {
    startedDateTime: new Date(startedAt).toISOString(),
    time: durationMs,
    request: {
      ...UNKNOWN_SIZES,
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: shownHeaders(requestHeaders, secrets),
      queryString: queryOf(url),
      ...(requestBody.size === 0 ? {} : { postData: { mimeType: type ?? '', text: sent.text ?? '' } }),
      bodySize: requestBody.size,
    },
    response: {
      ...UNKNOWN_SIZES,
      status: answer?.status ?? 0,
      statusText: secrets.text(answer?.reason ?? ''),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: shownHeaders(answer?.headers ?? [], secrets),
      content: {
        size: answer?.body.size ?? 0,
        mimeType: answeredType || 'x-unknown',
        ...(received?.text === undefined ? {} : { text: received.text }),
        ...(received?.note === undefined ? {} : { comment: received.note }),
      },
      redirectURL: secrets.url(headerIn(answer?.headers ?? [], 'location') ?? ''),
      bodySize: answer?.body.size ?? -1,
    },
    cache: {},
    timings: { ...NO_TIMES, wait: durationMs },
    ...(notes.length > 0 ? { comment: notes.join('; ') } : {}),
  }
}

/** A body without its secrets. One that is no text may hide secrets in any form, and is left out. */
function shownBody(
  body: RecordedBody,
  headers: Headers,
  secrets: Secrets,
): { readonly text?: string; readonly note?: string } {
  if (body.size === 0) return { text: '' }
  const text = textOfBody(body, headers)
  if (text === undefined) return { note: `${body.size} bytes that are no text, which are left out` }
  const shown = secrets.body(text)
  if (body.size <= MAX_KEPT) return { text: shown }
  return { text: shown, note: `cut: the first ${MAX_KEPT} of ${body.size} bytes` }
}

function shownHeaders(headers: Headers, secrets: Secrets): { name: string; value: string }[] {
  return headers.map(([name, value]) => ({ name: secrets.text(name), value: secrets.header(name, value) }))
}

function queryOf(url: string): { name: string; value: string }[] {
  const [, query] = /\?([^#]*)/.exec(url) ?? []
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
}
