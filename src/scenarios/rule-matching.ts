import type { Account } from '../model/domain/account.ts'
import { milliseconds } from '../model/domain/instant.ts'
import { type JsonObject, type JsonValue, ownMember } from '../model/domain/json.ts'
import type { RequestTrace } from '../model/domain/request-trace.ts'
import type {
  MCP_REQUESTS,
  RuleConditions,
  RuleMatch,
  RequestPlace,
  ScenarioRule,
  ScenarioTime,
} from '../model/domain/scenario.ts'
import { matchesAt, matchesTexts, matchesValue, type TextMatch } from '../model/domain/value-match.ts'

/** A request as rules see it, at every place. What is expensive to find is a getter, because most rules do not ask for it. */
export interface ScenarioRequest {
  readonly at: RequestPlace
  readonly operation?: string | undefined
  /** The request of the Model Context Protocol: beside the operation execute_tool, or in place of an operation. */
  readonly mcp?: (typeof MCP_REQUESTS)[number] | undefined
  readonly tool?: string | undefined
  readonly connector?: string | undefined
  readonly clientId?: string | undefined
  readonly method?: string | undefined
  /** Decoded, without the query. */
  readonly path?: string | undefined
  readonly body: JsonValue | undefined
  /** A list where a parameter was sent more than once. */
  readonly query: JsonObject
  /** Names in lower case. */
  readonly headers: JsonObject
  /** Found by the request's locator, without side effects. */
  readonly account: Account | undefined
  /** What the request says of an account that is not there (yet): the fields of its locator. */
  readonly locator?: Readonly<Record<string, string>> | undefined
  /** Where rules that fire, and what they cause, are noted. */
  readonly trace: RequestTrace
}

/** Whether a request is at a rule's place and is all that `on` asks for. */
export function matchesRule({ at, on }: ScenarioRule, request: ScenarioRequest): boolean {
  return (
    at === request.at &&
    (on.operation === undefined || on.operation === request.operation) &&
    (on.mcp === undefined ? isOfOperation(request) : on.mcp === request.mcp) &&
    matchesText(on.tool, request.tool) &&
    matchesConnector(on.connector, request) &&
    matchesText(on.client, request.clientId) &&
    matchesText(on.method, request.method) &&
    matchesText(on.path, request.path) &&
    matchesAt(on.body, request.body) &&
    matchesTexts(on.query, (name) => ownMember(request.query, name)) &&
    matchesTexts(on.headers, (name) => ownMember(request.headers, name)) &&
    matchesAccount(on.account, request)
  )
}

/** What only a rule that names it can be about: the handshake of MCP is no request of the API. */
function isOfOperation({ operation, mcp }: ScenarioRequest): boolean {
  return operation !== undefined || mcp === undefined
}

function matchesText(wanted: TextMatch | undefined, text: string | undefined): boolean {
  return wanted === undefined || matchesValue(wanted, text)
}

/** A third party is called by its own name and, for an account of another connection, by that one's (G73). */
function matchesConnector(match: RuleMatch['connector'], request: ScenarioRequest): boolean {
  return matchesText(match, request.connector) || matchesText(match, request.account?.connector)
}

/** The account as it is; for one that does not exist yet, what the request says of it. */
function matchesAccount(wanted: RuleMatch['account'], request: ScenarioRequest): boolean {
  if (wanted === undefined) return true
  const account = request.account
  const { id, connector, identifier, organization_id, user_id, status } = account ?? {}
  const view = account ? { id, connector, identifier, organization_id, user_id, status } : request.locator
  return matchesAt(wanted, view as JsonObject | undefined)
}

export interface ConditionInput {
  /** Which request this is of all that match the rule in its state since the scenario started; the first is 1. */
  readonly number: number
  /** Milliseconds of the environment's clock. */
  readonly now: number
  readonly startedAt: number
  /** From 0 to below 1; asked for only when all else is met. */
  readonly random: () => number
}

/** Whether the conditions of a rule are met, but for its state, which decides what is counted at all. */
export function isMet(when: RuleConditions, { number, now, startedAt, random }: ConditionInput): boolean {
  const { nth, first, every, after, times = Infinity, from, until, probability } = when
  return (
    (nth === undefined || number === nth) &&
    (first === undefined || number <= first) &&
    (every === undefined || number % every === 0) &&
    (after === undefined || (number > after && number <= after + times)) &&
    (from === undefined || now >= scenarioTimeMs(from, startedAt)) &&
    (until === undefined || now < scenarioTimeMs(until, startedAt)) &&
    (probability === undefined || random() < probability)
  )
}

/** Whether a rule that has counted this many requests never fires again, whatever comes. */
export function isSpent({ nth, first, after, times = Infinity, per }: RuleConditions, counted: number): boolean {
  // Another account may come.
  if (per === 'account') return false
  return counted >= Math.min(nth ?? Infinity, first ?? Infinity, (after ?? Infinity) + times)
}

function scenarioTimeMs(time: ScenarioTime, startedAt: number): number {
  return 'at' in time ? milliseconds(time.at) : startedAt + time.after
}
