import { deliveryOf, injectedAnswer, waitBefore } from '../scenarios/delivery.ts'
import type { EnvironmentScenarios, Verdict } from '../scenarios/scenarios.ts'
import { checkBearer } from './bearer.ts'
import { environmentOf, type RequestContext } from './request-context.ts'
import { scenarioRequest } from './scenario-request.ts'
import type { AppServices } from '../app-services.ts'

/** The rules of scenarios at `service` (1.4); nothing but this look where none runs. */
export function actOutScenarios(context: RequestContext, services: AppServices): Promise<void> | undefined {
  const scenarios = services.scenarios.of(environmentOf(context))
  if (!scenarios.active) return undefined
  const verdict = scenarios.consider(scenarioRequest(context))
  return verdict && actOut(context, services, { scenarios, verdict })
}

/** @throws ServiceError UNAUTHENTICATED when a fault took the bearer token of this very request */
async function actOut(
  context: RequestContext,
  services: AppServices,
  { scenarios, verdict }: { scenarios: EnvironmentScenarios; verdict: Verdict },
): Promise<void> {
  const { response, route, requestId } = context
  if (verdict.happened.has('revoke_bearer_tokens') || verdict.happened.has('advance_clock')) {
    checkBearer(context, services)
  }
  if (verdict.wire.length === 0) return
  const wire = { response, pauses: services.pauses, chance: () => scenarios.chance() }
  const end = await waitBefore(verdict.wire, wire)
  if (end) {
    context.fault = { cut: end.kind, injected: false }
    return
  }
  const executionId = (): string => environmentOf(context).ids.id('exec')
  const injected = injectedAnswer(verdict.wire, { at: 'service', operation: route.operation, requestId, executionId })
  const deliver = deliveryOf(verdict.wire)
  if (!injected && !deliver) return
  if (injected) {
    const { status, headers, body } = injected
    context.reply = { status, headers, ...(typeof body === 'string' ? {} : { body }) }
  }
  context.fault = {
    injected: injected !== undefined,
    text: typeof injected?.body === 'string' ? injected.body : undefined,
    deliver: deliver && (({ text, ...answer }) => deliver(wire, { ...answer, body: text })),
  }
}
