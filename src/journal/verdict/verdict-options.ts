import { DECLARED_CODES } from '../../model/contract/generated/field-tables.ts'
import { type Route, ROUTES, type RouteSwitches, servedRoutes } from '../../model/contract/route.ts'
import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import type { Finding } from '../../model/domain/finding.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import { UNKNOWN_PATH } from '../request-journal/findings.ts'

export type { RouteSwitches }

/** A violation that a test suite provokes on purpose: `--allow-violation OPERATION[:FIELD]` or `unknown_path[:/PATH]`. */
export interface ParsedAllowance {
  readonly operation: string
  /** A field with everything inside it, or a path with everything below it; null for all. */
  readonly field: string | null
  /** Why it is allowed, where somebody wrote it down. */
  readonly reason?: string
}

/** Reads `OPERATION[:FIELD]`, or says what it must be. */
export function readAllowance(text: string): ParsedAllowance | { readonly expected: string } {
  if (text.includes(',') && !text.startsWith(`${UNKNOWN_PATH}:`)) {
    return { expected: 'one operation without a comma; repeat the option for several' }
  }
  const at = text.indexOf(':')
  const operation = at === -1 ? text : text.slice(0, at)
  const field = at === -1 ? null : text.slice(at + 1)
  const names = [...ROUTES.map((route) => route.operation), PROXY_REQUEST, UNKNOWN_PATH]
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

/** Whether an allowance covers a violation at a field, or an unserved path. */
export function allowsFinding({ operation, field }: ParsedAllowance, finding: Finding): boolean {
  if (finding.code === 'mock_answer' || operation !== (finding.operation ?? finding.code)) return false
  if (field === null) return true
  const [, path = ''] = finding.field.split(' ')
  return operation === UNKNOWN_PATH ? isBelow(path, field) : isInside(anyItem(finding.field), anyItem(field))
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

/** A minimum: a number, or a percentage of all. */
export type Threshold = { readonly count: number } | { readonly percent: number }

/** Which warnings fail a verdict: all of them, or fields and parameters that nothing reads. */
const FAIL_ON = ['warning', 'unread'] as const
type FailOn = (typeof FAIL_ON)[number]

export interface VerdictOptions {
  readonly allow?: readonly ParsedAllowance[]
  readonly failOn?: FailOn | undefined
  readonly minOperations?: Threshold | undefined
  readonly minStatuses?: Threshold | undefined
  readonly requireRequests?: boolean | undefined
  /** Of one test, whose requests may all have to be refused for their credentials. */
  readonly perTest?: boolean | undefined
}

/** The options as text: `execute_tool:tool_input`, `12`, `80%`. */
export interface VerdictOptionTexts {
  readonly allow?: readonly string[] | undefined
  /** Why each is allowed, by its text. */
  readonly reasons?: ReadonlyMap<string, string> | undefined
  readonly failOn?: string | undefined
  readonly minOperations?: string | number | undefined
  readonly minStatuses?: string | number | undefined
  readonly allowNoRequests?: boolean | undefined
}

export class VerdictOptionError extends Error {
  override readonly name = 'VerdictOptionError'

  constructor(
    readonly option: Exclude<keyof VerdictOptionTexts, 'reasons'>,
    readonly value: string | number,
    readonly expected: string,
  ) {
    super(`${option} must be ${expected}; found ${JSON.stringify(value)}`)
  }
}

/** No minimum may be beyond what a server with these switches serves. */
export function readVerdictOptions(
  { allow = [], reasons, failOn, minOperations, minStatuses, allowNoRequests = false }: VerdictOptionTexts,
  switches?: RouteSwitches,
): VerdictOptions {
  const served = switches ? servedRoutes(switches) : ROUTES
  const fails = FAIL_ON.find((each) => each === failOn)
  if (failOn !== undefined && fails === undefined) {
    throw new VerdictOptionError('failOn', failOn, `one of ${FAIL_ON.join(', ')}`)
  }
  return {
    requireRequests: !allowNoRequests,
    failOn: fails,
    allow: allow.map((text) => {
      const read = readAllowance(text)
      if ('expected' in read) throw new VerdictOptionError('allow', text, read.expected)
      const reason = reasons?.get(text)
      return reason === undefined ? read : { ...read, reason }
    }),
    minOperations: thresholdOf('minOperations', minOperations, served.length),
    minStatuses: thresholdOf('minStatuses', minStatuses, declaredStatusCount(served)),
  }
}

function declaredStatusCount(routes: readonly Route[]): number {
  return routes.reduce((sum, { operation }) => sum + Object.keys(DECLARED_CODES[operation] ?? {}).length, 0)
}

/** `all`: how many there are, beyond which no verdict could pass. */
function thresholdOf(
  option: 'minOperations' | 'minStatuses',
  text: string | number | undefined,
  all: number,
): Threshold | undefined {
  if (text === undefined) return undefined
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(String(text)) ?? []
  const number = Number(digits)
  const isRead = digits !== undefined && number <= (percent === '' ? all : 100)
  if (!isRead) {
    throw new VerdictOptionError(option, text, `a whole number from 0 to ${all}, or a percentage from 0% to 100%`)
  }
  return percent === '' ? { count: number } : { percent: number }
}
