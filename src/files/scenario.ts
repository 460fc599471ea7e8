import { isDeepStrictEqual } from 'node:util'
import { METHODS } from '../model/domain/path-pattern.ts'
import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../model/domain/account.ts'
import { parseDuration, DURATION_FORMS } from '../model/domain/duration.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../model/domain/json.ts'
import { headersByName } from '../model/domain/request-headers.ts'
import {
  MCP_REQUESTS,
  RULE_PLACES,
  type RuleMatch,
  type RequestPlace,
  type Scenario,
  type ScenarioRule,
  type ScenarioTime,
} from '../model/domain/scenario.ts'
import { dottedPaths, isMatcher } from '../model/domain/value-match.ts'
import { endsRequest, type Fault } from '../scenarios/faults/fault.ts'
import { FAULT_KINDS, type FaultKind, FAULTS } from '../scenarios/faults/faults.ts'
import type { Path } from '../model/schema/problems.ts'
import * as parts from '../model/schema/parts.ts'
import {
  isInstantText,
  nonEmpty,
  readBy,
  type Report,
  schemaReference,
  strict,
  text,
  jsonMatch,
  textMatch,
  textMatches,
  uniqueList,
  wholeNumber,
  withRule,
} from '../model/schema/parts.ts'

/** Names travel in paths (`PUT /_mock/scenarios/{name}`) and on command lines. */
const scenarioName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, { error: '1 to 100 letters, digits, dots, underscores and hyphens' })
  .meta({ title: 'name' })

const accountText = textMatch(text)
const matchedText = textMatch(nonEmpty)

const account = strict({
  id: accountText.exactOptional().describe('Its id.'),
  connector: accountText.exactOptional().describe('Its connector.'),
  identifier: accountText.exactOptional().describe('Its identifier.'),
  organization_id: accountText.exactOptional().describe('Its organization.'),
  user_id: accountText.exactOptional().describe('Its user.'),
  status: z.enum(ACCOUNT_STATUSES).exactOptional().describe('Its state when the request comes.'),
})

const match = withRule(
  strict({
    operation: nonEmpty.exactOptional().describe('At service: the operation, such as execute_tool.'),
    mcp: z.enum(MCP_REQUESTS).exactOptional().describe('At service: the request of the Model Context Protocol.'),
    tool: matchedText.exactOptional().describe('At service and third_party: the tool that is executed.'),
    connector: matchedText.exactOptional().describe('The connector of the account.'),
    account: account.exactOptional().describe('Values by field of the account that the request is about.'),
    client: matchedText.exactOptional().describe('At service: the client id.'),
    method: z.enum(METHODS).exactOptional().describe('At third_party: the HTTP method.'),
    path: matchedText.exactOptional().describe('At third_party: the path without the query.'),
    body: jsonMatch
      .exactOptional()
      .describe('Values by dotted path into the JSON body; nested objects count as paths.'),
    query: textMatches.exactOptional().describe('Values by parameter.'),
    headers: textMatches.exactOptional().describe('Values by header.'),
  }),
  (on, report) => {
    refuseRegularExpressions(on, [], report)
    refuseUnmatchable(on, report)
  },
)

/** What a rule can match in a request, by place; the rest is not known there. */
const MATCHED: Readonly<Record<RequestPlace, readonly (keyof RuleMatch)[]>> = {
  service: ['operation', 'mcp', 'tool', 'connector', 'account', 'client', 'body', 'query', 'headers'],
  third_party: ['tool', 'connector', 'account', 'method', 'path', 'body', 'query', 'headers'],
  token_refresh: ['connector', 'account', 'body', 'headers'],
  consent: ['connector', 'account'],
  webhook: ['connector', 'account', 'body'],
}

/** A time in `when`; undefined for anything else. */
function writtenTime(value: string | number): ScenarioTime | undefined {
  if (isInstantText(value)) return { at: new Date(value).toISOString() }
  const after = parseDuration(value)
  return after === undefined ? undefined : { after }
}

const scenarioTime = readBy(
  writtenTime,
  `a date and time such as 2026-01-31T12:00:00Z, or a duration since the scenario started (${DURATION_FORMS})`,
).meta({
  title: 'date and time; or, since the scenario started, a duration or seconds',
  type: ['string', 'number'],
})

const count = wholeNumber(1)
const COUNTERS = ['nth', 'first', 'every', 'after'] as const

