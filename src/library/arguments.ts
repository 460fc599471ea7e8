import { inspect } from 'node:util'
import { ToolmockError } from './toolmock-error.ts'

/** What an argument may be. */
export interface Kind {
  readonly allowed: string
  readonly fits: (value: unknown) => boolean
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const TEXT: Kind = { allowed: 'a text that is not empty', fits: isText }
export const TEXTS: Kind = {
  allowed: 'a list of texts that are not empty',
  fits: (value) => Array.isArray(value) && value.every(isText),
}
export const SWITCH: Kind = { allowed: 'true or false', fits: (value) => typeof value === 'boolean' }
/** Whoever reads it further on says what is allowed. */
export const ANYTHING: Kind = { allowed: 'anything', fits: () => true }

export function whole(least: number, most: number): Kind {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  }
}

export function oneOf(...words: readonly string[]): Kind {
  return { allowed: `one of ${words.join(', ')}`, fits: (value) => isText(value) && words.includes(value) }
}

/**
 * Holds what a method is given against the names that it knows: in plain JavaScript no compiler has, and a slip in a name would be
 * passed over in silence. Undefined is the same as absent.
 * @throws ToolmockError INVALID_ARGUMENT
 */
export function checkNamed(method: string, given: unknown, kinds: Readonly<Record<string, Kind>>): void {
  const names = Object.keys(kinds)
  if (given === null || typeof given !== 'object') {
    throw invalidArgument(`${method} takes an object with ${names.join(', ')}; found ${shown(given)}`)
  }
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (!kind) throw invalidArgument(`${method} has no option ${JSON.stringify(name)}; it has ${names.join(', ')}`)
    if (value !== undefined && !kind.fits(value)) {
      throw invalidArgument(`${method}: ${name} is ${shown(value)}; allowed: ${kind.allowed}`)
    }
  }
}

export function invalidArgument(message: string): ToolmockError {
  return new ToolmockError('INVALID_ARGUMENT', message)
}

/** A value in a message: no longer than anybody reads, and whatever it is. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity })
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
