import { isJsonObject, type JsonObject, type JsonValue, objectAt, ownMember } from '../model/domain/json.ts'
import type { Scenario } from '../model/domain/scenario.ts'
import { Hints, listAllowed } from '../model/domain/suggestion.ts'
import { percentDecoded } from '../model/domain/text.ts'
import { type Problem, type Path, problemValue, valuesAt } from '../model/schema/problems.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { documentText } from './document-text.ts'
import { DocumentError } from './problem.ts'
import { anotherKind, readConfigDocument, soundDocument } from './read.ts'
import { toScenario } from './scenario.ts'
import type { KnownConnectors } from './seed-checks.ts'
import { SourceText } from './source-text.ts'
import type { TextFile } from './text-files.ts'

/** Undefined connectors leave out what it is about. @throws DocumentError with everything that is wrong with it */
export async function parseScenario(
  { text, file }: TextFile,
  checks: DocumentChecks,
  connectors: KnownConnectors | undefined,
): Promise<Scenario> {
  const read = await readConfigDocument(text, file, checks)
  if (read.kind !== 'scenario') throw anotherKind(read, 'a scenario: name, description, initial, rules')
  const document = soundDocument(read, connectors ? checkScenario(read.source.value, checks, connectors) : [])
  return { ...toScenario(document), text }
}

/** What a scenario takes in place of its own, and where its rules have that. */
const PARAMETERS: Readonly<Record<string, readonly Path[]>> = {
  tool: [['tool']],
  connector: [['connector'], ['account', 'connector']],
  identifier: [['account', 'identifier']],
}

/** `tool=crm_find&identifier=*`; a tool elsewhere needs its connector too. @throws DocumentError for one of no rule */
export function scenarioWithParameters({ file, text }: TextFile, parameters: string): TextFile {
  const document = new SourceText(text, file).value
  // A plus is a plus, unlike in a form: identifiers have them.
  const values = Object.fromEntries(
    parameters.split('&').map((pair) => {
      const [, name = pair, value = ''] = /^(.*?)=(.*)$/s.exec(pair) ?? []
      return [name, percentDecoded(value) ?? value]
    }),
  )
  const rules = valuesAt(document, ['rules', '*', 'on']).flatMap(({ value }) => (isJsonObject(value) ? [value] : []))
  const placesOf = (name: string, matches: readonly JsonObject[]) =>
    matches.flatMap((on) =>
      (PARAMETERS[name] ?? []).flatMap((path) => {
        const owner = path.length === 1 ? on : objectAt(on, 'account')
        const key = String(path.at(-1))
        return ownMember(owner, key) === undefined ? [] : [{ owner, key }]
      }),
    )
  const taken = Object.keys(PARAMETERS).filter((name) => placesOf(name, rules).length > 0)
  if (values['tool'] !== undefined && values['connector'] === undefined) {
    const ofTools = rules.filter((on) => ownMember(on, 'tool') !== undefined)
    for (const { owner, key } of placesOf('connector', ofTools)) Reflect.deleteProperty(owner, key)
  }
  const name = `${file}?${parameters}`
  for (const [parameter, value] of Object.entries(values)) {
    if (!taken.includes(parameter)) {
      const allowed = taken.join(', ') || 'none, because no rule names a tool or an account'
      const problem = { path: [], subject: `the parameter ${parameter}`, found: 'unknown', allowed }
      throw new DocumentError([new SourceText(text, name).problem(problem)])
    }
    for (const { owner, key } of placesOf(parameter, rules)) owner[key] = value
  }
  return { file: name, text: documentText(document as JsonObject, name) }
}

/** What may be injected at any operation, declared or not (1.4). */
const STATUSES_OF_EVERY_OPERATION: readonly number[] = [429, 500, 503, 504]

