import { Agent, createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import supertest, { type Test } from 'supertest'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options'

/** Sends requests to an app by connections that stay open. supertest alone listens at a port and connects for each request. */
export interface Requests {
  readonly http: (method: Method, path: string) => Test
  /** Closes the connections, each after the answer that it still gets. */
  readonly close: () => void
}

export async function requestsTo(listener: RequestListener): Promise<Requests> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  return {
    http: (method, path) => supertest(server)[method](path).agent(agent),
    close: () => void server.close(),
  }
}
