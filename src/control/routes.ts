import express, { type Router } from 'express'

/** What the control API needs to know of its server. */
export interface ControlContext {
  readonly version: string
  /** Whether the seed has been applied. */
  ready(): boolean
}

/** The control API under `/_mock`. */
export function controlRoutes(context: ControlContext): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  router.get('/health', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/ready', (_request, response) => {
    const ready = context.ready()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'starting' })
  })
  router.get('/version', (_request, response) => {
    response.json({ name: 'toolmock', version: context.version, node: process.versions.node })
  })
  router.use((request, response) => {
    const message = `${request.method} /_mock${request.path.slice(0, 200)} is not part of the control API`
    response.status(404).json({ error: { code: 'NOT_FOUND', message, details: [] } })
  })
  return router
}
