import type { ControlReply, ControlRoute, ServerCall } from './context.ts'
import { ControlError, faulty } from './control-error.ts'

/** What clients did wrong, and what they never exercised. */
export const REPORT_ROUTES: readonly ControlRoute[] = [
  {
    about: 'server',
    operation: 'get_contract',
    method: 'GET',
    path: '/contract',
    query: ['environment', 'format', 'judge'],
    handle: contract,
  },
  {
    about: 'server',
    operation: 'clear_contract',
    method: 'DELETE',
    path: '/contract',
    query: ['environment'],
    handle: clear,
  },
  {
    about: 'server',
    operation: 'get_coverage',
    method: 'GET',
    path: '/coverage',
    query: ['environment', 'format'],
    handle: coverage,
  },
]

/** Of all environments, unless one is named: what a client does wrong is wrong wherever it did it. */
async function contract(call: ServerCall): Promise<ControlReply> {
  const environment = environmentOf(call)
  const { reports } = call.context
  const format = formatOf(call, ['json', 'junit', 'sarif', 'html'])
  const judge = judgeOf(call, format)
  if (format !== 'json') return { status: 200, ...(await reports.rendered(format, environment)) }
  const second_opinion = judge && (await reports.prismCheck(environment))
  return { status: 200, body: { ...(await reports.contract(environment)), ...(second_opinion && { second_opinion }) } }
}

async function coverage(call: ServerCall): Promise<ControlReply> {
  const environment = environmentOf(call)
  const { reports } = call.context
  const format = formatOf(call, ['json', 'html'])
  if (format === 'json') return { status: 200, body: await reports.coverage(environment) }
  return { status: 200, ...(await reports.rendered(format, environment)) }
}

function clear(call: ServerCall): ControlReply {
  call.context.services.records.clear(environmentOf(call))
  return { status: 200, body: {} }
}

/** @throws ControlError ENVIRONMENT_NOT_FOUND: neither there nor gone */
function environmentOf({ context, query }: ServerCall): string | undefined {
  const name = query.get('environment')
  if (name === null) return undefined
  const known = context.reports.names()
  if (known.has(name)) return name
  const message = `there is no environment ${JSON.stringify(name.slice(0, 100))}; there are ${[...known].slice(0, 30).join(', ')}`
  throw new ControlError('ENVIRONMENT_NOT_FOUND', message)
}

/** Whoever else is asked: the reports in other formats have no room for what he says. */
function judgeOf({ query }: ServerCall, format: string): 'prism' | undefined {
  const given = query.get('judge')
  if (given === null) return undefined
  if (given === 'prism' && format === 'json') return given
  const allowed = format === 'json' ? 'prism' : 'none but with format=json'
  throw faulty('INVALID_QUERY', [{ path: 'judge', found: JSON.stringify(given.slice(0, 100)), allowed }])
}

function formatOf<Format extends string>({ query }: ServerCall, allowed: readonly ['json', ...Format[]]) {
  const given = query.get('format') ?? 'json'
  const format = allowed.find((each) => each === given)
  if (format !== undefined) return format
  const found = JSON.stringify(given.slice(0, 100))
  throw faulty('INVALID_QUERY', [{ path: 'format', found, allowed: allowed.join(', ') }])
}
