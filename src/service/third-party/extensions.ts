import { ServiceError, violationText } from '../../model/domain/errors.ts'
import type { Responder } from '../../model/domain/connector.ts'
import type { Extension, ExtensionResponse, ExtensionRequest } from '../../model/domain/extension.ts'
import { pathParts } from '../../model/domain/path-pattern.ts'
import type { Environment } from '../../state/environment.ts'
import { StepFailure } from './collections.ts'
import type { ReceivedRequest } from './http-messages.ts'
import { firstResponse, responderRequest } from './responders.ts'
import type { Templates } from './template.ts'

/** The error code of a failed step, and its number of google.rpc.Code. */
const FAILURES = {
  not_found: ['NOT_FOUND', 5],
  conflict: ['ALREADY_EXISTS', 6],
  invalid: ['INVALID_ARGUMENT', 3],
  refused: ['INVALID_ARGUMENT', 3],
} as const

/** A body that does not fit the schema of its responder. */
class InvalidBody extends Error {
  readonly code = 'invalid'
  readonly status = 400
}

/** Answers a request by the responders of an extension. A promise while templates load. @throws ServiceError MALFORMED_BODY */
export function respondByExtension(
  { environment, templates }: { readonly environment: Environment; readonly templates: Templates },
  extension: Extension,
  { path, check, ...sent }: ExtensionRequest,
): ExtensionResponse | Promise<ExtensionResponse> {
  const preparing = templates.prepare(extension)
  if (preparing)
    return preparing.then(() => respondByExtension({ environment, templates }, extension, { path, check, ...sent }))
  const request: ReceivedRequest = { ...sent, rawPath: path, apiPath: path }
  const parts = pathParts(path) ?? []
  const view = responderRequest(request, parts)
  if (!view) throw new ServiceError('MALFORMED_BODY', 'the body is not JSON')
  let responder = ''
  const context = {
    environment,
    templates,
    connector: extension,
    matched: (matchedResponder: Responder) => {
      const ofExtension = extension.responders.find((each) => each === matchedResponder)
      responder = ofExtension?.name ?? ''
      const violations = ofExtension ? check(ofExtension, view.body ?? {}) : []
      if (violations.length > 0) throw new InvalidBody(violations.map(violationText).join('; '))
    },
    refuse: (failure: StepFailure) => {
      throw failure
    },
  }
  try {
    const response = firstResponse(context, { request, view, path: parts, accountId: '', account: null, person: null })
    return response && { kind: 'answer', responder, ...response }
  } catch (error) {
    if (!(error instanceof StepFailure || error instanceof InvalidBody)) throw error
    const { status, message } = error
    const [errorCode, code] = FAILURES[error.code]
    return { kind: 'error', responder, status, errorCode, code, message }
  }
}
