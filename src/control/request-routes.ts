import { explain } from '../request-journal/explain.ts'
import { type Match, readMatch } from '../request-journal/query.ts'
import { readJournalQuery } from '../request-journal/query.ts'
import { valueOf } from './body.ts'
import type { ControlCall, ControlReply, ControlRoute } from './context.ts'
import { ControlError } from './control-error.ts'
import { streamEvents } from './event-stream.ts'
import { anInteger, anObject, type Forms, type Read, readFields } from './fields.ts'
import { LONGEST_WAIT } from './waiting.ts'

/** The journal. */
export const REQUEST_ROUTES: readonly ControlRoute[] = [
  { about: 'environment', operation: 'list_requests', method: 'GET', path: '/requests', query: 'any', handle: list },
  { about: 'environment', operation: 'clear_requests', method: 'DELETE', path: '/requests', handle: clear },
  {
    about: 'environment',
    operation: 'count_requests',
    method: 'POST',
    path: '/requests/count',
    body: 'required',
    handle: count,
  },
  {
    about: 'environment',
    operation: 'verify_requests',
    method: 'POST',
    path: '/requests/verify',
    body: 'required',
    handle: verify,
  },
  {
    about: 'environment',
    operation: 'wait_for_requests',
    method: 'POST',
    path: '/requests/wait',
    body: 'required',
    handle: wait,
  },
  { about: 'environment', operation: 'get_request', method: 'GET', path: '/requests/{id}', handle: get },
  {
    about: 'environment',
    operation: 'explain_request',
    method: 'GET',
    path: '/requests/{id}/explain',
    handle: explainOne,
  },
  { about: 'environment', operation: 'stream_events', method: 'GET', path: '/events', handle: streamEvents },
]

const MATCH_FORMS = { match: anObject }
const VERIFY_FORMS = { ...MATCH_FORMS, times: anInteger(0, 1_000_000) }
const WAIT_FORMS = { ...MATCH_FORMS, times: anInteger(1, 1_000_000), timeout_ms: anInteger(0, LONGEST_WAIT) }

function list({ context, environment, query }: ControlCall): ControlReply {
  return { status: 200, body: { requests: context.journals.of(environment).query(readJournalQuery(query)) } }
}

function clear({ context, environment }: ControlCall): ControlReply {
  context.journals.of(environment).clear()
  return { status: 200, body: {} }
}

async function count(call: ControlCall): Promise<ControlReply> {
  const { match } = await question(call, MATCH_FORMS)
  return { status: 200, body: { count: call.context.journals.of(call.environment).count(match) } }
}

async function verify(call: ControlCall): Promise<ControlReply> {
  const { match, times } = await question(call, VERIFY_FORMS)
  return { status: 200, body: call.context.journals.of(call.environment).verify(match, times) }
}

async function wait(call: ControlCall): Promise<ControlReply> {
  const { context, environment, response } = call
  const { match, times = 1, timeout_ms } = await question(call, WAIT_FORMS)
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  response.on('close', leave)
  const signal = AbortSignal.any([gone.signal, context.closing])
  const verdict = await context.journals.of(environment).wait(match, { times, timeoutMs: timeout_ms, signal })
  response.off('close', leave)
  if (verdict.ok) return { status: 200, body: verdict }
  const message = `${verdict.matched} of ${times} matching requests were there when the time was over`
  throw new ControlError('TIMED_OUT', message, [
    {
      matched: verdict.matched,
      near_misses: verdict.near_misses.map((miss) => ({
        ...miss,
        differences: miss.differences.map((each) => ({ ...each })),
      })),
    },
  ])
}

function get({ context, environment, path }: ControlCall): ControlReply {
  const entry = context.journals.of(environment).find(path['id'] ?? '')
  return { status: 200, body: { request: found(entry, path['id']) } }
}

function explainOne({ context, environment, path }: ControlCall): ControlReply {
  const explanation = explain(context.journals.of(environment), path['id'] ?? '', environment)
  return { status: 200, body: found(explanation, path['id']) }
}

function found<T extends object>(entry: T | undefined, id = ''): T {
  if (entry) return entry
  const message = `the journal has no request ${JSON.stringify(id.slice(0, 100))}; ids are those of X-Request-Id`
  throw new ControlError('REQUEST_NOT_FOUND', message)
}

async function question<F extends Forms & typeof MATCH_FORMS>(
  { body }: ControlCall,
  forms: F,
): Promise<Omit<Read<F>, 'match'> & { match: Match }> {
  const { match, ...rest } = readFields(body && (await valueOf(body)), forms)
  return { ...rest, match: readMatch(match) }
}
