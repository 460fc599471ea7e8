import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { nearest } from '../domain/suggestion.ts'
import { repeatedNames } from './connector-checks.ts'
import { type Finding, type Path, shown } from './problem.ts'
import { timeOf } from './scenario-time.ts'
import { faultFindings } from './scenario-fault-checks.ts'
import { regexFindings } from './scenario-match-checks.ts'
import { items, objectAt, type ScenarioSurroundings, type WrittenRule, writtenRules } from './scenario-rule.ts'

/**
 * What is wrong with a scenario document beyond the shape of its parts. Takes the document as it was written, whatever its
 * shape, so that these problems are told together with those of the shape.
 */
export function checkScenario(document: JsonValue, around: ScenarioSurroundings): Finding[] {
  if (!isJsonObject(document)) return []
  const rules = writtenRules(document)
  return [
    ...repeatedNames(items(own(document, 'rules')), 'name', ['rules']),
    ...stateFindings(document, rules),
    ...rules.flatMap((rule) => ruleFindings(rule, around)),
  ]
}

function ruleFindings(written: WrittenRule, around: ScenarioSurroundings): Finding[] {
  return [
    ...placeFindings(written),
    ...nameFindings(written, around),
    ...regexFindings(written.on, [...written.path, 'on']),
    ...conditionFindings(objectAt(written.rule, 'when'), [...written.path, 'when']),
    ...faultFindings(written, around),
  ]
}

/** What a rule can ask of a request, by place: the rest is not known there. */
const MATCHED: Readonly<Record<string, readonly string[]>> = {
  service: ['operation', 'tool', 'connector', 'account', 'client', 'body', 'query', 'headers'],
  third_party: ['tool', 'connector', 'account', 'method', 'path', 'body', 'query', 'headers'],
  token_refresh: ['connector', 'account', 'body', 'headers'],
  consent: ['connector', 'account'],
}

function placeFindings({ on, at, path }: WrittenRule): Finding[] {
  const known = Object.values(MATCHED).flat()
  const allowed = MATCHED[at]
  if (!allowed) return []
  return Object.keys(on)
    .filter((key) => known.includes(key) && !allowed.includes(key))
    .map((key) => ({ path: [...path, 'on', key], found: `${key} at ${at}`, allowed: allowed.join(', '), atKey: true }))
}

/** Operations, connectors and tools that there are not. A glob may stand for names that come later. */
function nameFindings({ on, path }: WrittenRule, { operations, connectors }: ScenarioSurroundings): Finding[] {
  const account = objectAt(on, 'account')
  const connector = own(on, 'connector') ?? own(account, 'connector')
  const at = typeof connector === 'string' ? connectors.get(connector) : undefined
  const tools = (at ? [at] : [...connectors.values()]).flatMap((each) => each?.tools.map(({ name }) => name) ?? [])
  return [
    ...unknownName(own(on, 'operation'), [...operations.keys()], [...path, 'on', 'operation']),
    ...unknownPlain(own(on, 'connector'), [...connectors.keys()], [...path, 'on', 'connector']),
    ...unknownPlain(own(account, 'connector'), [...connectors.keys()], [...path, 'on', 'account', 'connector']),
    ...unknownPlain(own(on, 'tool'), tools, [...path, 'on', 'tool']),
  ]
}

function unknownPlain(name: JsonValue | undefined, known: readonly string[], path: Path): Finding[] {
  return typeof name === 'string' && name.includes('*') ? [] : unknownName(name, known, path)
}

function unknownName(name: JsonValue | undefined, known: readonly string[], path: Path): Finding[] {
  if (typeof name !== 'string' || known.includes(name)) return []
  const meant = nearest(name, known)
  const hint = meant === undefined ? '' : `, did you mean ${meant}?`
  const all = known.length === 0 ? 'none, because there is none' : known.slice(0, 40).join(', ')
  return [{ path, found: `${shown(name)}${hint}`, allowed: all }]
}

/** States that nothing leads to, and states without one to start in. */
function stateFindings(document: JsonObject, rules: readonly WrittenRule[]): Finding[] {
  const initial = own(document, 'initial')
  const reached = new Set(
    [initial, ...rules.map(({ rule }) => own(rule, 'then'))].filter((state) => state !== undefined),
  )
  const asked = rules.filter(({ rule }) => own(objectAt(rule, 'when'), 'state') !== undefined)
  const findings = asked.flatMap(({ rule, path }): Finding[] => {
    const state = own(objectAt(rule, 'when'), 'state')
    if (typeof state !== 'string' || reached.has(state)) return []
    const allowed = `a state that initial or then names (${[...reached].map(String).join(', ') || 'there is none'})`
    return [{ path: [...path, 'when', 'state'], found: shown(state), allowed }]
  })
  const [first] = rules.filter((written) => own(written.rule, 'then') !== undefined || asked.includes(written))
  if (initial !== undefined || !first) return findings
  const allowed = `the state to start in, because ${first.path.join(' ')} names a state (required)`
  return [...findings, { path: ['initial'], found: 'nothing', allowed }]
}

/** A window that is never open; a date and a duration cannot be compared before the scenario starts. */
function windowFindings(when: JsonObject, path: Path): Finding[] {
  const [from, until] = [timeOf(own(when, 'from')), timeOf(own(when, 'until'))]
  if (!from || !until) return []
  const dates = 'at' in from && 'at' in until && from.at >= until.at
  const durations = 'after' in from && 'after' in until && from.after >= until.after
  if (!dates && !durations) return []
  const allowed = `a time after from, which is ${shown(own(when, 'from'))}`
  return [{ path: [...path, 'until'], found: shown(own(when, 'until')), allowed }]
}

const COUNTERS = ['nth', 'first', 'every', 'after'] as const

/** Conditions that never hold together. */
function conditionFindings(when: JsonObject, path: Path): Finding[] {
  const has = (key: string): boolean => own(when, key) !== undefined
  const [one, ...more] = COUNTERS.filter(has)
  const findings = more.map((key): Finding => {
    const found = `${key} together with ${String(one)}`
    return { path: [...path, key], found, allowed: `one of ${COUNTERS.join(', ')}`, atKey: true }
  })
  if (has('times') && !has('after')) {
    const allowed = 'times together with after (for the first so many: first)'
    findings.push({ path: [...path, 'times'], found: 'times without after', allowed, atKey: true })
  }
  return [...findings, ...windowFindings(when, path)]
}
