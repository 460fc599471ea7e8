import type { ObservedExchange } from '../../src/journal/verdict/prism-check.ts'
import { createPrismValidator } from '../../src/model/contract/prism-validator.ts'
import { disagreementsOf } from '../../src/journal/verdict/prism-check.ts'

const prism = await createPrismValidator()

/** Throws when the contract and Prism disagree on an exchange: only one of them finds violations. */
export function judgeExchange(exchange: ObservedExchange): void {
  const [disagreement] = disagreementsOf(prism, exchange)
  if (!disagreement) return
  const { operation, request, response } = exchange
  const { part, ours, theirs } = disagreement
  throw new Error(
    [
      `The contract and Prism disagree on the ${part} of ${operation}: ${request.method} ${request.path}?${request.query}`,
      `  body: ${part === 'request' ? request.body : `${response.status} ${JSON.stringify(response.body)}`}`,
      `  the contract: ${ours.map(({ field, description }) => `${field}: ${description}`).join('; ') || 'nothing wrong'}`,
      `  Prism: ${theirs.map(({ message }) => message).join('; ') || 'nothing wrong'}`,
    ].join('\n'),
  )
}
