import { ERROR_CATALOGUE, TOKEN_ERRORS } from '../domain/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { type Finding, type Path, shown } from './problem.ts'
import { items, type ScenarioSurroundings, type WrittenRule } from './scenario-rule.ts'

/** Faults that are the end of a request: a rule has at most one of them. */
const ENDINGS = ['respond', 'timeout', 'reset_connection', 'empty_response'] as const
/** Faults in how an answer is delivered, which needs an answer; at most one of them. */
const DELIVERIES = ['truncate_body', 'malformed_json', 'slow_body'] as const

/** What may be injected at any operation, declared or not (1.4). */
const ANYWHERE: readonly number[] = [429, 500, 503, 504]

/** What is wrong with what a rule does: nothing, several things at once, an answer that its operation never gives. */
export function faultFindings(written: WrittenRule, around: ScenarioSurroundings): Finding[] {
  const { rule, path } = written
  const faults = items(own(rule, 'do')).map((item, index) => ({ item, path: [...path, 'do', index] }))
  if (faults.length === 0) {
    if (own(rule, 'then') !== undefined) return []
    return [{ path: [...path, 'do'], found: 'nothing to do', allowed: 'at least one fault, or a state behind then' }]
  }
  return [
    ...faults.flatMap(({ item, path: at }) => countFindings(item, at)),
    ...contradictions(faults),
    ...faults.flatMap(({ item, path: at }) => placeFindings(item, at, written)),
    ...faults.flatMap(({ item, path: at }) => respondFindings(item, [...at, 'respond'], written, around)),
    ...faults.flatMap(({ item, path: at }) => latencyFindings(item, [...at, 'latency'])),
  ]
}

function countFindings(item: JsonValue, path: Path): Finding[] {
  const kinds = isJsonObject(item) ? Object.keys(item) : ['']
  if (kinds.length === 1) return []
  const found = kinds.length === 0 ? 'no fault' : kinds.join(' and ')
  return [{ path, found, allowed: 'one fault in each item of do' }]
}

interface Item {
  item: JsonValue
  path: Path
}

function contradictions(faults: readonly Item[]): Finding[] {
  const kinds = faults.flatMap(({ item, path }) =>
    isJsonObject(item) ? Object.keys(item).map((kind) => ({ kind, path })) : [],
  )
  const endings = kinds.filter(({ kind }) => (ENDINGS as readonly string[]).includes(kind))
  const deliveries = kinds.filter(({ kind }) => (DELIVERIES as readonly string[]).includes(kind))
  const [ending] = endings
  const unanswered = ending && ending.kind !== 'respond' ? deliveries : deliveries.slice(1)
  const other = ending && ending.kind !== 'respond' ? ending : deliveries[0]
  const told = [
    ...endings.slice(1).map((each) => ({ each, other: ending })),
    ...unanswered.map((each) => ({ each, other })),
  ]
  return told.map(({ each, other: before }) => ({
    path: [...each.path, each.kind],
    found: `${each.kind} together with ${before?.kind ?? ''}`,
    allowed: `at most one of ${ENDINGS.join(', ')}, and with an answer at most one of ${DELIVERIES.join(', ')}`,
    atKey: true,
  }))
}

/** The answer of a consent is a redirect of the browser: there is no body to break. */
function placeFindings(item: JsonValue, path: Path, { at }: WrittenRule): Finding[] {
  if (!isJsonObject(item) || at !== 'consent') return []
  return Object.keys(item)
    .filter((kind) => [...ENDINGS.slice(1), ...DELIVERIES].includes(kind as (typeof DELIVERIES)[number]))
    .map((kind) => ({
      path: [...path, kind],
      found: `${kind} at consent`,
      allowed: 'respond with an OAuth error, latency, and the faults on the model',
      atKey: true,
    }))
}

function latencyFindings(item: JsonValue, path: Path): Finding[] {
  const latency = isJsonObject(item) ? own(item, 'latency') : undefined
  if (!isJsonObject(latency)) return []
  const [min, max] = [own(latency, 'min'), own(latency, 'max')]
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return []
  return [{ path: [...path, 'max'], found: shown(max), allowed: `at least min, which is ${min}` }]
}

