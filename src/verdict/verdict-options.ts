import { type Allowance, readAllowance } from './allowance.ts'

/** So many at least, or such a part of all. */
export type Threshold = { readonly count: number } | { readonly percent: number }

export interface VerdictOptions {
  readonly allow?: readonly Allowance[]
  readonly minOperations?: Threshold | undefined
  readonly minStatuses?: Threshold | undefined
}

/** The same as it is asked for: `execute_tool:tool_input`, `12`, `80%`. */
export interface AskedOptions {
  readonly allow?: readonly string[] | undefined
  readonly minOperations?: string | number | undefined
  readonly minStatuses?: string | number | undefined
}

/** One of the options cannot be read; whoever asked for it knows its name. */
export class VerdictOptionError extends Error {
  override readonly name = 'VerdictOptionError'

  constructor(
    readonly option: keyof AskedOptions,
    readonly found: string | number,
    readonly expected: string,
  ) {
    super(`${option}: found ${JSON.stringify(found)}, expected ${expected}`)
  }
}

/** @throws VerdictOptionError */
export function readVerdictOptions({ allow = [], minOperations, minStatuses }: AskedOptions): VerdictOptions {
  return {
    allow: allow.map((text) => {
      const read = readAllowance(text)
      if ('expected' in read) throw new VerdictOptionError('allow', text, read.expected)
      return read
    }),
    minOperations: thresholdOf('minOperations', minOperations),
    minStatuses: thresholdOf('minStatuses', minStatuses),
  }
}

function thresholdOf(option: keyof AskedOptions, asked: string | number | undefined): Threshold | undefined {
  if (asked === undefined) return undefined
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(String(asked)) ?? []
  const number = Number(digits)
  const isRead = digits !== undefined && (percent === '' || number <= 100)
  if (!isRead) throw new VerdictOptionError(option, asked, 'a whole number, or a percentage from 0% to 100%')
  return percent === '' ? { count: number } : { percent: number }
}
