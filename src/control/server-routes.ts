import type { ControlCall, ControlReply, ControlRoute, ServerCall } from './context.ts'
import { faulty } from './control-error.ts'

/** About the server itself. */
export const SERVER_ROUTES: readonly ControlRoute[] = [
  { about: 'server', operation: 'get_health', method: 'GET', path: '/health', open: true, handle: health },
  { about: 'server', operation: 'get_ready', method: 'GET', path: '/ready', open: true, handle: ready },
  { about: 'server', operation: 'get_version', method: 'GET', path: '/version', handle: version },
  { about: 'server', operation: 'get_openapi', method: 'GET', path: '/openapi', handle: openapi },
  { about: 'server', operation: 'fold_state', method: 'POST', path: '/state/fold', handle: checkpoint },
  { about: 'environment', operation: 'get_env', method: 'GET', path: '/env', query: ['format'], handle: env },
]

function health(): ControlReply {
  return { status: 200, body: { status: 'ok' } }
}

function ready({ context }: ServerCall): ControlReply {
  const isReady = context.ready()
  return { status: isReady ? 200 : 503, body: { status: isReady ? 'ready' : 'starting' } }
}

function version({ context }: ServerCall): ControlReply {
  return { status: 200, body: { name: 'toolmock', version: context.version, node: process.versions.node } }
}

/** The document is loaded when somebody asks. */
async function openapi(): Promise<ControlReply> {
  const { readControlDocument } = await import('../contract/generated/control-document.js')
  return { status: 200, body: readControlDocument() }
}

/** From then on the state file alone is the whole model, until something changes; nothing to do in memory. */
async function checkpoint({ context }: ServerCall): Promise<ControlReply> {
  await context.registry.checkpoint()
  return { status: 200, body: {} }
}

/**
 * The address as the caller sees it, and the environment's first client: lines for `eval "$(curl -s …/_mock/env)"`, or JSON
 * for programs.
 */
function env({ context, environment, request, query }: ControlCall): ControlReply {
  const [client] = environment.model.tables.clients.values()
  const variables = {
    TOOLMOCK_URL: context.address(request),
    TOOLMOCK_CLIENT_ID: client?.id ?? '',
    TOOLMOCK_CLIENT_SECRET: client?.client_secret ?? '',
  }
  const format = query.get('format') ?? 'shell'
  if (format === 'json') return { status: 200, body: variables }
  if (format !== 'shell') {
    const found = JSON.stringify(format.slice(0, 60))
    throw faulty('INVALID_QUERY', [{ path: 'format', found, allowed: 'shell, json' }])
  }
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`)
  return { status: 200, text: lines.join(''), type: 'text/plain; charset=utf-8' }
}

/** Shell quoting: credentials come from a seed and may hold anything. */
function quoted(value: string): string {
  return /^[\w.:/@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