function respondFindings(item: JsonValue, path: Path, written: WrittenRule, around: ScenarioSurroundings): Finding[] {
  const respond = isJsonObject(item) ? own(item, 'respond') : undefined
  if (!isJsonObject(respond)) return []
  const status = own(respond, 'status')
  if (written.at === 'consent') return consentFindings(respond, path)
  const headers = headerFindings(respond, path)
  if (headers.length > 0) return headers
  if (status === undefined) return [{ path: [...path, 'status'], found: 'nothing', allowed: 'a status (required)' }]
  if (written.at !== 'service') {
    return ['error_code', 'message'].flatMap((key) => onlyAtService(respond, key, path, written.at))
  }
  if (typeof status !== 'number' || own(written.rule, 'off_spec') === true) return []
  const declared = declaredStatuses(written, around)
  if (!declared) return []
  const allowed = [...new Set([...declared, ...ANYWHERE])].sort((a, b) => a - b)
  if (!allowed.includes(status)) {
    const of = written.operation ?? 'every operation (the rule names none)'
    const words = `a status that spec/openapi.yaml declares for ${of}: ${allowed.join(', ')}; anything with off_spec: true`
    return [{ path: [...path, 'status'], found: String(status), allowed: words }]
  }
  return [...bodyFindings(respond, status, path), ...codeFindings(respond, status, path, written)]
}

/** Names and values that can travel, and none that says how long the body is: that follows from the body. */
function headerFindings(respond: JsonObject, path: Path): Finding[] {
  const headers = own(respond, 'headers')
  if (!isJsonObject(headers)) return []
  return Object.entries(headers).flatMap(([name, value]): Finding[] => {
    const at = [...path, 'headers', name]
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /^(?:content-length|transfer-encoding)$/i.test(name)) {
      return [
        { path: at, found: `the header ${name}`, allowed: 'names of headers that do not frame the body', atKey: true },
      ]
    }
    // Tab, and the visible characters of Latin-1.
    const sane = typeof value !== 'string' || /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)
    return sane ? [] : [{ path: at, found: shown(value), allowed: 'one line of Latin-1 text' }]
  })
}

function onlyAtService(respond: JsonObject, key: string, path: Path, at: string): Finding[] {
  if (own(respond, key) === undefined) return []
  const allowed = 'status, headers and body; what a third party answers has no form of ours'
  return [{ path: [...path, key], found: `${key} at ${at}`, allowed, atKey: true }]
}

/** RFC 6749 4.1.2.1: a consent answers with an error and its description. */
function consentFindings(respond: JsonObject, path: Path): Finding[] {
  const body = own(respond, 'body')
  const error = isJsonObject(body) ? own(body, 'error') : undefined
  const extra = ['status', 'error_code', 'headers'].filter((key) => own(respond, key) !== undefined)
  return [
    ...extra.map((key): Finding => {
      const allowed = 'body, with the OAuth error that the redirect carries'
      return { path: [...path, key], found: `${key} at consent`, allowed, atKey: true }
    }),
    ...(typeof error === 'string' && error !== ''
      ? []
      : [{ path: [...path, 'body', 'error'], found: shown(error), allowed: 'an OAuth error such as access_denied' }]),
  ]
}

/** What the operation declares; for a rule without one, what all of them declare. Undefined for an unknown operation. */
function declaredStatuses(
  { operation }: WrittenRule,
  { operations }: ScenarioSurroundings,
): readonly number[] | undefined {
  if (operation !== undefined) return operations.get(operation)
  const [first = [], ...others] = operations.values()
  return first.filter((status) => others.every((statuses) => statuses.includes(status)))
}

function bodyFindings(respond: JsonObject, status: number, path: Path): Finding[] {
  if (status >= 400 || own(respond, 'body') !== undefined) return []
  const allowed = `a body, because ${status} is no error and has no default (required)`
  return [{ path: [...path, 'body'], found: 'nothing', allowed }]
}

/** `error_code` has to be one of the spec's for this status (G16; G14 for the token endpoint). */
function codeFindings(respond: JsonObject, status: number, path: Path, { operation }: WrittenRule): Finding[] {
  const code = own(respond, 'error_code')
  if (typeof code !== 'string') return []
  const isToken = operation === 'create_token' && (status === 400 || status === 401)
  const known: string[] = isToken
    ? [...TOKEN_ERRORS]
    : Object.entries(ERROR_CATALOGUE).flatMap(([name, entry]) => (entry.status === status ? [name] : []))
  if (known.includes(code)) return []
  const words = `one of the spec's for ${status}: ${known.join(', ') || 'there is none'}; anything with off_spec: true`
  return [{ path: [...path, 'error_code'], found: shown(code), allowed: words }]
}
