import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import { type Finding, type Path, shown } from './problem.ts'

const ALLOWED = 'a value, or a glob in which * stands for any text'

/** Regular expressions, however they are put: what users write is never run as one (1.4). */
export function regexFindings(on: JsonObject, path: Path): Finding[] {
  return Object.entries(on).flatMap(([key, value]) => inValue(value, [...path, key]))
}

function inValue(value: JsonValue, path: Path): Finding[] {
  if (typeof value === 'string') {
    const isRegex = path.at(-1) === 'path' ? hasRegexMarks(value) : looksLikeRegex(value)
    return isRegex ? [{ path, found: `the regular expression ${shown(value)}`, allowed: ALLOWED }] : []
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => inValue(item, [...path, index]))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) =>
    REGEX_KEYS.has(key) && typeof item === 'string'
      ? [{ path: [...path, key], found: `the regular expression ${key}`, allowed: ALLOWED, atKey: true }]
      : inValue(item, [...path, key]),
  )
}

/** How other tools spell "match by regular expression". */
const REGEX_KEYS: ReadonlySet<string> = new Set(['regex', '$regex', 'regexp', 'matches', 'doesNotMatch'])

function looksLikeRegex(text: string): boolean {
  return /^\/.+\/[dgimsuvy]*$/s.test(text) || text.startsWith('^') || text.startsWith('.*') || hasClass(text)
}

/** A path starts with a slash and may end with one; brackets, bars and anchors are no part of it. */
function hasRegexMarks(text: string): boolean {
  return /[\\^$()|[\]]|\.\*|\.\+/.test(text)
}

/** `\d`, `\w+`, `[a-z]+`, `(?:…)`. */
function hasClass(text: string): boolean {
  return /\\[dDwWsSbB.]|\[[^\]]+\][*+?{]|\(\?/.test(text)
}
