import type { JsonObject } from './json.ts'
import { percentDecoded } from './text.ts'
import { matchesGlob } from './value-match.ts'

/* Patterns of paths: `/items/{id}`, whose parts are `{name}`, or text in which * matches anything. */

/** The methods that tools call with, and that responders answer. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The decoded parts of a path; undefined when one is not well-formed. */
export function pathParts(path: string): readonly string[] | undefined {
  const parts = path.split('/').slice(1).map(percentDecoded)
  return parts.every((part) => part !== undefined) ? parts : undefined
}

/** Part by part: `{name}` captures a part, anything else is a glob for it. */
export function matchPath(pattern: string, path: readonly string[]): JsonObject | undefined {
  const wanted = pattern.split('/').slice(1)
  if (wanted.length !== path.length) return undefined
  let captured: JsonObject | undefined
  for (const [at, part] of wanted.entries()) {
    const segment = path[at] ?? ''
    if (isCapture(part)) {
      if (segment === '') return undefined
      captured ??= Object.create(null) as JsonObject
      captured[part.slice(1, -1)] = segment
    } else if (!matchesGlob(part, segment)) return undefined
  }
  return captured ?? NO_CAPTURES
}

export const NO_CAPTURES: JsonObject = Object.freeze(Object.create(null) as JsonObject)

/** Whether there is a path that both patterns match; of two parts with `*` this is assumed. */
export function pathsOverlap(one: string, another: string): boolean {
  const [parts, others] = [one.split('/'), another.split('/')]
  return parts.length === others.length && parts.every((part, at) => partsOverlap(part, others[at] ?? ''))
}

export function partsOverlap(one: string, another: string): boolean {
  if (isCapture(one) || isCapture(another)) return one !== '' && another !== ''
  return (one.includes('*') && another.includes('*')) || matchesGlob(one, another) || matchesGlob(another, one)
}

function isCapture(part: string): boolean {
  return part.length > 2 && part.startsWith('{') && part.endsWith('}')
}
