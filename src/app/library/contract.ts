import { plural } from '../../model/domain/text.ts'
import { ANYTHING, BOOLEAN, checkOptions, invalidArgument, type Rule, TEXTS } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { Verdict } from '../../journal/verdict/report-pair.ts'
import type { ContractReport, CoverageReport, OperationName } from './types.ts'

/** Which environments a report is about. */
export interface ContractScope {
  /** All environments of the server together, removed ones included; this one alone when absent. */
  readonly everywhere?: boolean
}

/**
 * What a test provokes on purpose: every violation of an operation (`execute_tool`), those at one of its fields or inside it
 * (`execute_tool:tool_input`), paths that are not served (`unknown_path`), or one of them with all below it (`unknown_path:/v2`).
 */
export type Allowance = `${OperationName | 'unknown_path'}${'' | `:${string}`}`

/** A least number, or a least part of all. */
export type Amount = number | `${number}%`

/** What a verdict allows, and what it requires. */
export interface ContractExpectation extends ContractScope {
  readonly allow?: readonly Allowance[]
  /** Which warnings fail the verdict: every one, or only those of fields and parameters that nothing reads. */
  readonly failOn?: 'warning' | 'unread'
  /** How many operations must have answered a success. */
  readonly minOperations?: Amount
  /** How many of the declared statuses must have been answered. */
  readonly minStatuses?: Amount
  /**
   * Passes without a request to any operation, as `run --allow-no-requests` does; without it nothing was judged, which fails. So
   * does a run whose requests were all refused for their credentials, or only fetched a token: everywhere and in the default
   * environment; in that of a test it may be what the test is about.
   */
  readonly allowNoRequests?: boolean
}

export type { VerdictItem } from '../../journal/verdict/report-pair.ts'
export type VerdictReason = Verdict['reasons'][number]

/** Whether the contract was kept, and enough of it exercised. */
export type ContractVerdict = Verdict

/** Whether the clients of an environment keep the contract. The record survives every reset. */
export interface MockContract {
  /** Every finding, with the requests and tests that had it. */
  report(scope?: ContractScope): Promise<ContractReport>
  /** What was exercised, what only by a scenario, and what never. */
  coverage(scope?: ContractScope): Promise<CoverageReport>
  /** The verdict that `toolmock run` gives. @throws ToolmockError INVALID_ARGUMENT */
  verdict(expectation?: ContractExpectation): Promise<ContractVerdict>
  /**
   * Checks that the verdict is good.
   * @throws ToolmockError CONTRACT_BROKEN with every reason in the message and in `details`; INVALID_ARGUMENT
   */
  verify(expectation?: ContractExpectation): Promise<ContractVerdict>
  /** Clears the record. */
  clear(scope?: ContractScope): Promise<void>
}

const RULES = {
  everywhere: BOOLEAN,
  allow: TEXTS,
  failOn: ANYTHING,
  minOperations: ANYTHING,
  minStatuses: ANYTHING,
  allowNoRequests: BOOLEAN,
} satisfies Record<keyof ContractExpectation, Rule>

/** @internal */
export function contractOf(control: ControlClient): MockContract {
  const report = (scope?: ContractScope) => control.call('GET /contract', { query: contractQuery(scope) })
  const coverage = (scope?: ContractScope) => control.call('GET /coverage', { query: contractQuery(scope) })
  const verdict = async (expectation: ContractExpectation = {}): Promise<ContractVerdict> => {
    checkOptions('contract', expectation, RULES)
    const [{ verdictOf }, { readVerdictOptions, VerdictOptionError }] = await Promise.all([
      import('../../journal/verdict/verdict.ts'),
      import('../../journal/verdict/verdict-options.ts'),
    ])
    try {
      // Only the default environment, or all of them, are a whole run.
      const perTest = !(expectation.everywhere || control.environment === 'default')
      const options = { ...readVerdictOptions(expectation), perTest }
      return verdictOf({ contract: await report(expectation), coverage: await coverage(expectation) }, options)
    } catch (error) {
      throw error instanceof VerdictOptionError ? invalidArgument(error.message) : error
    }
  }
  return {
    report,
    coverage,
    verdict,
    verify: async (expectation) => {
      const contractVerdict = await verdict(expectation)
      if (contractVerdict.ok) return contractVerdict
      throw contractBroken(control.environment, contractVerdict, expectation)
    },
    clear: async (scope) => control.send('DELETE /contract', { query: contractQuery(scope) }),
  }
}

/** A report is about the environment of its `ControlClient` unless the query says otherwise. */
function contractQuery({ everywhere = false }: ContractScope = {}) {
  return everywhere ? { environment: undefined } : {}
}

function contractBroken(
  environment: string,
  { reasons }: ContractVerdict,
  { everywhere = false }: ContractScope = {},
): ToolmockError {
  const where = everywhere ? 'the server' : `environment ${environment}`
  const head = `the contract was not kept in ${where}, for ${plural(reasons.length, 'reason')}`
  const lines = reasons.map(({ kind, sentence }) => `- ${kind}: ${sentence}`)
  return new ToolmockError('CONTRACT_BROKEN', [head, ...lines].join('\n'), {
    details: reasons.map((reason) => ({ ...reason })),
  })
}
