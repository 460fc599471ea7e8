import type { components } from '../../model/contract/generated/control-types.ts'

type Schemas = components['schemas']
export type ContractReport = Schemas['ContractReport']
export type ContractRecord = Schemas['ContractRecord']
export type ReportFinding = Schemas['ReportFinding']
export type FindingSource = Schemas['FindingOrigin']
export type PrismCheck = Schemas['PrismCheck']
export type CoverageReport = Schemas['CoverageReport']
export type Coverage = Schemas['Coverage']
export type Tally = Schemas['Tally']
export type Reach = Schemas['Reach']
export type CaseResult = Schemas['CaseResult']

/** Why a case failed beside its verdict: its command, what it expects, or a run that differs from the first one. */
export type CaseReasonCode = 'command' | 'request' | 'never' | 'item' | 'account' | 'transcript'
