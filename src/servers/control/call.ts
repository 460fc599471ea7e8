import type { Request, Response } from 'express'
import type { AppServices } from './app-services.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { EntryFacts, OpenEntry } from '../../journal/request-journal/request-entries.ts'
import type { Journal } from '../../journal/request-journal/journal.ts'
import type { EnvironmentScenarios } from '../../scenarios/environment-scenarios.ts'
import type { Environment } from '../../state/environment.ts'
import { quote, thereAre } from '../../model/domain/text.ts'
import { ControlError, invalidInput } from './errors.ts'
import type { BodyOf, ControlOperation, ControlRoute, ControlQuery } from './input.ts'

type RouteOf<Op extends ControlOperation> = Extract<ControlRoute, { readonly operation: Op }>

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

export interface ServerCall<Op extends ControlOperation> {
  readonly services: AppServices
  readonly request: Request
  readonly response: Response
  readonly entry: OpenEntry
  readonly path: { readonly [Name in NamesIn<RouteOf<Op>['path']>]: string }
  readonly query: ControlQuery<Op>
  readonly body: BodyOf<Op>
}

/** A call about the environment that `?environment=` names. Due events of that environment were applied. */
export interface EnvironmentCall<Op extends ControlOperation> extends ServerCall<Op> {
  readonly environment: Environment
  readonly journal: Journal
  readonly scenarios: EnvironmentScenarios
  /** What the call causes, for the request journal. */
  readonly trace: RequestTrace
}

export type CallOf<Op extends ControlOperation> = RouteOf<Op>['environment'] extends true
  ? EnvironmentCall<Op>
  : ServerCall<Op>

export type ControlReply = (
  | { readonly body: unknown }
  | { readonly text: string; readonly type: string }
  | { readonly wireResponse: EncodedResponse }
  /** Sends what comes about, as it does. */
  | { readonly stream: () => void }
) & {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** What the request journal says of a change; a call that changes nothing has no entry. */
  readonly entry?: EntryFacts
  /** Changes what the state does not hold. Runs once the state is durable: a 503 says that nothing was changed. */
  readonly onceDurable?: () => void
}

/** Its answer, also an error, can rest on a commit that the disk refuses; `fail` answers what was thrown. */
export async function endCall(
  { entries }: Pick<AppServices, 'entries'>,
  entry: OpenEntry,
  replying: Promise<ControlReply>,
  fail: (error: unknown) => ControlError,
  send?: (reply: ControlReply) => void,
): Promise<ControlReply> {
  let reply: ControlReply = await replying.catch(fail)
  await entries.end(entry, (refused) => {
    try {
      if (refused) reply = fail(refused)
      else reply.onceDurable?.()
    } catch (error) {
      reply = fail(error)
    }
    return { facts: reply.entry, send: () => send?.(reply) }
  })
  return reply
}

export type ControlHandler<Op extends ControlOperation> = (call: CallOf<Op>) => ControlReply | Promise<ControlReply>

export type ControlHandlers = { readonly [Op in ControlOperation]: ControlHandler<Op> }

/** The reply to a change of an environment. The request journal of the environment records the change in one sentence. */
export function changeReply(
  sentence: string,
  { body = {}, kind = 'control' }: { body?: object; kind?: 'clock' | 'control' } = {},
): ControlReply {
  return { body, entry: { kind, url: sentence, status: 200 } }
}

/** Aborted when the client of a call has gone, or the server stops. */
export function goneSignal({
  services,
  response,
}: Pick<ServerCall<'get_health'>, 'services' | 'response'>): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, services.closing])
}

export function environmentNamed({ registry }: AppServices, name: string): Environment {
  const environment = registry.environment(name)
  if (environment) return environment
  throw environmentNotFound(
    name,
    registry.environments().map((each) => each.name),
  )
}

export function environmentNotFound(name: string, names: readonly string[]): ControlError {
  const message = `there is no environment ${quote(name)}; ${thereAre(names.slice(0, 30), 'there is none')}`
  return new ControlError('ENVIRONMENT_NOT_FOUND', message)
}

/** Names of environments and snapshots are parts of paths. @throws ControlError INVALID_NAME */
export function checkedName(what: string, name: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name) && name !== '.' && name !== '..') return name
  const message = `${quote(name)} is not a name for ${what}; a name has 1 to 64 letters, digits, ".", "_" and "-"`
  throw new ControlError('INVALID_NAME', message)
}

/** The name in a document has to be the name in the path. @throws ControlError INVALID_DOCUMENT */
export function checkDocumentName(field: string, value: string, name: string): void {
  if (value === name) return
  const allowed = `${quote(name)}, the name in the path`
  throw invalidInput('INVALID_DOCUMENT', [{ path: [field], found: quote(value), allowed }])
}
