import { type JsonValue, nesting } from '../domain/json.ts'
import { KEPT } from './entry.ts'
import { type DocumentName, maskJson, maskParameters, maskText } from './masking.ts'

/** How much of a body is not there any more, in words; undefined for one that is whole. */
export function truncation(text: string, size: number): string | undefined {
  if (size > KEPT) return `the body had ${size} bytes; the first ${text.length} characters are kept`
  return text.length >= KEPT ? `the first ${text.length} characters of the body are kept` : undefined
}

/** Whoever walks a deeper value runs out of stack; no operation takes one, so that it is as good as no JSON. */
const MOST_LEVELS = 500

/** What a kept body says: JSON as a value, also where its end is missing; undefined for what is no JSON. */
export function parsedBody(text: string): JsonValue | undefined {
  if (text.length > MOST_LEVELS && nesting(text) > MOST_LEVELS) return undefined
  return parsed(text) ?? (text.length >= SHORTEST_CUT ? parsed(closed(text)) : undefined)
}

/** What was cut by bytes is as many characters only where each of them is one byte. */
const SHORTEST_CUT = KEPT / 4

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** A body with its secrets masked, read by its media type. */
export function shownBody(
  text: string,
  mediaType: string,
  everySecret: boolean,
  documentName?: DocumentName,
): JsonValue {
  if (text === '') return null
  if (mediaType.includes('x-www-form-urlencoded')) {
    return maskParameters(new URLSearchParams(text), everySecret) as JsonValue
  }
  const json = parsedBody(text)
  return json === undefined ? maskText(text) : maskJson(json, false, documentName)
}

/** JSON text that breaks off somewhere, cut back to its last whole member and closed; whole text stays as it is. */
function closed(text: string): string {
  const closers: string[] = []
  let safe = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (quoted) {
      if (char === '\\') at++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']')
      safe = at + 1
    } else if (char === '}' || char === ']') {
      closers.pop()
      safe = at + 1
    } else if (char === ',') safe = at
  }
  return closers.length === 0 ? text : text.slice(0, safe) + closers.reverse().join('')
}
