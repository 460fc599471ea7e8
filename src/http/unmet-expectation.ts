import type { Request, Response } from 'express'
import { ServiceError } from '../domain/errors.ts'
import { errorReply } from './error-body.ts'
import { recordRefusal } from './record.ts'
import { requestIdOf } from './request-identity.ts'
import type { AppServices } from '../app-services.ts'
import { sendAnswer, wireAnswer } from './wire-answer.ts'

/** An expectation other than `100-continue` cannot be met: 417 (RFC 9110 10.1.1). */
export function refuseExpectation(services: AppServices): (request: Request, response: Response) => void {
  return (request, response) => {
    request.originalUrl = request.url
    response.shouldKeepAlive = false
    const found = JSON.stringify(String(request.headers.expect).slice(0, 100))
    const error = new ServiceError('VALIDATION_FAILED', `Expect is ${found}; only 100-continue can be met`, {
      violations: [{ field: 'Expect', description: `is ${found}; allowed is 100-continue`, constraint: 'expect' }],
    })
    const requestId = requestIdOf(request, services.requestIds.control)
    const answer = { ...wireAnswer(errorReply(error, requestId), requestId), status: 417 }
    recordRefusal({ request, requestId, answer, error }, services)
    sendAnswer(response, answer)
  }
}
