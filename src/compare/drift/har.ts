import { z } from 'zod'
import { ServiceResponse } from '../conform/service-response.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { headersByName } from '../../model/domain/request-headers.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import type { AskingCheck } from './findings.ts'

/** A request and what the service answered to it. The path of the request begins with a slash, the query included. */
export interface Exchange {
  readonly request: HttpRequest
  readonly serviceResponse: ServiceResponse
  readonly check?: AskingCheck | undefined
}

const pairs = z.array(z.looseObject({ name: z.string(), value: z.string() }))

/** Of HAR 1.2 what is read here. */
export const harSchema = z.looseObject({
  log: z.looseObject({
    entries: z.array(
      z.looseObject({
        startedDateTime: z.string(),
        request: z.looseObject({
          method: z.string(),
          url: z.string(),
          headers: pairs,
          postData: z
            .looseObject({
              text: z.string().optional(),
              params: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).optional(),
            })
            .optional(),
        }),
        response: z.looseObject({
          status: z.number(),
          headers: pairs,
          /** `encoding` is `base64` where the body is no text. */
          content: z.looseObject({ text: z.string().optional(), encoding: z.string().optional() }),
        }),
      }),
    ),
  }),
})

type Har = z.infer<typeof harSchema>
type HarEntry = Har['log']['entries'][number]

/** Where the paths of the service begin. What stands before them in a URL is its base URL. */
const SERVICE_PATH = /\/(?:api\/v1|oauth|proxy|mcp)\/.*$/
/** Headers of the connection, those by which an answer would come encoded, and what the client that replays a request sets itself. */
const NOT_REPLAYED =
  /^(?::.*|host|connection|content-length|transfer-encoding|accept-encoding|content-encoding|cookie|expect|keep-alive)$/i

/** The exchanges of a recording with the service, in the order of their requests; others, such as of pages, are left out. */
export function exchangesOf({ log }: Har): Exchange[] {
  const inOrder = [...log.entries].sort((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime))
  return inOrder.flatMap(({ request, response: { status, headers, content } }): Exchange[] => {
    const url = parseUrl(request.url)
    const [path] = SERVICE_PATH.exec(url?.pathname ?? '') ?? []
    // A stream that the service keeps open has no end that can be compared.
    const isStream = request.method === 'GET' && headers.some(({ value }) => value.startsWith('text/event-stream'))
    if (url === undefined || path === undefined || status === 0 || isStream) return []
    const { text = '', encoding } = content
    const body = encoding === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text
    return [
      harExchange(
        {
          method: request.method,
          path: path + url.search,
          headers: request.headers.map(({ name, value }) => [name, value]),
          body: postedText(request.postData),
        },
        { status, headers: headers.map(({ name, value }) => [name, value]), text: body },
      ),
    ]
  })
}

type Pairs = readonly (readonly [name: string, value: string])[]

export function harExchange(
  { method, path, headers, body }: { method: string; path: string; headers: Pairs; body: string | undefined },
  response: { status: number; headers: Pairs; text: string },
): Exchange {
  const asked = `${method} ${path.split('?', 1).join()}`
  const pairs = headers.filter(([name]) => !NOT_REPLAYED.test(name))
  return {
    request: { method, path, headers: headersByName(pairs), ...(body === undefined ? {} : { body }) },
    serviceResponse: new ServiceResponse(asked, response.status, headersByName(response.headers), response.text),
  }
}

function postedText(postData: HarEntry['request']['postData']): string | undefined {
  if (postData === undefined) return undefined
  const fields = (postData.params ?? []).map(({ name, value = '' }): [string, string] => [name, value])
  return postData.text ?? new URLSearchParams(fields).toString()
}
