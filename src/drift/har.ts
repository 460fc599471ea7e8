import { z } from 'zod'
import { Answer } from '../conform/answer.ts'
import type { Exchange } from './exchange.ts'

/** HAR 1.2, as far as it is written and read here. Files of browsers and proxies have more members, which are kept. */
const pair = z.looseObject({ name: z.string(), value: z.string() })

const content = z.looseObject({
  size: z.number(),
  mimeType: z.string(),
  text: z.string().exactOptional(),
  /** `base64` where the body is no text. */
  encoding: z.string().exactOptional(),
  comment: z.string().exactOptional(),
})

const entry = z.looseObject({
  startedDateTime: z.string(),
  time: z.number(),
  request: z.looseObject({
    method: z.string(),
    url: z.string(),
    httpVersion: z.string(),
    cookies: z.array(pair),
    headers: z.array(pair),
    queryString: z.array(pair),
    postData: z
      .looseObject({
        mimeType: z.string(),
        text: z.string().exactOptional(),
        params: z.array(z.looseObject({ name: z.string(), value: z.string().exactOptional() })).exactOptional(),
      })
      .exactOptional(),
    headersSize: z.number(),
    bodySize: z.number(),
  }),
  response: z.looseObject({
    status: z.number(),
    statusText: z.string(),
    httpVersion: z.string(),
    cookies: z.array(pair),
    headers: z.array(pair),
    content,
    redirectURL: z.string(),
    headersSize: z.number(),
    bodySize: z.number(),
  }),
  cache: z.looseObject({}),
  timings: z.looseObject({ send: z.number(), wait: z.number(), receive: z.number() }),
  comment: z.string().exactOptional(),
})

export const harSchema = z.looseObject({
  log: z.looseObject({
    version: z.string(),
    creator: z.looseObject({ name: z.string(), version: z.string() }),
    entries: z.array(entry),
  }),
})

export type Har = z.infer<typeof harSchema>
export type HarEntry = z.infer<typeof entry>

/** Where the paths of the service begin. What stands before them in a URL is its base URL. */
const SERVICE_PATH = /\/(?:api\/v1|oauth|proxy)\/.*$/
/** What the client that replays a request sets itself. */
const OF_CONNECTION = /^(?::.*|host|connection|content-length|transfer-encoding|accept-encoding|cookie|keep-alive)$/i

/** The exchanges of a recording with the service, in the order of their requests; others, such as of pages, are left out. */
export function exchangesOf({ log }: Har): Exchange[] {
  const inOrder = [...log.entries].sort((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime))
  return inOrder.flatMap((entry): Exchange[] => {
    const { request, response } = entry
    if (!URL.canParse(request.url)) return []
    const url = new URL(request.url)
    const [path] = SERVICE_PATH.exec(url.pathname) ?? []
    if (path === undefined || response.status === 0) return []
    const headers = request.headers.filter(({ name }) => !OF_CONNECTION.test(name))
    const body = bodyOf(request.postData)
    const asked = `${request.method} ${path}`
    return [
      {
        request: {
          method: request.method,
          path: path + url.search,
          headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
          ...(body === undefined ? {} : { body }),
        },
        answer: new Answer(asked, response.status, headersOf(response.headers), textOf(response.content)),
      },
    ]
  })
}

function bodyOf(postData: HarEntry['request']['postData']): string | undefined {
  if (postData === undefined) return undefined
  const fields = (postData.params ?? []).map(({ name, value = '' }): [string, string] => [name, value])
  return postData.text ?? new URLSearchParams(fields).toString()
}

function headersOf(pairs: HarEntry['response']['headers']): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]))
}

function textOf({ text = '', encoding }: HarEntry['response']['content']): string {
  return encoding === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text
}
