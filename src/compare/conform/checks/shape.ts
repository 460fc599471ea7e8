import { operationAt, ROUTES } from '../../../model/contract/route.ts'
import type { Operation } from '../../../model/contract/shapes.ts'
import { parsedJson } from '../../../model/domain/json.ts'
import { once } from '../../../model/domain/once.ts'
import { Broken, Skipped } from '../service-response.ts'
import { type Check, type CheckRun, checksOf } from '../check.ts'

/** All answers to the earlier checks, validated against everything that `spec/openapi.yaml` declares (G53). */
export const SHAPE_CHECKS: readonly Check[] = ROUTES.flatMap(({ operation }) =>
  checksOf('shape', operation, {
    [`${operation} (choice:G53): every answer of ${operation} has a declared status and the declared fields`]:
      validResponses(operation),
  }),
)

/** Prism reads the document that the mock reads, and shares no code with the mock. */
const loadPrism = once(async () => {
  const { createPrismValidator } = await import('../../../model/contract/prism-validator.ts')
  return createPrismValidator()
})

function validResponses(operation: Operation): CheckRun {
  return async ({ api }) => {
    const asked = (api.target.asked ?? []).filter(
      ({ request: { method, path } }) => operationAt(method, path.replace(/\?.*/, '')) === operation,
    )
    if (asked.length === 0) throw new Skipped(`no other check of this run called ${operation}`)
    const prism = await loadPrism()
    for (const { response } of asked) {
      const { asked: request, status, text } = response
      const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
      // A body that is not JSON is validated as a text.
      const body = text === '' ? undefined : (parsedJson(text) ?? text)
      const [problem] = prism.response(operation, status, headers, body)
      if (!problem) continue
      const mistake = problem.field === '' ? problem.message : `${problem.field} ${problem.message}`
      throw new Broken(`${request} to keep the declared shape`, `${status}: ${mistake}`)
    }
  }
}
