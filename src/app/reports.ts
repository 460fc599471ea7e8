import type { PrismJudge } from '../contract/prism-judge.ts'
import type { Reports } from '../control/context.ts'
import { bundledScenarioNames } from '../documents/load-scenarios.ts'
import { instant } from '../domain/instant.ts'
import type { AppServices } from '../app-services.ts'
import type { Environment } from '../state/environment.ts'
import { contractReport, coverageReport, type ReportSources } from '../verdict/reports.ts'
import type { KeptEntries } from '../verdict/prism-check.ts'
import { noteEntry } from '../verdict/served.ts'
import { VERSION } from '../version.ts'

/** Joins the contract record to everything that its reports are made of. */
export function reportsOf({ registry, journals, records, scenarios, realTime }: AppServices): Reports {
  journals.observe((entry) => noteEntry(records, entry))
  const environments = (): readonly Environment[] => registry.environments()
  const sources = async (): Promise<ReportSources> => {
    const [{ Basis }, { readDocument }] = await Promise.all([
      import('../verdict/basis.ts'),
      import('../contract/generated/document.js'),
    ])
    return {
      records,
      basis: new Basis(readDocument()),
      version: VERSION,
      at: instant(realTime()),
      present: new Map(environments().map((environment) => [environment.name, scenarios(environment).history()])),
      bundledScenarios: await bundledScenarioNames(),
    }
  }
  return {
    contract: async (environment) => contractReport(await sources(), environment),
    coverage: async (environment) => coverageReport(await sources(), environment),
    prismCheck: prismChecks((name) =>
      environments()
        .filter((environment) => name === undefined || environment.name === name)
        .map((each) => ({ environment: each.name, entries: journals.of(each).recorded() })),
    ),
    rendered: async (format, environment) => {
      const [{ render }, made] = await Promise.all([import('../verdict/formats/format.ts'), sources()])
      return render(format, {
        contract: contractReport(made, environment),
        coverage: coverageReport(made, environment),
      })
    },
    names: () => new Set([...environments().map(({ name }) => name), ...records.names()]),
    removed: (environment) => records.removed(environment.name, scenarios(environment).history()),
    clear: (environment) => records.clear(environment),
  }
}

/** Prism is loaded once, when somebody first asks what it says. */
function prismChecks(journals: (environment?: string) => KeptEntries[]): Reports['prismCheck'] {
  let prism: Promise<PrismJudge> | undefined
  return async (environment) => {
    prism ??= import('../contract/prism-judge.ts').then(({ createPrismJudge }) => createPrismJudge())
    const [{ prismCheck }, judge] = await Promise.all([import('../verdict/prism-check.ts'), prism])
    return prismCheck(judge, journals(environment))
  }
}
