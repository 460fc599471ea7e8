import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The calling application, to which the mock redirects its users. */
export interface Application {
  /** A `user_verify_url` with a query and a fragment of its own. */
  verifyUrl: string
  /** The queries of the redirects, in order. */
  returns: URLSearchParams[]
  close(): Promise<void>
}

/** Starts an application on loopback, at another origin than the mock. */
export async function startApplication(): Promise<Application> {
  const returns: URLSearchParams[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/back') returns.push(url.searchParams)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(
      '<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><h1>Back in the app</h1>',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    verifyUrl: `http://127.0.0.1:${port}/back?tab=settings#accounts`,
    returns,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
