import type { RequestHandler } from 'express'
import type { AppServices } from './app-services.ts'
import { callerBaseUrl } from '../../model/domain/request-headers.ts'

/** GET /: leads a browser to the dashboard, and answers programs what is served. */
export function homePage({ version, baseUrl, documentedOnly, entries }: AppServices): RequestHandler {
  return (request, response) => {
    response.setHeader('X-Request-Id', entries.begin('control', 'control', request.headers).requestId)
    response.setHeader('Vary', 'Accept')
    if (request.accepts(['json', 'html']) === 'html') {
      response.writeHead(303, { Location: '_mock/ui', 'Cache-Control': 'no-store' }).end()
      return
    }
    const url = callerBaseUrl(request, baseUrl)
    const body = {
      name: 'toolmock',
      version,
      token: `${url}/oauth/token`,
      api: `${url}/api/v1`,
      ...(documentedOnly ? {} : { proxy: `${url}/proxy` }),
      control: `${url}/_mock`,
      control_description: `${url}/_mock/openapi`,
      dashboard: `${url}/_mock/ui`,
    }
    const text = `${JSON.stringify(body)}\n`
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'X-Content-Type-Options': 'nosniff',
    })
    response.end(text)
  }
}
