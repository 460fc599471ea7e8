import { matchesGlob } from '../../model/domain/value-match.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { failureReason } from '../../platform/http-client.ts'
import { Broken, Skipped } from './service-response.ts'
import type { Check, CheckOutcome, CheckResult } from './check.ts'
import { CHECKS } from './checks/table.ts'
import { CheckContext } from './context.ts'
import { ControlApi } from './control-api.ts'
import { Api, type ClientCredentials, ConformTarget } from './target.ts'

export interface ConformOptions {
  readonly baseUrl: string
  readonly client: ClientCredentials
  /** What the names of everything that the run creates start with: unique, of characters that need no escaping. */
  readonly prefix: string
  readonly only?: readonly string[] | undefined
  /** Only checks with this basis. */
  readonly basis?: 'document' | 'convention' | 'choice' | undefined
  readonly connector?: string | undefined
  readonly allowProviderChanges?: boolean | undefined
  /** Give consent and move the clock by the control API of a toolmock. */
  readonly controlApi?: boolean | undefined
  readonly adminToken?: string | undefined
  readonly progress?: ((done: number, total: number, id: string) => void) | undefined
  /** Ends the run after the current check; what the run created is removed all the same. */
  readonly signal?: AbortSignal | undefined
}

export interface ConformReport {
  readonly checks: readonly CheckOutcome[]
  readonly summary: Readonly<Record<'total' | CheckResult, number>>
  /** How many things the run created and could not remove. */
  readonly leftBehind: number
}

/** Checks a target against the service's contract. @throws StartError when the target cannot be reached at all */
export async function checkConformance(options: ConformOptions): Promise<ConformReport> {
  const checks = chosenChecks(options)
  const target = new ConformTarget(options.baseUrl, [])
  const api = new Api(target, options.client)
  const control = options.controlApi ? new ControlApi(target, options.adminToken) : undefined
  try {
    await checkReachable(options, api, control)
    const { prefix, connector, allowProviderChanges = false } = options
    const context = new CheckContext({ api, prefix, connector, control, allowProviderChanges })
    const outcomes = await runAll(checks, context, options)
    const left = await context.resources.removeAll()
    return { checks: outcomes, summary: conformSummary(outcomes), leftBehind: left.length }
  } finally {
    target.close()
  }
}

/** The checks that `only` and `basis` leave. @throws StartError when none is left */
export function chosenChecks({ only = [], basis }: Pick<ConformOptions, 'only' | 'basis'>): Check[] {
  const checks = CHECKS.filter(
    (check) =>
      (only.length === 0 || only.some((pattern) => matchesGlob(pattern, check.id))) &&
      (basis === undefined || check.basis.startsWith(`${basis}:`)),
  )
  if (checks.length > 0) return checks
  throw new StartError(
    `no check is called ${only.join(' or ')}${basis === undefined ? '' : ` with basis ${basis}`}; names are like ${CHECKS[0]?.id ?? ''}, and * matches any part`,
  )
}

async function checkReachable({ baseUrl }: ConformOptions, api: Api, control: ControlApi | undefined): Promise<void> {
  const fail = (error: unknown): never => {
    throw new StartError(`${baseUrl} cannot be checked: ${failureReason(error)}`)
  }
  await api.token().catch(fail)
  const health = await control?.call('GET', '/clock').catch(fail)
  if (health && health.status !== 200)
    throw new StartError(
      `${baseUrl} has no control API to consent with: GET /_mock/clock answers ${health.status} ${health.text.slice(0, 200)}`,
    )
}

/** Runs checks one after the other; `progress` is called before each. */
export async function runAll(
  checks: readonly Check[],
  context: CheckContext,
  { progress, signal }: Pick<ConformOptions, 'progress' | 'signal'>,
): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = []
  for (const check of checks) {
    progress?.(outcomes.length, checks.length, check.id)
    const aborted = signal?.aborted === true
    outcomes.push(aborted ? outcomeOfCheck(check, 'skipped', 'the run was interrupted') : await runOne(check, context))
  }
  return outcomes
}

async function runOne(check: Check, context: CheckContext): Promise<CheckOutcome> {
  try {
    await check.run(context)
    return outcomeOfCheck(check, 'held', '')
  } catch (error) {
    if (error instanceof Skipped) return outcomeOfCheck(check, 'skipped', error.message)
    if (error instanceof Broken) return outcomeOfCheck(check, 'broken', error.message)
    return outcomeOfCheck(check, 'broken', `expected an answer that can be read, found ${failureReason(error)}`)
  }
}

function outcomeOfCheck({ id, title, basis }: Check, result: CheckResult, reason: string): CheckOutcome {
  return { id, title, basis, result, reason }
}

function conformSummary(outcomes: readonly CheckOutcome[]): ConformReport['summary'] {
  const count = (result: CheckResult): number => outcomes.filter((each) => each.result === result).length
  return { total: outcomes.length, held: count('held'), broken: count('broken'), skipped: count('skipped') }
}
