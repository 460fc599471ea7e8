import { inspect } from 'node:util'
import { maskUrl } from '../../model/domain/masking.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { shorten } from '../../model/domain/text.ts'
import { ToolmockError } from './toolmock-error.ts'

/** What the value of an option may be. */
export interface Rule {
  readonly allowed: string
  readonly accepts: (value: unknown) => boolean
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const TEXT: Rule = { allowed: 'a text that is not empty', accepts: isText }
export const TEXTS: Rule = {
  allowed: 'a list of texts that are not empty',
  accepts: (value) => Array.isArray(value) && value.every(isText),
}
export const BOOLEAN: Rule = { allowed: 'true or false', accepts: (value) => typeof value === 'boolean' }
/** The value is checked where it is used. */
export const ANYTHING: Rule = { allowed: 'anything', accepts: () => true }

export function wholeNumberRule(min: number, max: number): Rule {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    accepts: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  }
}

export function oneOf(...values: readonly string[]): Rule {
  return { allowed: `one of ${values.join(', ')}`, accepts: (value) => isText(value) && values.includes(value) }
}

/**
 * Checks the options of a method: in plain JavaScript no compiler does, and a misspelt name would be ignored. Undefined is the
 * same as absent.
 * @throws ToolmockError INVALID_ARGUMENT
 */
export function checkOptions(method: string, options: unknown, rules: Readonly<Record<string, Rule>>): void {
  const names = Object.keys(rules).join(', ')
  if (options === null || typeof options !== 'object') {
    throw invalidArgument(`${method} takes an object with ${names}; found ${argumentText(options)}`)
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!rule) {
      const meant = didYouMean(name, Object.keys(rules))
      throw invalidArgument(`${method} has no option ${JSON.stringify(name)}${meant}; it has ${names}`)
    }
    if (value !== undefined) checkArgument(method, name, value, rule)
  }
}

/** @throws ToolmockError INVALID_ARGUMENT */
export function checkArgument(method: string, name: string, value: unknown, { allowed, accepts }: Rule): void {
  if (!accepts(value)) throw invalidArgument(`${method}: ${name} is ${argumentText(value)}; allowed: ${allowed}`)
}

export function invalidArgument(message: string): ToolmockError {
  return new ToolmockError('INVALID_ARGUMENT', message)
}

/** Any value in a message, the user and password of an address masked. */
export function argumentText(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(maskUrl(value)) : inspect(value, { depth: 1, breakLength: Infinity })
  return shorten(text, 80)
}
