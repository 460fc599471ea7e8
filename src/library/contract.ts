import { ANYTHING, checkNamed, type Kind, SWITCH, TEXTS } from './arguments.ts'
import type { Control } from './control.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { Allowance, Amount, ContractReport, ContractVerdict } from './views/contract.ts'
import type { CoverageReport } from './views/coverage.ts'

/** Whose record it is about. */
export interface ContractScope {
  /** All environments of the server together, those that are gone included; this one alone when absent. */
  readonly everywhere?: boolean
}

/** What a verdict is to overlook, and what it is to ask for. */
export interface ContractExpectation extends ContractScope {
  /** What a test provokes on purpose. */
  readonly allow?: readonly Allowance[]
  /** So many of the operations have to have answered a success. */
  readonly minOperations?: Amount
  /** So many of the declared statuses have to have been answered. */
  readonly minStatuses?: Amount
}

/** Whether the clients of an environment keep the contract. What they did is remembered whatever is reset. */
export interface MockContract {
  /** What was wrong, what was sent in vain, which paths are not served, which rules never fired. */
  report(scope?: ContractScope): Promise<ContractReport>
  /** What was exercised, what only by a scenario, and what never. */
  coverage(scope?: ContractScope): Promise<CoverageReport>
  /** The same judgement as that of `toolmock run`. @throws ToolmockError INVALID_ARGUMENT */
  verdict(expectation?: ContractExpectation): Promise<ContractVerdict>
  /**
   * Holds when the verdict is good; warnings never fail it.
   * @throws ToolmockError CONTRACT_BROKEN with every reason in the message and in `details`; INVALID_ARGUMENT
   */
  verify(expectation?: ContractExpectation): Promise<ContractVerdict>
  /** The record begins anew. */
  clear(scope?: ContractScope): Promise<void>
}

/** @internal */
export function contractOf(control: Control): MockContract {
  const report = (scope?: ContractScope) => control.call('GET /contract', { query: queryOf(scope) })
  const coverage = (scope?: ContractScope) => control.call('GET /coverage', { query: queryOf(scope) })
  const verdict = async (expectation: ContractExpectation = {}): Promise<ContractVerdict> => {
    checkNamed('contract', expectation, KINDS)
    const [{ readVerdictOptions }, { verdictOf }] = await Promise.all([
      import('../verdict/verdict-options.ts'),
      import('../verdict/verdict.ts'),
    ])
    const options = readOrRefuse(readVerdictOptions, expectation)
    return verdictOf({ contract: await report(expectation), coverage: await coverage(expectation) }, options)
  }
  return {
    report,
    coverage,
    verdict,
    verify: async (expectation) => {
      const found = await verdict(expectation)
      if (found.ok) return found
      throw contractBroken(control.environment, found, expectation)
    },
    clear: async (scope) => {
      await control.call('DELETE /contract', { query: queryOf(scope) })
    },
  }
}

const KINDS = {
  everywhere: SWITCH,
  allow: TEXTS,
  minOperations: ANYTHING,
  minStatuses: ANYTHING,
} satisfies Record<keyof ContractExpectation, Kind>

/** A call is about its own environment unless it says otherwise. */
function queryOf({ everywhere = false }: ContractScope = {}) {
  return everywhere ? { environment: undefined } : {}
}

function readOrRefuse<Read>(read: (asked: ContractExpectation) => Read, asked: ContractExpectation): Read {
  try {
    return read(asked)
  } catch (error) {
    throw new ToolmockError('INVALID_ARGUMENT', error instanceof Error ? error.message : String(error))
  }
}

function contractBroken(
  environment: string,
  { reasons }: ContractVerdict,
  { everywhere = false }: ContractScope = {},
): ToolmockError {
  const where = everywhere ? 'the server' : `environment ${environment}`
  const head = `the contract was not kept in ${where}, for ${reasons.length} ${reasons.length === 1 ? 'reason' : 'reasons'}`
  const lines = reasons.map(({ kind, sentence }) => `- ${kind.replaceAll('_', ' ')}: ${sentence}`)
  return new ToolmockError('CONTRACT_BROKEN', [head, ...lines].join('\n'), {
    details: reasons.map((reason) => ({ ...reason })),
  })
}