const conditions = withRule(
  strict({
    nth: count.exactOptional().describe('Only the request of this number, counted from 1.'),
    first: count.exactOptional().describe('The first so many requests.'),
    every: count
      .exactOptional()
      .describe('Each request whose number this one divides: 4 means the fourth, the eighth, and so on.'),
    after: wholeNumber(0).exactOptional().describe('Every request after the first so many.'),
    times: count.exactOptional().describe('With after: only so many of them.'),
    per: z
      .enum(['environment', 'account'])
      .exactOptional()
      .describe('Whose requests nth, first, every and after count together. Absent: environment.'),
    probability: z
      .number()
      .gt(0)
      .max(1)
      .exactOptional()
      .describe('The chance, above 0 and up to 1; it repeats with --id-seed.'),
    from: scenarioTime.exactOptional().describe("From this time of the environment's clock on."),
    until: scenarioTime.exactOptional().describe('Before this time.'),
    state: nonEmpty.exactOptional().describe('Only while the scenario is in this state.'),
  }),
  (when, report) => {
    const [one, ...more] = COUNTERS.filter((key) => when[key] !== undefined)
    for (const key of more) {
      const mistake = `set together with ${String(one)}`
      report([key], { found: mistake, allowed: `one of ${COUNTERS.join(', ')}`, atKey: true })
    }
    if (when.times !== undefined && when.after === undefined) {
      const allowed = 'times together with after (for the first so many: first)'
      report(['times'], { found: 'set without after', allowed, atKey: true })
    }
    if (when.per !== undefined && one === undefined) {
      const allowed = `per together with one of ${COUNTERS.join(', ')}`
      report(['per'], { found: 'set without a count', allowed, atKey: true })
    }
    const { from, until } = when
    if (!from || !until || !neverOpen(from, until)) return
    const start = 'at' in from ? from.at : `${from.after / 1000} s`
    report(['until'], { allowed: `a time after from, which is ${start}` })
  },
).describe('When the rule fires; all conditions must be true. Absent: always.')

/** A date and a duration cannot be compared before the scenario starts. */
function neverOpen(from: ScenarioTime, until: ScenarioTime): boolean {
  if ('at' in from) return 'at' in until && from.at >= until.at
  return 'after' in until && from.after >= until.after
}

type FaultSchemas = { [Kind in FaultKind]: ReturnType<(typeof FAULTS)[Kind]['parameters']> }
const faultSchemas = Object.fromEntries(
  Object.entries(FAULTS).map(([kind, fault]) => [kind, fault.parameters(parts).describe(fault.description)]),
) as FaultSchemas

const faultItem = withRule(strict(strict(faultSchemas).partial().shape), (item, report, wrong) => {
  const kinds = Object.keys(item)
  if (kinds.length === 1 || (kinds.length === 0 && wrong.size > 0)) return
  const mistake = kinds.length === 0 ? 'without a fault' : kinds.join(' and ')
  report([], { found: mistake, allowed: 'one fault in each item of do' })
})

const rule = withRule(
  strict({
    name: nonEmpty.describe('A unique name in the file; the request journal and messages name the rule by it.'),
    at: z.enum(RULE_PLACES).describe('Where the rule acts.'),
    on: match.default({}).describe('Which requests the rule matches; in its texts * matches any text. Absent: all.'),
    when: conditions.default({}),
    do: z.array(faultItem).default([]).describe('What the rule does: one fault in each item, in this order.'),
    then: nonEmpty
      .exactOptional()
      .describe('The new state of the scenario. It applies at once, before the request continues.'),
    must_fire: z.boolean().default(true).describe('Whether a run in which the rule never fired fails.'),
    off_spec: z
      .boolean()
      .default(false)
      .describe('Whether respond at service may answer a status that the contract does not declare.'),
  }),
  ({ at, on = {}, do: items, then, off_spec = false }, report) => {
    if (items?.length === 0 && then === undefined) {
      report(['do'], { found: 'empty', allowed: 'at least one fault, or a state after then' })
    }
    if (at) refuseUnmatched(at, on, report)
    const faults = (items ?? []).flatMap(faultsIn)
    refuseContradictions(faults, report)
    if (!at) return
    for (const { path, kind, fault, params } of faults) {
      // The answer of a consent is a redirect of the browser: there is no connection to end and no body to break.
      if (at === 'consent' && (fault.phase === 'connection' || fault.phase === 'delivery')) {
        const allowed =
          'respond with an OAuth error, grant_scopes, latency, hold_until, and faults that change the model'
        report([...path, kind], { found: 'set at consent', allowed, atKey: true })
      } else if ((at === 'webhook') !== (fault.phase === 'webhook') && !(at === 'webhook' && fault.phase === 'wait')) {
        const allowed =
          at === 'webhook' ? `latency, ${faultKindNames('webhook')}` : `every fault but ${faultKindNames('webhook')}`
        report([...path, kind], { found: `set at ${at}`, allowed, atKey: true })
      }
      if (fault.phase === 'consent' && at !== 'consent')
        report([...path, kind], { found: `set at ${at}`, allowed: `${kind} at consent`, atKey: true })
      const operation = operationOf(on)
      fault.check?.(params, { at, operation, off_spec: off_spec || isHandshake(on) }, (inside, problem) => {
        report([...path, kind, ...inside], problem)
      })
    }
  },
)

