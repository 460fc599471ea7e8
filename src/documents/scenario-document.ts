import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { Fault, RuleMatch, Scenario, ScenarioRule } from '../domain/scenario.ts'
import type { RuleDocument, ScenarioDocument } from './scenario-schema.ts'

/** The scenario that a valid document describes, with every default filled in. */
export function toScenario(document: ScenarioDocument): Scenario {
  return {
    name: document.name,
    description: document.description,
    initial: document.initial ?? '',
    rules: document.rules.map(toRule),
  }
}

function toRule(document: RuleDocument): ScenarioRule {
  return {
    ...document,
    on: toMatch(document.on),
    when: present(document.when),
    do: document.do.flatMap(toFaults),
    then: document.then ?? null,
  }
}

/** The one fault of an item of `do`. */
function toFaults(item: RuleDocument['do'][number]): Fault[] {
  // The keys of an item are the kinds, each with the parameters of its own schema.
  return Object.entries(item).flatMap(([kind, params]) => (params === undefined ? [] : [{ kind, params } as Fault]))
}

function toMatch({ account, body, headers, ...on }: RuleDocument['on']): RuleMatch {
  return {
    ...present(on),
    ...(account && { account: present(account) }),
    ...(body && { body: Object.fromEntries(dottedPaths(body)) }),
    ...(headers && {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    }),
  }
}

/** Nested objects as dotted paths; lists and empty objects are values. */
function dottedPaths(object: JsonObject, prefix = ''): [string, JsonValue][] {
  return Object.entries(object).flatMap(([key, value]) =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? dottedPaths(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value] as [string, JsonValue]],
  )
}

/** The same object without keys that hold `undefined`. */
function present<T extends object>(object: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}
