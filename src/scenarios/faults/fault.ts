import type { ServerResponse } from 'node:http'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { ErrorContent } from '../../model/domain/errors.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { RequestPlace } from '../../model/domain/scenario.ts'
import type { Report, z } from '../../model/schema/parts.ts'
import type * as parts from '../../model/schema/parts.ts'
import type { Barrier, BarrierTerms } from '../barrier.ts'
import type { Environment } from '../../state/environment.ts'
import type { Pauses } from '../pauses.ts'
import type { ScenarioRequest } from '../rule-matching.ts'

/** An answer in place of the plain one, before it is encoded; a text is sent as it is, anything else as JSON. */
export interface InjectedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for no content. */
  readonly body?: unknown
  /** At `service` only: an error, whose body is made like that of every other error. */
  readonly error?: ErrorContent | undefined
}

export interface FaultConnection {
  readonly response: ServerResponse
  readonly pauses: Pauses
  /** From 0 to below 1, seeded. */
  readonly random: () => number
  readonly trace: RequestTrace
}

/** The request that an injected answer is for, as far as its default body depends on it. */
export interface AnsweredRequest {
  readonly at: RequestPlace
  readonly operation?: string | undefined
  readonly executionId: () => string
  /** The id of the account that the request is about; a new one where there is none. */
  readonly accountId: () => string
}

/** Where a fault changes the model, and the request on which it does. */
export interface FaultTarget {
  readonly environment: Environment
  readonly request: ScenarioRequest
}

/** How an event is sent to a webhook (G68). */
export interface WebhookPlan {
  readonly lost: boolean
  readonly twice: boolean
  /** Which of the webhook's secrets sign; with none another key does. */
  readonly signs: 'all' | 'oldest' | 'none'
  readonly stale: boolean
  /** So many later events of its account come first. */
  readonly after: number
}

/** What a fault does, by when it does it. Durations are milliseconds. */
type Action<Parameters> =
  /** Changes the model, at once. @throws Error that says why it cannot */
  | { phase: 'model'; apply(target: FaultTarget, parameters: Parameters): void }
  /** Waits before anything is carried out, so many milliseconds. */
  | { phase: 'wait'; delay(parameters: Parameters, random: () => number): number }
  /** Waits for other requests before anything is carried out. */
  | { phase: 'barrier'; terms(parameters: Parameters): BarrierTerms }
  /** Ends the connection before anything is carried out: there is no answer. */
  | { phase: 'connection'; end(connection: FaultConnection, parameters: Parameters): Promise<void> }
  /** Answers in place of the plain answer: nothing is carried out. */
  | { phase: 'answer'; response(request: AnsweredRequest, parameters: Parameters): InjectedResponse }
  /** Sends the answer, plain or injected, in its own way. */
  | {
      phase: 'delivery'
      deliver(connection: FaultConnection, response: EncodedResponse, parameters: Parameters): Promise<void>
    }
  /** Grants these scopes in place of those that were chosen at a consent. */
  | { phase: 'consent'; scopes(parameters: Parameters): readonly string[] }
  /** Sends an event to a webhook in another way. */
  | { phase: 'webhook'; plan(parameters: Parameters): Partial<WebhookPlan> }

/** The rule that a fault is written in. */
export interface FaultRule {
  readonly at: RequestPlace
  /** `execute_tool` for a rule about a tool. */
  readonly operation: string | undefined
  readonly off_spec: boolean
}

/** Everything about one kind of fault; its name in files is its key in `faults.ts`. */
export type Fault<Schema extends z.ZodType = z.ZodType> = {
  /** What it takes in a scenario file. Zod comes as an argument, because the start of the server does not load it. */
  parameters(schema: typeof parts): Schema
  /** What it does, for the JSON Schema. */
  readonly description: string
  /** What it does with these parameters, in the third person, for the journal, the dashboard and error messages. */
  sentence(parameters: z.output<Schema>): string
  /** What is wrong with the parameters in this rule beyond their schema. */
  check?(parameters: z.output<Schema>, rule: FaultRule, report: Report): void
} & Action<z.output<Schema>>

export function defineFault<Schema extends z.ZodType>(fault: Fault<Schema>): Fault<Schema> {
  return fault
}

/** Declares a fault that takes no parameters; `does` says what it does, in the third person. */
export function faultWithoutParameters(description: string, does: string, action: Action<unknown>) {
  return defineFault({
    parameters: ({ noParameters }) => noParameters,
    description,
    sentence: () => does,
    ...action,
  })
}

/** A fault of a rule with what its kind does. */
export interface MatchedFault {
  readonly kind: string
  readonly fault: Fault
  readonly params: unknown
  /** Whether its rule is about a request of MCP, whose response it then answers, and not about the operation. */
  readonly ofMcp?: true
  /** That of the scenario's run, for a fault that waits for other requests. */
  readonly barrier?: Barrier
}

/** Whether nothing comes after it: the request is answered, or its connection closed. */
export function endsRequest({ fault: { phase } }: { readonly fault: Fault }): boolean {
  return phase === 'answer' || phase === 'connection'
}
