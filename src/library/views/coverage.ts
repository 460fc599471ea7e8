/** By answers of the mock itself; only by answers that a scenario injected; not at all. */
export type Reach = 'driven' | 'injected_only' | 'never'

/** How many of a kind were reached, and how. */
export interface CoverageTally {
  readonly total: number
  readonly driven: number
  readonly injected_only: number
  readonly never: number
}

interface ReachedAnswers {
  readonly reach: Reach
  /** Of the mock itself. */
  readonly answers: number
  /** By a scenario. */
  readonly injected: number
}

/** One operation: its declared statuses and error codes, and the fields of its requests and answers. */
export interface OperationCoverage {
  readonly operation: string
  /** Driven once it has answered a success by itself. */
  readonly reach: Reach
  readonly statuses: readonly (ReachedAnswers & {
    readonly status: number
    readonly error_codes: readonly (ReachedAnswers & { readonly error_code: string })[]
  })[]
  readonly request_fields: readonly {
    readonly path: string
    readonly in: 'path' | 'query' | 'body'
    readonly required: boolean
    /** Driven by a request that kept the contract. */
    readonly reach: Reach
  }[]
  readonly response_fields: readonly { readonly path: string; readonly reach: Reach }[]
}

/** What of the contract has been exercised. */
export interface Coverage {
  /** Each kind by itself: they are never added up. */
  readonly summary: Readonly<
    Record<
      | 'operations'
      | 'statuses'
      | 'error_codes'
      | 'request_fields'
      | 'response_fields'
      | 'lifecycle_moves'
      | 'scenarios',
      CoverageTally
    >
  >
  readonly operations: readonly OperationCoverage[]
  /** Injected: forced by a scenario or by the control API. */
  readonly lifecycle_moves: readonly {
    readonly from: string
    readonly event: string
    readonly to: string
    readonly reach: Reach
  }[]
  /** The bundled ones; driven once every rule has fired that has to. */
  readonly scenarios: readonly {
    readonly name: string
    readonly reach: Reach
    readonly started: number
    readonly rules: number
    readonly rules_fired: number
  }[]
}

/** What `GET /_mock/coverage` answers (`spec/schemas/coverage-report.schema.json`). */
export interface CoverageReport {
  readonly schema_version: 1
  readonly tool: { readonly name: 'toolmock'; readonly version: string }
  /** When it was made, in real time. */
  readonly at: string
  readonly total: Coverage
  readonly environments: readonly (Coverage & { readonly name: string })[]
}
