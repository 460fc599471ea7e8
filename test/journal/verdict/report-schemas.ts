import { controlSchemaCheck } from '../../../src/model/contract/control-schema.ts'
import type { ContractReport, CoverageReport } from '../../../src/journal/verdict/report-types.ts'

const check = await controlSchemaCheck()

function checked(name: 'ContractReport' | 'CoverageReport', value: unknown): unknown {
  if (check(name, value)) return value
  throw new Error(`no ${name}: ${JSON.stringify(value).slice(0, 2000)}`)
}

/** The reports as `spec/control.openapi.yaml` describes them. */
export const contractReportSchema = { parse: (value: unknown) => checked('ContractReport', value) as ContractReport }
export const coverageReportSchema = { parse: (value: unknown) => checked('CoverageReport', value) as CoverageReport }
