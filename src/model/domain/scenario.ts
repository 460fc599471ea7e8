import type { Instant } from './instant.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { plural, quote } from './text.ts'
import type { TextMatch } from './value-match.ts'

/** Where a rule of a scenario acts (1.4). */
export const RULE_PLACES = ['service', 'third_party', 'token_refresh', 'consent', 'webhook'] as const
export type RequestPlace = (typeof RULE_PLACES)[number]

/** The requests of the Model Context Protocol that a rule can be about. */
export const MCP_REQUESTS = ['initialize', 'tools/list', 'tools/call', 'get'] as const

/** One thing that a rule does: a kind of `scenarios/faults/faults.ts`, with parameters that its schema has accepted. */
export interface ScenarioFault {
  kind: string
  params: JsonObject
}

/** Which requests a rule is about; what is absent does not matter. */
export interface RuleMatch {
  operation?: string
  mcp?: (typeof MCP_REQUESTS)[number]
  tool?: TextMatch
  connector?: TextMatch
  account?: Readonly<Record<string, TextMatch>>
  client?: TextMatch
  method?: string
  path?: TextMatch
  /** By dotted path into the JSON body. */
  body?: Readonly<Record<string, JsonValue>>
  query?: Readonly<Record<string, TextMatch>>
  /** Names in lower case. */
  headers?: Readonly<Record<string, TextMatch>>
}

/** A time of the environment's clock: an instant, or so many milliseconds after the scenario started. */
export type ScenarioTime = { at: Instant } | { after: number }

/**
 * Every condition has to hold. `nth`, `first`, `every` and `after` are about the number of this request among all that
 * match since the scenario started; only those count that arrive while it is in the rule's state (1.4).
 */
export interface RuleConditions {
  nth?: number
  first?: number
  every?: number
  /** Those after the first so many; with `times` only so many of them. */
  after?: number
  times?: number
  /** Whose requests are counted together; those of the environment when absent. */
  per?: 'environment' | 'account'
  /** 0 to 1. */
  probability?: number
  from?: ScenarioTime
  until?: ScenarioTime
  state?: string
}

export interface ScenarioRule {
  name: string
  at: RequestPlace
  on: RuleMatch
  when: RuleConditions
  do: readonly ScenarioFault[]
  /** The state of the scenario from this request on; null leaves it. */
  then: string | null
  /** Whether a run in which this rule never fired has failed. */
  must_fire: boolean
  /** Whether its answers may be what the spec does not declare. */
  off_spec: boolean
}

/** What goes wrong, when, and where (1.4): a scenario file, checked and with every default filled in. */
export interface Scenario {
  /** The document as it was written, to be edited; absent where an earlier version has stored the scenario. */
  text?: string
  name: string
  description: string
  /** The state it starts in; empty for a scenario without states. */
  initial: string
  rules: readonly ScenarioRule[]
}

/** A rule that fired on a request, for the journal. */
export interface FiredRule {
  scenario: string
  rule: string
  at: RequestPlace
  /** What it did, in one sentence. */
  sentence: string
  /** Which request it was of those that match, and of how many it fires on; null without an end. */
  matched: number
  of: number | null
  do: readonly ScenarioFault[]
  off_spec: boolean
}

/** A rule that ended requests before another one, and how many of those on which that one would have fired. */
export interface Shadow {
  scenario: string
  rule: string
  requests: number
}

/** How often a rule of a scenario fired: `2 times`, or why it never did. */
export function firedText(scenario: string, rule: Parameters<typeof unfiredReason>[1] & { hits: number }): string {
  const times = plural(rule.hits, 'time')
  return rule.hits > 0 ? times : `${times}: ${unfiredReason(scenario, rule)}`
}

/** Why a rule of a scenario never fired. */
export function unfiredReason(
  scenario: string,
  { matched, shadowed_by: shadows }: { matched: number; shadowed_by: readonly Shadow[] },
): string {
  const reasons = shadows.map((shadow) => {
    const where = shadow.scenario === scenario ? '' : ` of scenario ${shadow.scenario}`
    return `the rule ${quote(shadow.rule)}${where} before it took ${plural(shadow.requests, 'request')}`
  })
  if (reasons.length > 0) return reasons.join(', ')
  return matched === 0 ? 'no request matched it' : `${plural(matched, 'request')} matched it, but not its conditions`
}

/** A path has a slash or the ending of a file; a name may have parameters: `token-dies-mid-run?identifier=a/b`. */
export function isScenarioPath(name: string): boolean {
  return /[/\\]|\.(?:ya?ml|json)$/.test(partsOfName(name)[0])
}

/** What a scenario that is named takes in place of its own tool, connector and account. */
export interface ScenarioParameters {
  readonly tool?: string
  readonly connector?: string
  readonly identifier?: string
}

export function nameWith(name: string, parameters: ScenarioParameters = {}): string {
  const pairs = Object.entries(parameters).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
  return pairs.length === 0 ? name : `${name}?${pairs.join('&')}`
}

/** The name of a scenario and its parameters: `token-dies-mid-run?tool=crm_find&identifier=*`. */
export function partsOfName(name: string): [name: string, parameters: string] {
  const at = name.indexOf('?')
  return at === -1 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)]
}
