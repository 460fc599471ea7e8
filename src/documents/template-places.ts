import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import { type Finding, type Path, shown } from './problem.ts'

/** What is wrong with a template, in one sentence; `roots` are the names that its paths may start with. */
export type CheckTemplate = (text: string, roots?: readonly string[]) => string | undefined

/** Where a connector document has templates, `*` being every item, and what they can see there. */
const PLACES: readonly { path: readonly string[]; roots: readonly string[] }[] = [
  { path: ['credentials', 'send', 'headers'], roots: ['credentials'] },
  { path: ['credentials', 'send', 'query'], roots: ['credentials'] },
  { path: ['tools', '*', 'call', 'path'], roots: ['input', 'account'] },
  { path: ['tools', '*', 'call', 'query'], roots: ['input', 'account'] },
  { path: ['tools', '*', 'call', 'headers'], roots: ['input', 'account'] },
  { path: ['tools', '*', 'call', 'body'], roots: ['input', 'account'] },
  { path: ['tools', '*', 'result'], roots: ['response', 'input', 'account'] },
  { path: ['responders', '*', 'respond', 'headers'], roots: ['request', 'account', 'person'] },
  { path: ['responders', '*', 'respond', 'body'], roots: ['request', 'account', 'person'] },
  { path: ['responders', '*', 'sequence', '*', 'headers'], roots: ['request', 'account', 'person'] },
  { path: ['responders', '*', 'sequence', '*', 'body'], roots: ['request', 'account', 'person'] },
]

/** Every template of a connector document that cannot be read. */
export function templateFindings(document: JsonObject, check: CheckTemplate): Finding[] {
  return PLACES.flatMap(({ path, roots }) =>
    places(document, path).flatMap((place) =>
      texts(place.value, place.path).flatMap(({ text, path: at }): Finding[] => {
        const fault = check(text, roots)
        return fault === undefined
          ? []
          : [{ path: at, found: shown(text), allowed: `a template that can be read; ${fault}` }]
      }),
    ),
  )
}

interface Place {
  path: Path
  value: JsonValue
}

function places(value: JsonValue | undefined, path: readonly string[], base: Path = []): Place[] {
  const [head, ...rest] = path
  if (value === undefined) return []
  if (head === undefined) return [{ path: base, value }]
  if (head === '*') return Array.isArray(value) ? value.flatMap((item, at) => places(item, rest, [...base, at])) : []
  return isJsonObject(value) && Object.hasOwn(value, head) ? places(value[head], rest, [...base, head]) : []
}

function texts(value: JsonValue, base: Path): { text: string; path: Path }[] {
  if (typeof value === 'string') return [{ text: value, path: base }]
  if (Array.isArray(value)) return value.flatMap((item, at) => texts(item, [...base, at]))
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => texts(item, [...base, key])) : []
}
