import { ROUTES } from '../contract/route.ts'
import { nearest } from '../domain/suggestion.ts'

/** The name under which unknown paths are allowed. */
export const UNKNOWN_PATH = 'unknown_path'

/** What a test suite provokes on purpose: `--allow-violation OPERATION[:FIELD]`, `--allow-violation unknown_path[:/PATH]`. */
export interface Allowance {
  readonly operation: string
  /** With everything inside it, or below it; null for every one. */
  readonly field: string | null
}

/** Reads `OPERATION[:FIELD]`, or says what would have been allowed. */
export function readAllowance(text: string): Allowance | { readonly expected: string } {
  if (text.includes(',') && !text.startsWith(`${UNKNOWN_PATH}:`)) {
    return { expected: 'one of them, without a comma; several are given one by one' }
  }
  const at = text.indexOf(':')
  const operation = at === -1 ? text : text.slice(0, at)
  const field = at === -1 ? null : text.slice(at + 1)
  const names = [...ROUTES.map((route) => route.operation), UNKNOWN_PATH]
  if (!names.some((name) => name === operation)) {
    const meant = nearest(operation, names)
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`
    return { expected: `an operation, alone or with :FIELD${hint} Allowed are ${names.join(', ')}` }
  }
  if (field === '') return { expected: `${operation} alone, or with the name of a field after the colon` }
  if (operation === UNKNOWN_PATH && field !== null && !field.startsWith('/')) {
    return { expected: `${UNKNOWN_PATH} alone, or with a path that begins with / after the colon` }
  }
  return { operation, field }
}

/** Whether it is about what a request did: at a field, or at a path that is not served. */
export function allows({ operation, field }: Allowance, about: { operation: string; path: string }): boolean {
  if (operation !== about.operation) return false
  if (field === null) return true
  return operation === UNKNOWN_PATH ? isBelow(about.path, field) : isInside(anyItem(about.path), anyItem(field))
}

function isBelow(path: string, allowed: string): boolean {
  return path === allowed || path.startsWith(allowed.endsWith('/') ? allowed : `${allowed}/`)
}

function isInside(path: string, allowed: string): boolean {
  return path === allowed || path.startsWith(`${allowed}.`) || path.startsWith(`${allowed}[`)
}

function anyItem(path: string): string {
  return path.replace(/\[\d+\]/g, '[]')
}
