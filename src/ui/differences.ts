import { isJsonObject, type JsonValue } from '../domain/json.ts'
import type { Request } from './api.ts'
import { stepsOf } from './request-steps.ts'

/** A place in which two requests differ; undefined where one of them has nothing. */
export interface Difference {
  readonly where: string
  readonly one: JsonValue | undefined
  readonly other: JsonValue | undefined
  /** Ids and times differ between any two requests. */
  readonly isIdentity: boolean
}

export interface Comparison {
  readonly request: readonly Difference[]
  readonly answer: readonly Difference[]
  readonly happened: readonly Difference[]
}

export function compared(one: Request, other: Request): Comparison {
  const sides = (of: (request: Request) => unknown): Difference[] => differences('', of(one), of(other))
  return {
    request: sides(({ method, path, query, client, protocol, request: { headers, body } }) => {
      return { method, path, query, client, protocol, headers, body }
    }),
    answer: sides(({ status, error_code, response: { headers, body } }) => ({ status, error_code, headers, body })),
    happened: steps(one, other),
  }
}

function differences(where: string, one: unknown, other: unknown): Difference[] {
  // A tree beside nothing differs in each of its leaves.
  const trees = [one, other].filter((each) => each !== undefined && each !== null)
  const areLists = trees.every(Array.isArray)
  if (trees.length > 0 && (areLists || trees.every(isJsonObject))) {
    const [a, b] = [one, other].map((each) => new Map(Object.entries(each ?? {}))) as [
      Map<string, unknown>,
      Map<string, unknown>,
    ]
    return [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
      const place = areLists ? `${where}[${key}]` : where === '' ? key : `${where}.${key}`
      return differences(place, a.get(key), b.get(key))
    })
  }
  if (Object.is(one, other) || (one ?? null) === (other ?? null)) return []
  const isIdentity = isIdentityPlace.test(where) || (isIdentityValue(one) && isIdentityValue(other))
  return [{ where, one: one as JsonValue, other: other as JsonValue, isIdentity }]
}

/** Headers that differ because the bodies or the ids do. */
const isIdentityPlace = /^headers\.(x-request-id|content-length|date|etag|authorization)$/

/** Generated ids (`req_77lrm3fhyxk5`), UUIDs and times. */
const IDENTITY = /^([a-z]+_[a-z0-9]{12,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/i

function isIdentityValue(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && IDENTITY.test(value))
}

/** The steps of one that the other does not have, beside each other. How long a step took is no difference. */
function steps(one: Request, other: Request): Difference[] {
  const [a, b] = [one, other].map((request) =>
    stepsOf(request).map(({ from, to, text, detail = '' }) => {
      const known = detail.replace(/( · )?after [^·]*$/, '')
      return `${from === to ? from : `${from} → ${to}`}: ${text}${known === '' ? '' : ` (${known})`}`
    }),
  ) as [string[], string[]]
  const onlyIn = (list: string[], rest: string[]): string[] => list.filter((step) => !take(rest, step))
  const [mine, theirs] = [onlyIn(a, [...b]), onlyIn(b, [...a])]
  return Array.from({ length: Math.max(mine.length, theirs.length) }, (_, at) => {
    return { where: `difference ${at + 1}`, one: mine[at], other: theirs[at], isIdentity: false }
  })
}

/** Removes a step from the list. @returns whether it was there */
function take(list: string[], step: string): boolean {
  const at = list.indexOf(step)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
