import { environmentNotFound, type ControlReply, type ServerCall } from './call.ts'

/** Of all environments unless one is named: a client can break the contract in any of them. */
export async function getContract({ services, query }: ServerCall<'get_contract'>): Promise<ControlReply> {
  const { reports } = services
  const environment = reported(services, query.environment)
  if (query.format !== 'json') return reports.rendered(query.format, environment)
  const second_opinion = query.judge && (await reports.prismCheck(environment))
  return { body: { ...(await reports.contract(environment)), ...(second_opinion && { second_opinion }) } }
}

export async function getCoverage({ services, query }: ServerCall<'get_coverage'>): Promise<ControlReply> {
  const { reports } = services
  const environment = reported(services, query.environment)
  if (query.format !== 'json') return reports.rendered(query.format, environment)
  return { body: await reports.coverage(environment) }
}

export function clearContract({ services, query }: ServerCall<'clear_contract'>): ControlReply {
  const environment = reported(services, query.environment)
  return { body: {}, onceDurable: () => services.records.clear(environment) }
}

/** Reports also know environments that were deleted. @throws ControlError ENVIRONMENT_NOT_FOUND */
function reported({ reports }: ServerCall<'get_contract'>['services'], name: string | undefined): string | undefined {
  const known = reports.names()
  if (name !== undefined && !known.has(name)) throw environmentNotFound(name, [...known])
  return name
}