export const scenarioSchema = withRule(
  strict({
    $schema: schemaReference,
    name: scenarioName.describe(
      'Its name on the command line and in the control API: 1 to 100 letters, digits, dots, underscores and hyphens.',
    ),
    description: text.default('').describe('What lists show.'),
    initial: nonEmpty
      .exactOptional()
      .describe('The state that the scenario starts in; required where rules name states.'),
    rules: uniqueList(rule, 'name').min(1).describe('What goes wrong; rules are checked in their order.'),
  }),
  ({ initial, rules = [] }, report) => {
    refuseUnreachable(rules, report)
    const reached = new Set([initial, ...rules.map(({ then }) => then)].filter((state) => state !== undefined))
    for (const [index, { when }] of rules.entries()) {
      if (when.state === undefined || reached.has(when.state)) continue
      const allowed = `a state that initial or then names (${[...reached].join(', ') || 'there is none'})`
      report(['rules', index, 'when', 'state'], { allowed })
    }
    const naming = rules.findIndex(({ when, then }) => when.state !== undefined || then !== undefined)
    if (initial !== undefined || naming === -1) return
    report(['initial'], { allowed: `the state to start in, because rules[${naming}] names a state` })
  },
)

export type ParsedScenario = z.output<typeof scenarioSchema>
type ParsedRule = z.output<typeof rule>

interface WrittenFault {
  /** From the rule on. */
  path: Path
  kind: FaultKind
  fault: Fault
  params: unknown
}

/** The faults of an item of `do`: one, unless the item is refused. */
function faultsIn(item: ParsedRule['do'][number], index: number): WrittenFault[] {
  return FAULT_KINDS.flatMap((kind) =>
    item[kind] === undefined ? [] : [{ path: ['do', index], kind, fault: FAULTS[kind], params: item[kind] }],
  )
}

function refuseUnmatched(at: RequestPlace, on: ParsedRule['on'], report: Report): void {
  for (const key of Object.keys(on) as (keyof RuleMatch)[]) {
    if (MATCHED[at].includes(key)) continue
    report(['on', key], { found: `unknown at ${at}`, allowed: MATCHED[at].join(', '), atKey: true })
  }
}

