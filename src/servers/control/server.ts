import type { ServerResponse } from 'node:http'
import { shellQuote } from '../../model/domain/text.ts'
import { callerBaseUrl } from '../../model/domain/request-headers.ts'
import { lazyImport } from '../../model/domain/once.ts'
import type { AppServices } from './app-services.ts'
import type { ControlHandlers } from './call.ts'
import { ControlError } from './errors.ts'

export const serverHandlers = {
  get_replicas: async ({ services }) => ({ body: await services.replicas() }),

  get_version: ({ services }) => ({
    body: { name: 'toolmock', version: services.version, node: process.versions.node },
  }),

  /** The document is large and seldom asked for, so it is loaded here. */
  get_openapi: async () => {
    const { readControlDocument } = await loadControlDocument()
    return { body: readControlDocument() }
  },

  checkpoint_state: async ({ services }) => {
    await services.registry.checkpoint()
    return { body: {} }
  },

  /** The process stops once the answer is sent. */
  shutdown: ({ services, response }) => {
    stopAfter(response, services.shutdown)
    return { body: {} }
  },

  get_env: ({ services, environment, request, query }) => {
    const [client] = environment.model.tables.clients.values()
    const variables = {
      TOOLMOCK_URL: callerBaseUrl(request, services.baseUrl),
      TOOLMOCK_CLIENT_ID: client?.id ?? '',
      TOOLMOCK_CLIENT_SECRET: client?.client_secret ?? '',
    }
    if (query.format === 'json') return { body: variables }
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
    return { text: lines.join(''), type: 'text/plain; charset=utf-8' }
  },
} satisfies Partial<ControlHandlers>

const loadControlDocument = lazyImport(() => import('../../model/contract/generated/control-document.js'))

/** @throws ControlError when another program stops this server */
export function stopAfter(response: ServerResponse, shutdown: AppServices['shutdown']): void {
  if (!shutdown) {
    throw new ControlError(
      'NOT_STOPPABLE',
      'this server is stopped by the program that started it: `toolmock run`, `toolmock mcp` or the library',
    )
  }
  response.once('close', () => shutdown())
}
