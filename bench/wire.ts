import { request } from 'node:http'

/** The answer of a server, with which a bare server can send the same bytes. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface HttpRequest {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** Headers that Node adds to each answer. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

export function send(url: string, { method = 'GET', headers = {}, body = '' }: HttpRequest = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const pairs = Object.entries(response.headersDistinct).filter(([name]) => !OWN_HEADERS.has(name))
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(pairs.map(([name, values]) => [name, values?.join(', ') ?? ''])),
          body: Buffer.concat(parts).toString(),
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The request as the text that the load generator sends. */
export function requestText(url: string, { method = 'GET', headers = {}, body = '' }: HttpRequest = {}): string {
  const { host, pathname, search } = new URL(url)
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return `${[`${method} ${pathname}${search} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`
}