/** What no request has at once. */
function refuseUnmatchable({ operation, mcp, tool, connector, account, path }: ParsedRule['on'], report: Report): void {
  if (
    mcp !== undefined &&
    (mcp === 'tools/call' ? (operation ?? 'execute_tool') !== 'execute_tool' : (operation ?? tool))
  ) {
    const mistake = `set to ${mcp} together with ${operation === undefined ? 'a tool' : `the operation ${operation}`}`
    report(['mcp'], { found: mistake, allowed: 'tools/call for execute_tool and its tools, or mcp alone', atKey: true })
  }
  if (tool !== undefined && operation !== undefined && operation !== 'execute_tool') {
    const mistake = `set together with the operation ${operation}, which executes no tool`
    report(['tool'], { found: mistake, allowed: 'the operation execute_tool, or none', atKey: true })
  }
  if (typeof path === 'string' && (!/^[/*]/.test(path) || path.includes('?')))
    report(['path'], { allowed: 'a path that begins with / or *, without a query' })
  const accountConnector = account?.connector
  if (typeof connector !== 'string' || typeof accountConnector !== 'string' || connector === accountConnector) return
  if (`${connector}${accountConnector}`.includes('*')) return
  report(['account', 'connector'], { allowed: `${connector}, the connector of on, or none` })
}

/** The operation that a rule is about; undefined for all. */
function operationOf({
  operation,
  tool,
  mcp,
}: Pick<ParsedRule['on'], 'operation' | 'tool' | 'mcp'>): string | undefined {
  return operation ?? (tool === undefined && mcp !== 'tools/call' ? undefined : 'execute_tool')
}

/** Whether a rule is about requests that no operation has, for which the spec declares nothing. */
function isHandshake({ mcp }: Pick<ParsedRule['on'], 'mcp'>): boolean {
  return mcp !== undefined && mcp !== 'tools/call'
}

/** A rule that ends requests takes them all from later ones that would end them, unless a counter or chance leaves some. */
function refuseUnreachable(rules: readonly ParsedRule[], report: Report): void {
  const ending = rules.map((each) => each.do.flatMap(faultsIn).some(endsRequest))
  for (const [index, later] of rules.entries()) {
    if (!ending[index]) continue
    const earlier = rules.slice(0, index).find((each, at) => ending[at] && takesAll(each, later))
    if (!earlier) continue
    const mistake = `one that can never fire, because the rule ${JSON.stringify(earlier.name)} before it ends every request that it matches`
    report(['rules', index], {
      found: mistake,
      allowed: 'a rule that matches other requests, or a when of the earlier rule',
    })
  }
}

function takesAll(earlier: ParsedRule, later: ParsedRule): boolean {
  const isShared = (part: 'on' | 'when') =>
    Object.entries(earlier[part]).every(([key, value]) => {
      const isSame = isDeepStrictEqual(value, Object.entries(later[part]).find(([name]) => name === key)?.[1])
      return isSame && (part === 'on' || ['state', 'from', 'until'].includes(key))
    })
  // A rule that names no request of MCP is about operations alone.
  const isOther = earlier.on.mcp === undefined && (later.on.mcp ?? 'tools/call') !== 'tools/call'
  return earlier.at === later.at && !isOther && isShared('on') && isShared('when')
}

/** A request ends once, and an answer is sent in one way. */
function refuseContradictions(faults: readonly WrittenFault[], report: Report): void {
  const [end, ...otherEnds] = faults.filter(endsRequest)
  const deliveries = faults.filter(({ fault: { phase } }) => phase === 'delivery')
  const unanswered = end?.fault.phase === 'connection'
  const checkedRule = unanswered ? end : deliveries[0]
  const refused = [
    ...otherEnds.map((each) => ({ each, other: end })),
    ...(unanswered ? deliveries : deliveries.slice(1)).map((each) => ({ each, other: checkedRule })),
  ]
  for (const { each, other: before } of refused) {
    const mistake = `set together with ${before?.kind ?? ''}`
    const allowed = `at most one of ${faultKindNames('answer', 'connection')}, and with an answer at most one of ${faultKindNames('delivery')}`
    report([...each.path, each.kind], { found: mistake, allowed, atKey: true })
  }
}

function faultKindNames(...phases: readonly Fault['phase'][]): string {
  return FAULT_KINDS.filter((kind) => phases.includes(FAULTS[kind].phase)).join(', ')
}

/** Keys of `on` that hold names of the user: an object below one is a matcher, they themselves are none. */
const MAPS: ReadonlySet<unknown> = new Set(['account', 'body', 'query', 'headers'])

/** Regular expressions that are put in another way than `{ matches: PATTERN }`: they would never match. */
function refuseRegularExpressions(value: JsonValue, path: Path, report: Report): void {
  const allowed = 'a value, a glob in which * matches any text, or { matches: PATTERN }'
  if (typeof value === 'string') {
    const isRegex = path.at(-1) === 'path' ? hasRegexMarks(value) : looksLikeRegex(value)
    if (isRegex) report(path, { found: `the regular expression ${JSON.stringify(value)}`, allowed })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseRegularExpressions(item, [...path, index], report)
  } else if (isJsonObject(value) && !(isMatcher(value) && !(path.length === 1 && MAPS.has(path[0])))) {
    for (const [key, item] of Object.entries(value)) {
      if (REGEX_KEYS.has(key) && typeof item === 'string') {
        report([...path, key], { found: 'a regular expression', allowed, atKey: true })
      } else refuseRegularExpressions(item, [...path, key], report)
    }
  }
}

/** How other tools spell "match by regular expression". */
const REGEX_KEYS: ReadonlySet<string> = new Set(['regex', '$regex', 'regexp', 'matches', 'doesNotMatch'])

/** `/ada/i`, `^ada`, `.*ada`; or a class such as `\\d`, `[a-z]+`, `(?:…)`. */
function looksLikeRegex(value: string): boolean {
  return (
    /^\/.+\/[dgimsuvy]*$/s.test(value) ||
    value.startsWith('^') ||
    value.startsWith('.*') ||
    /\\[dDwWsSbB.]|\[[^\]]+\][*+?{]|\(\?/.test(value)
  )
}

/** A path starts with a slash and may end with one; brackets, bars and anchors are no part of it. */
function hasRegexMarks(value: string): boolean {
  return /[\\^$()|[\]]|\.\*|\.\+/.test(value)
}

/** The scenario that a valid document describes, with every default filled in. */
export function toScenario({ name, description, initial = '', rules }: ParsedScenario): Scenario {
  return { name, description, initial, rules: rules.map(toRule) }
}

function toRule({ on: { body, headers, ...on }, do: items, then, ...rule }: ParsedRule): ScenarioRule {
  return {
    ...rule,
    on: {
      ...on,
      ...(body && { body: dottedPaths(body) }),
      ...(headers && { headers: headersByName(Object.entries(headers)) }),
    },
    do: items.flatMap(faultsIn).map(({ kind, params }) => ({ kind, params: params as JsonObject })),
    then: then ?? null,
  }
}
