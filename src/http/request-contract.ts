import { checkRequest, sentQuery } from '../contract/contract.ts'
import { ServiceError } from '../domain/errors.ts'
import { hasBody } from './body.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'

/** The request against `spec/openapi.yaml`. @throws ServiceError VALIDATION_FAILED with every violation (G16) */
export function checkRequestContract(context: RequestContext, { strict }: AppServices): void {
  const { request, route } = context
  // What no operation takes stays unread; that it was sent is worth a warning.
  const body = route.bodyMediaType === null && hasBody(request) ? UNREAD : context.body
  const query = sentQuery(context.query ?? queryOf(request.originalUrl))
  const checked = checkRequest(route.operation, { query, path: pathOf(context), body }, { strict })
  context.checked = checked
  if (checked.violations.length === 0) return
  const message = checked.violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  throw new ServiceError('VALIDATION_FAILED', message, { violations: checked.violations })
}

/** Without the question mark; empty when there is none. */
export function queryOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function pathOf({ request, route }: RequestContext): Record<string, string> {
  if (!route.path.includes('{')) return NO_PARAMETERS
  return Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, String(value)]))
}

const UNREAD = Object.freeze({})
const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({})
