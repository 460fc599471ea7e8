import { request } from 'node:http'

/** What a server answered, as far as a bare server needs it to answer the same bytes. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Question {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** Node adds these to each answer itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

export function ask(url: string, { method = 'GET', headers = {}, body = '' }: Question = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent: false, headers }, (response) => {
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
    asked.on('error', reject)
    asked.end(body)
  })
}

/** The same question as the text that a load generator sends. */
export function requestText(url: string, { method = 'GET', headers = {}, body = '' }: Question = {}): string {
  const { host, pathname, search } = new URL(url)
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return `${[`${method} ${pathname}${search} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`
}
