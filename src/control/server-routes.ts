import type { ControlCall, ControlReply, ControlRoute, ServerCall } from './context.ts'

/** About the server itself. */
export const SERVER_ROUTES: readonly ControlRoute[] = [
  { about: 'server', operation: 'get_health', method: 'GET', path: '/health', open: true, handle: health },
  { about: 'server', operation: 'get_ready', method: 'GET', path: '/ready', open: true, handle: ready },
  { about: 'server', operation: 'get_version', method: 'GET', path: '/version', handle: version },
  { about: 'server', operation: 'get_openapi', method: 'GET', path: '/openapi', handle: openapi },
  { about: 'environment', operation: 'get_env', method: 'GET', path: '/env', handle: env },
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

/** For `eval "$(curl -s …/_mock/env)"`: the address as the caller sees it, and the environment's first client. */
function env({ context, environment, request }: ControlCall): ControlReply {
  const [client] = environment.model.tables.clients.values()
  const variables = {
    TOOLMOCK_URL: context.address(request),
    TOOLMOCK_CLIENT_ID: client?.id ?? '',
    TOOLMOCK_CLIENT_SECRET: client?.client_secret ?? '',
  }
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`)
  return { status: 200, text: lines.join(''), type: 'text/plain; charset=utf-8' }
}

/** Shell quoting: credentials come from a seed and may hold anything. */
function quoted(value: string): string {
  return /^[\w.:/@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
