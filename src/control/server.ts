import { shellQuote } from '../domain/text.ts'
import { callerBaseUrl } from '../domain/request-headers.ts'
import { lazyImport } from '../lazy-import.ts'
import type { EnvironmentCall, ControlReply, ServerCall } from './call.ts'

export function getHealth(): ControlReply {
  return { body: { status: 'ok' } }
}

export function getReady({ services }: ServerCall<'get_ready'>): ControlReply {
  if (services.defaultEnvironment()) return { body: { status: 'ready' } }
  return { status: 503, body: { status: 'starting' } }
}

export function getVersion({ services }: ServerCall<'get_version'>): ControlReply {
  return { body: { name: 'toolmock', version: services.version, node: process.versions.node } }
}

const loadControlDocument = lazyImport(() => import('../contract/generated/control-document.js'))

/** The document is large and seldom asked for, so it is loaded here. */
export async function getOpenapi(): Promise<ControlReply> {
  const { readControlDocument } = await loadControlDocument()
  return { body: readControlDocument() }
}

export async function checkpointState({ services }: ServerCall<'checkpoint_state'>): Promise<ControlReply> {
  await services.registry.checkpoint()
  return { body: {} }
}

export function getEnv({ services, environment, request, query }: EnvironmentCall<'get_env'>): ControlReply {
  const [client] = environment.model.tables.clients.values()
  const variables = {
    TOOLMOCK_URL: callerBaseUrl(request, services.baseUrl),
    TOOLMOCK_CLIENT_ID: client?.id ?? '',
    TOOLMOCK_CLIENT_SECRET: client?.client_secret ?? '',
  }
  if (query.format === 'json') return { body: variables }
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
  return { text: lines.join(''), type: 'text/plain; charset=utf-8' }
}
