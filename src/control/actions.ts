import { completeLink, type Decision } from '../magic-links/consent-flow.ts'
import type { Account } from '../domain/account.ts'
import type { Connection } from '../domain/connection.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { type AccountEvent, applyAccountEvent } from '../operations/account-events.ts'
import { applyConnectionEvent, type ConnectionEvent, findConnection } from '../operations/connection-events.ts'
import { ReadGuard } from '../state/read-guard.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { ControlContext } from './context.ts'
import { ControlError } from './control-error.ts'
import { journalChange } from './journaled.ts'

/*
 * What the control API does to an environment, for its routes and for the library alike. Changes are noted in the journal;
 * whoever calls waits for `world.settled()` before saying that they happened.
 */

/** @throws ControlError ENVIRONMENT_NOT_FOUND */
export function environmentNamed({ registry }: Pick<ControlContext, 'registry'>, name: string): StoredEnvironment {
  const environment = registry.environment(name)
  if (environment) return environment
  const known = registry.environments().map((each) => each.name)
  const message = `there is no environment ${JSON.stringify(name.slice(0, 100))}; there are ${known.slice(0, 30).join(', ')}`
  throw new ControlError('ENVIRONMENT_NOT_FOUND', message)
}

/** @throws ControlError ENVIRONMENT_NOT_FOUND */
export function removeEnvironment(context: ControlContext, name: string): void {
  const environment = environmentNamed(context, name)
  context.environments.remove(name)
  context.journals.remove(environment)
  context.services.records.removed(environment.name, context.scenarios(environment).history())
}

/** Takes model, settings, clock, scenarios, journal and links back to the seed; clients, bearer tokens and snapshots stay. */
export async function resetEnvironment(context: ControlContext, environment: StoredEnvironment): Promise<void> {
  await context.environments.reset(environment)
  context.scenarios(environment).reset()
  context.journals.of(environment).clear()
}

/** @throws ControlError ACCOUNT_NOT_FOUND; IllegalMoveError */
export function accountEvent(
  context: ControlContext,
  environment: StoredEnvironment,
  happening: { id: string; event: AccountEvent; trace?: RequestTrace },
): Account {
  const { id, event, trace = new RequestTrace() } = happening
  const account = environment.model.tables.accounts.get(id)
  if (!account) throw new ControlError('ACCOUNT_NOT_FOUND', `there is no connected account ${JSON.stringify(id)}`)
  trace.account ??= account
  const thirdParty = context.thirdParty(environment, trace)
  const result = applyAccountEvent({ environment, thirdParty, trace }, account, event)
  journalChange(context, environment, { kind: 'control', sentence: `${event} happened to account ${id}`, trace })
  return result.account
}

/** `id` may be a `key_id` too. @throws ControlError CONNECTION_NOT_FOUND; IllegalConnectionMoveError */
export function connectionEvent(
  context: ControlContext,
  environment: StoredEnvironment,
  happening: { id: string; event: ConnectionEvent; trace?: RequestTrace },
): Connection {
  const { id, event, trace = new RequestTrace() } = happening
  const connection = findConnection(environment, id)
  if (!connection) throw new ControlError('CONNECTION_NOT_FOUND', `there is no connection ${JSON.stringify(id)}`)
  const moved = applyConnectionEvent(environment, connection, event)
  const sentence = `${event} happened to connection ${moved.id} (${moved.key_id})`
  journalChange(context, environment, { kind: 'control', sentence, trace })
  return moved
}

export interface LinkChoice {
  readonly decision: Decision
  /** Who signs in; anybody. */
  readonly as?: string | undefined
  readonly baseUrl: string
  readonly trace?: RequestTrace
}

/** Decides a link as its user would in a browser. @throws LinkProblem */
export async function completeMagicLink(
  context: ControlContext,
  environment: StoredEnvironment,
  id: string,
  choice: LinkChoice,
): Promise<{ redirect_url: string }> {
  const { decision, as, baseUrl, trace = new RequestTrace() } = choice
  const readGuard = new ReadGuard(environment)
  const thirdParty = context.thirdParty(environment, trace)
  const flow = { services: context.services, environment, thirdParty, baseUrl, trace }
  const link = environment.model.tables.magic_links.get(id)
  trace.account = link && environment.model.tables.accounts.get(link.account_id)
  const answer = await completeLink(flow, id, { decision, as })
  readGuard.hold()
  const who = as === undefined ? '' : ` as ${as}`
  journalChange(context, environment, {
    kind: 'control',
    sentence: `a magic link was completed: ${decision}${who}`,
    trace,
  })
  return answer
}
