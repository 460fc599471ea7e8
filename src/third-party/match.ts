import type { ResponderMatch } from '../domain/connector.ts'
import { matchesGlob } from '../domain/glob.ts'
import type { JsonObject } from '../domain/json.ts'
import { matchesValue, valueAt } from '../domain/value-match.ts'
import { asText } from './template-helpers.ts'

/** A request at the third party's API as responders match it and as their templates see it. */
export interface RequestView extends JsonObject {
  method: string
  /** Decoded. */
  path: string
  /** What `{name}` in the path captured. */
  params: JsonObject
  /** A list where a parameter was sent more than once. */
  query: JsonObject
  /** Names in lower case. */
  headers: JsonObject
}

/** The decoded parts of a request's path, so that an encoded slash stays inside its part. */
export type PathParts = readonly string[]

/** What a responder matched: the captures of its path; undefined when it does not match. */
export function matchResponder(
  on: ResponderMatch,
  request: RequestView,
  path: PathParts,
  account: JsonObject | null,
): JsonObject | undefined {
  if (on.method !== undefined && !matchesGlob(on.method.toUpperCase(), request.method)) return undefined
  const captured = on.path === undefined ? NO_CAPTURES : matchPath(on.path, path)
  if (!captured) return undefined
  const matches =
    every(on.query, (name, glob) => texts(request.query, name).some((text) => matchesGlob(glob, text))) &&
    every(on.headers, (name, glob) =>
      texts(request.headers, name.toLowerCase()).some((text) => matchesGlob(glob, text)),
    ) &&
    every(on.body, (at, wanted) => matchesValue(wanted, valueAt(request['body'], at))) &&
    every(on.account, (field, glob) => account !== null && matchesValue(glob, valueAt(account, field)))
  return matches ? captured : undefined
}

const NO_CAPTURES: JsonObject = Object.freeze(Object.create(null) as JsonObject)

/** Part by part: `{name}` captures a part, anything else is a glob for it. */
function matchPath(pattern: string, path: PathParts): JsonObject | undefined {
  const wanted = pattern.split('/').slice(1)
  if (wanted.length !== path.length) return undefined
  let captured: JsonObject | undefined
  for (const [at, part] of wanted.entries()) {
    const found = path[at] ?? ''
    if (isCapture(part)) {
      if (found === '') return undefined
      captured ??= Object.create(null) as JsonObject
      captured[part.slice(1, -1)] = found
    } else if (!matchesGlob(part, found)) return undefined
  }
  return captured ?? NO_CAPTURES
}

function isCapture(part: string): boolean {
  return part.length > 2 && part.startsWith('{') && part.endsWith('}')
}

function every<T>(wanted: Record<string, T> | undefined, holds: (key: string, value: T) => boolean): boolean {
  return wanted === undefined || Object.entries(wanted).every(([key, value]) => holds(key, value))
}

/** The values of a query parameter or header as texts. */
function texts(values: JsonObject, name: string): string[] {
  const found = Object.hasOwn(values, name) ? values[name] : undefined
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? found.map(asText) : [asText(found)]
}