/** Operations, connectors, tools and statuses in a scenario that there are not, however the rest of it is written. */
export function checkScenario(
  document: JsonValue,
  { operations }: DocumentChecks,
  connectors: KnownConnectors,
): Problem[] {
  const hints = new Hints()
  return valuesAt(document, ['rules', '*']).flatMap(({ path, value: rule }) => {
    if (!isJsonObject(rule)) return []
    const match = objectAt(rule, 'on')
    return [
      ...unknownName(ownMember(match, 'operation'), [...operations.keys()], [...path, 'on', 'operation'], hints),
      ...nameProblems(match, [...path, 'on'], connectors, hints),
      ...statusProblems(rule, match, path, operations),
    ]
  })
}

function nameProblems(on: JsonObject, path: Path, connectors: KnownConnectors, hints: Hints): Problem[] {
  const ofAccount = ownMember(objectAt(on, 'account'), 'connector')
  const connector = ownMember(on, 'connector') ?? ofAccount
  const described = typeof connector === 'string' ? connectors.get(connector) : undefined
  const tools = (described ? [described] : [...connectors.values()]).flatMap(
    (each) => each?.tools.map(({ name }) => name) ?? [],
  )
  return [
    // A glob may stand for names that come later.
    ...unknownName(withoutGlob(ownMember(on, 'connector')), [...connectors.keys()], [...path, 'connector'], hints),
    ...unknownName(withoutGlob(ofAccount), [...connectors.keys()], [...path, 'account', 'connector'], hints),
    ...unknownName(withoutGlob(ownMember(on, 'tool')), tools, [...path, 'tool'], hints),
  ]
}

function withoutGlob(name: JsonValue | undefined): JsonValue | undefined {
  return typeof name === 'string' && name.includes('*') ? undefined : name
}

/** A name that is none of these. */
export function unknownName(
  name: JsonValue | undefined,
  candidates: readonly string[],
  path: Path,
  hints: Hints,
): Problem[] {
  if (typeof name !== 'string' || name === '' || candidates.includes(name)) return []
  const allowed = candidates.length === 0 ? 'none, because there is none' : listAllowed(name, candidates, hints)
  return [{ path, found: `${problemValue(name)}${hints.didYouMean(name, candidates)}`, allowed }]
}

/** At the service, an injected status is one that the spec declares for the operation, unless the rule says `off_spec`. */
function statusProblems(
  rule: JsonObject,
  on: JsonObject,
  path: Path,
  operations: DocumentChecks['operations'],
): Problem[] {
  const mcp = ownMember(on, 'mcp')
  const isOfMcp = mcp !== undefined && mcp !== 'tools/call'
  if (ownMember(rule, 'at') !== 'service' || ownMember(rule, 'off_spec') === true || isOfMcp) return []
  const operation =
    ownMember(on, 'operation') ??
    (ownMember(on, 'tool') === undefined && mcp === undefined ? undefined : 'execute_tool')
  const declared = declaredStatuses(operation, operations)
  if (!declared) return []
  const allowed = [...new Set([...declared, ...STATUSES_OF_EVERY_OPERATION])].sort((a, b) => a - b)
  const statuses = valuesAt(ownMember(rule, 'do'), ['*', 'respond', 'status'], [...path, 'do'])
  return statuses.flatMap(({ path: at, value }): Problem[] => {
    if (typeof value !== 'number' || allowed.includes(value)) return []
    const of = typeof operation === 'string' ? operation : 'every operation (the rule names none)'
    const words = `a status that the contract declares for ${of}: ${allowed.join(', ')}; anything with off_spec: true`
    return [{ path: at, found: String(value), allowed: words }]
  })
}

/** What the operation declares; for a rule without one, what all of them declare. Undefined for an unknown operation. */
function declaredStatuses(
  operation: JsonValue | undefined,
  operations: DocumentChecks['operations'],
): readonly number[] | undefined {
  if (operation !== undefined) return typeof operation === 'string' ? operations.get(operation) : undefined
  const [first = [], ...others] = operations.values()
  return first.filter((status) => others.every((statuses) => statuses.includes(status)))
}
