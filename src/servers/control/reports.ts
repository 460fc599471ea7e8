import type { Reports } from '../../journal/verdict/reports.ts'
import { type ControlHandlers, environmentNotFound } from './call.ts'

export const reportHandlers = {
  /** Of all environments unless one is named: a client can break the contract in any of them. */
  get_contract: async ({ services, query }) => {
    const reports = await services.reports()
    const environment = reportedRecords(reports, query.environment)
    if (query.format !== 'json') return reports.rendered(query.format, environment, query.allow_no_requests === 'true')
    const second_opinion = query.judge && (await reports.prismCheck(environment))
    return { body: { ...(await reports.contract(environment)), ...(second_opinion && { second_opinion }) } }
  },

  get_coverage: async ({ services, query }) => {
    const reports = await services.reports()
    const environment = reportedRecords(reports, query.environment)
    if (query.format !== 'json') return reports.rendered(query.format, environment, true)
    return { body: await reports.coverage(environment) }
  },

  clear_contract: async ({ services, query }) => {
    const environment = reportedRecords(await services.reports(), query.environment)
    return { body: {}, onceDurable: () => services.records.clear(environment) }
  },
} satisfies Partial<ControlHandlers>

/** Reports also know environments that were deleted. @throws ControlError ENVIRONMENT_NOT_FOUND */
function reportedRecords(reports: Reports, name: string | undefined): string | undefined {
  const names = reports.names()
  if (name !== undefined && !names.has(name)) throw environmentNotFound(name, [...names])
  return name
}
