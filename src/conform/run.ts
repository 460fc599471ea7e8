import { matchesGlob } from '../domain/glob.ts'
import { StartError } from '../domain/start-error.ts'
import { Api, type Client } from './api.ts'
import type { Check, CheckOutcome, CheckResult } from './check.ts'
import { CHECKS } from './checks/table.ts'
import { CheckContext } from './context.ts'
import { ControlApi } from './control-api.ts'
import { type Judge, Observed } from './judge.ts'
import { Broken, Skipped } from './verdict.ts'
import { Wire } from './wire.ts'

export interface ConformOptions {
  readonly baseUrl: string
  readonly client: Client
  /** What the names of everything that the run makes begin with: unique, and of characters that need no escaping. */
  readonly prefix: string
  readonly only?: readonly string[] | undefined
  /** Only checks with this basis. */
  readonly basis?: string | undefined
  readonly connector?: string | undefined
  readonly allowProviderChanges?: boolean | undefined
  /** Consent by the control API of a toolmock. */
  readonly controlApi?: boolean | undefined
  readonly adminToken?: string | undefined
  /** Judges the shape of every answer; without one, the checks of shapes are skipped. */
  readonly judge?: Judge | undefined
  readonly progress?: ((done: number, total: number, id: string) => void) | undefined
  /** Ends the run after the check under way; what it made is taken away all the same. */
  readonly signal?: AbortSignal | undefined
}

export interface ConformReport {
  readonly checks: readonly CheckOutcome[]
  readonly summary: Readonly<Record<'total' | CheckResult, number>>
  /** What the run made and could not take away again. */
  readonly leftBehind: number
}

/** Holds a target against the service's contract. @throws StartError when the target cannot be asked at all */
export async function conform(options: ConformOptions): Promise<ConformReport> {
  const checks = chosen(options)
  const observed = options.judge && new Observed(options.judge)
  const wire = new Wire(options.baseUrl, observed)
  const api = new Api(wire, options.client)
  const control = options.controlApi ? new ControlApi(wire, options.adminToken) : undefined
  try {
    await reach(options, api, control)
    const { prefix, connector, allowProviderChanges = false } = options
    const context = new CheckContext({ wire, api, observed, prefix, connector, control, allowProviderChanges })
    const outcomes = await runAll(checks, context, options)
    return { checks: outcomes, summary: summaryOf(outcomes), leftBehind: await clear(context, control) }
  } finally {
    wire.close()
  }
}

/** The checks that `only` and `basis` leave. @throws StartError when none is left */
function chosen({ only = [], basis }: ConformOptions): Check[] {
  const checks = CHECKS.filter(
    (check) =>
      (only.length === 0 || only.some((pattern) => matchesGlob(pattern, check.id))) &&
      (basis === undefined || check.basis.startsWith(`${basis}:`)),
  )
  if (checks.length > 0) return checks
  throw new StartError(
    `no check is called ${only.join(' or ')}${basis === undefined ? '' : ` with basis ${basis}`}; names are like ${CHECKS[0]?.id ?? ''}, and * stands for any part`,
  )
}

async function reach({ baseUrl }: ConformOptions, api: Api, control: ControlApi | undefined): Promise<void> {
  const told = (error: unknown): never => {
    const cause = error instanceof Error ? error.message || error.name : String(error)
    throw new StartError(`${baseUrl} cannot be checked: ${cause}`)
  }
  await api.token().catch(told)
  const health = await control?.call('GET', '/clock').catch(told)
  if (health && health.status !== 200)
    throw new StartError(
      `${baseUrl} has no control API to consent with: GET /_mock/clock answers ${health.status} ${health.text.slice(0, 200)}`,
    )
}

async function runAll(
  checks: readonly Check[],
  context: CheckContext,
  { progress, signal }: ConformOptions,
): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = []
  for (const check of checks) {
    progress?.(outcomes.length, checks.length, check.id)
    const aborted = signal?.aborted === true
    outcomes.push(aborted ? outcome(check, 'skipped', 'the run was interrupted') : await runOne(check, context))
  }
  return outcomes
}

async function runOne(check: Check, context: CheckContext): Promise<CheckOutcome> {
  try {
    await check.run(context)
    return outcome(check, 'held', '')
  } catch (error) {
    if (error instanceof Skipped) return outcome(check, 'skipped', error.message)
    if (error instanceof Broken) return outcome(check, 'broken', error.message)
    const cause = error instanceof Error ? error.message || error.name : String(error)
    return outcome(check, 'broken', `expected an answer that can be read, found ${cause}`)
  }
}

function outcome({ id, title, basis }: Check, result: CheckResult, reason: string): CheckOutcome {
  return { id, title, basis, result, reason }
}

function summaryOf(outcomes: readonly CheckOutcome[]): ConformReport['summary'] {
  const count = (result: CheckResult): number => outcomes.filter((each) => each.result === result).length
  return { total: outcomes.length, held: count('held'), broken: count('broken'), skipped: count('skipped') }
}

/** Takes away what the run has made. A check may have left the bearer token revoked or the server gone. */
async function clear(context: CheckContext, control: ControlApi | undefined): Promise<number> {
  try {
    const left = await context.ledger.clear()
    return left + ((await control?.clear()) ?? 0)
  } catch {
    return 1
  }
}
