import type { CredentialField } from '../domain/connector.ts'
import type { JsonObject } from '../domain/json.ts'

/** Longest value of one field in characters; keys and certificates that people paste into forms are shorter. */
export const MAX_VALUE = 8192

export interface FilledForm {
  /** What was entered, by field name; nothing for optional fields left empty. */
  values: Map<string, string>
  /** What is wrong with it, by field name. */
  problems: Map<string, string>
}

/** Reads the fields that the connector asks for from a sent form, and no others. */
export function readCredentials(fields: readonly CredentialField[], form: URLSearchParams): FilledForm {
  const values = new Map<string, string>()
  const problems = new Map<string, string>()
  for (const field of fields) {
    const value = form.get(field.name) ?? ''
    const problem = problemOf(field, value)
    if (problem) problems.set(field.name, problem)
    if (value !== '') values.set(field.name, value)
  }
  return { values, problems }
}

/** `static_auth.details` of what was entered. Names come from connector files: `__proto__` becomes a key like any other. */
export function detailsOf(values: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(values)
}

function problemOf(field: CredentialField, value: string): string | undefined {
  if (field.required && value.trim() === '') return `${field.label} is missing.`
  if (value.length > MAX_VALUE) {
    return `${field.label} has ${value.length} characters; ${MAX_VALUE} are the most.`
  }
  return undefined
}
