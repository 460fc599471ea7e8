import type { components } from '../contract/generated/control-types.ts'

/* The reports, as `spec/control.openapi.yaml` describes them. */

type Schemas = components['schemas']
export type ContractReport = Schemas['ContractReport']
export type ContractRecord = Schemas['ContractRecord']
export type Finding = Schemas['Finding']
export type Warning = Schemas['ContractWarning']
export type UnknownPath = Schemas['UnknownPath']
export type FindingOrigin = Schemas['FindingOrigin']
export type TestName = Schemas['NamedTest']
export type UnfiredRule = Schemas['UnfiredRule']
export type PrismCheck = Schemas['PrismCheck']
export type CoverageReport = Schemas['CoverageReport']
export type Coverage = Schemas['Coverage']
export type Tally = Schemas['Tally']
export type Reach = Schemas['Reach']

/** Why a case failed beside its verdict: its command, what it expects, or a run that differs from the first one. */
export type CaseReasonKind = 'command' | 'request' | 'never' | 'item' | 'account' | 'transcript'

/** How a case of `run --cases` ended: `cases` of its JSON report. */
export interface CaseResult {
  readonly name: string
  readonly file: string
  readonly line: number
  readonly ok: boolean
  readonly reasons: readonly {
    /** A kind of reason of the verdict, or one of those that only cases have. */
    readonly kind: string
    readonly sentence: string
    readonly requests: readonly string[]
    readonly details: readonly string[]
  }[]
  /** Of its first run. */
  readonly requests: number
  /** Of all of its runs together, in real time. */
  readonly duration_ms: number
  /** The SHA-256 of its transcript, equal for equal requests, answers and effects. */
  readonly transcript: string
}
