import type { AppServices } from '../app-services.ts'
import type { PrismValidator } from '../contract/prism-validator.ts'
import { bundledScenarioNames } from '../documents/load-scenarios.ts'
import type { ContractReport, CoverageReport, PrismCheck } from '../documents/report-schemas.ts'
import { instant } from '../domain/instant.ts'
import type { ReportFormat } from './formats/format.ts'
import type { KeptEntries } from './prism-check.ts'
import { contractReport, coverageReport, type ReportSources } from './reports.ts'

/** The reports of a running server, of one environment or of all of them; each is made when it is asked for. */
export interface Reports {
  contract(environment?: string): Promise<ContractReport>
  coverage(environment?: string): Promise<CoverageReport>
  /** Checks the exchanges in the request journals by Prism, which is loaded the first time. */
  prismCheck(environment?: string): Promise<PrismCheck>
  /** Both reports in another format. */
  rendered(format: ReportFormat, environment?: string): Promise<{ readonly text: string; readonly type: string }>
  /** The environments that a report can be about, removed ones included. */
  names(): ReadonlySet<string>
}

export function createReports(
  services: Pick<AppServices, 'version' | 'registry' | 'journals' | 'records' | 'scenarios' | 'realTime'>,
): Reports {
  const { version, registry, journals, records, scenarios, realTime } = services
  let prism: Promise<PrismValidator> | undefined
  const sources = async (): Promise<ReportSources> => {
    const [{ Basis }, { readDocument }] = await Promise.all([
      import('./basis.ts'),
      import('../contract/generated/document.js'),
    ])
    return {
      records,
      basis: new Basis(readDocument()),
      version,
      at: instant(realTime()),
      present: new Map(registry.environments().map((each) => [each.name, scenarios.of(each).history()])),
      bundledScenarios: await bundledScenarioNames(),
    }
  }
  const journalsOf = (environment?: string): KeptEntries[] =>
    registry
      .environments()
      .filter(({ name }) => environment === undefined || name === environment)
      .map((each) => ({ environment: each.name, entries: journals.of(each).recorded() }))
  return {
    contract: async (environment) => contractReport(await sources(), environment),
    coverage: async (environment) => coverageReport(await sources(), environment),
    prismCheck: async (environment) => {
      prism ??= import('../contract/prism-validator.ts').then(({ createPrismValidator }) => createPrismValidator())
      const [{ prismCheck }, judge] = await Promise.all([import('./prism-check.ts'), prism])
      return prismCheck(judge, journalsOf(environment))
    },
    rendered: async (format, environment) => {
      const [{ render }, made] = await Promise.all([import('./formats/format.ts'), sources()])
      return render(format, {
        contract: contractReport(made, environment),
        coverage: coverageReport(made, environment),
      })
    },
    names: () => new Set([...registry.environments().map(({ name }) => name), ...records.names()]),
  }
}
