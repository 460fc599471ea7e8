import { z } from 'zod'
import { withWays } from '../../model/domain/action.ts'
import type { ControlResponse, ControlCall } from '../../model/contract/control-call.ts'
import { ACCOUNT_STATUSES } from '../../model/domain/account.ts'
import { firedText } from '../../model/domain/scenario.ts'
import { oneLine, plural, quote } from '../../model/domain/text.ts'
import { findingText } from '../../model/domain/finding.ts'
import { findingSentence, ruleSentences } from '../../journal/verdict/sentences.ts'
import { nothingJudged } from '../../journal/verdict/verdict.ts'

/** A tool of the control server. It answers lines: what was found, the next step, then a line for each item. */
export interface ControlTool {
  readonly name: string
  readonly description: string
  /** Whether it changes nothing. */
  readonly reads: boolean
  readonly input: z.ZodObject
  /** `input` is what the schema has read, `url` where programs reach the server. */
  readonly run: (input: never, call: ControlCall, url: string) => Promise<readonly string[]>
}

function controlTool<Shape extends z.core.$ZodLooseShape>({
  input,
  ...rest
}: Omit<ControlTool, 'input' | 'run'> & {
  input: Shape
  run: (input: z.output<z.ZodObject<Shape>>, call: ControlCall, url: string) => Promise<readonly string[]>
}): ControlTool {
  const allowed = Object.keys(input).join(', ') || 'none'
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== 'unrecognized_keys') return undefined
    return `no argument ${quote(issue.keys[0] ?? '', 60)}; allowed: ${allowed}`
  }
  return { ...rest, input: z.strictObject(input, { error }) }
}

const text = z.string().min(1)
const limit = z.int().min(1).max(200).default(20)
const ACCOUNT_EVENTS = ['expire', 'disconnect', 'revoke_refresh_token', 'expire_access_token'] as const

/** Every tool, in the order in which they are listed. What a tool does is a call of the control API. */
export const CONTROL_TOOLS: readonly ControlTool[] = [
  controlTool({
    name: 'list_requests',
    description:
      'The address of the mock and its latest requests, oldest first, a line each: id, time, what was asked, the answer. Look here first when a call failed.',
    reads: true,
    input: {
      status: text.optional().describe('such as 404, or 4*'),
      operation: text.optional().describe('such as execute_tool, or a glob'),
      error_code: text.optional(),
      connector: text.optional(),
      identifier: text.optional(),
      tool: text.optional(),
      limit,
    },
    run: async (query, call, url) => {
      const { requests } = await call('GET /requests', { query })
      const last = requests.findLast(
        ({ status, method, path }) =>
          // Clients of MCP ask a server without sessions for a stream, and go on without one.
          method !== '' && (status === 0 || status >= 400) && !(status === 405 && path.startsWith('/mcp/')),
      )
      return [
        `${requests.length === 0 ? 'No request matches' : plural(requests.length, 'request')} at ${url}.`,
        last === undefined
          ? 'Next: run the program under test, then list again; contract_verdict judges all of its requests.'
          : `Next: explain_request with an id, such as ${last.id}.`,
        ...requests.map(summaryLine),
      ]
    },
  }),
  controlTool({
    name: 'explain_request',
    description: 'Why a request was answered as it was: the rule that decided, the state at that moment, what to do.',
    reads: true,
    input: { id: text.describe('from list_requests, or the X-Request-Id of an answer') },
    run: async (path, call) =>
      withWays(await call('GET /requests/{id}/explain', { path }), ({ tool: way }) =>
        way ? [`${way.name} ${JSON.stringify(way.arguments)}`] : [],
      ),
  }),
  controlTool({
    name: 'list_links',
    description: 'The magic links that a user could follow now.',
    reads: true,
    input: {},
    run: async (_, call) => {
      const { links } = await call('GET /links')
      if (links.length === 0) return ['No link can be followed.', 'Next: have the program create a magic link.']
      return [
        `${plural(links.length, 'link')}.`,
        'Next: complete_link with an id approves or denies it as its user would.',
        ...links.map(({ id, connector, identifier, expiry }) =>
          joinedLine(id, connector, identifier, `until ${expiry}`),
        ),
      ]
    },
  }),
  controlTool({
    name: 'complete_link',
    description: 'Give or refuse the consent of a magic link, as its user would in a browser.',
    reads: false,
    input: {
      link: text.describe('id from list_links, or the whole link'),
      decision: z.enum(['approve', 'deny']),
      as: text.optional().describe("who signs in; the account's own identifier by default"),
      scopes: z.array(text).optional().describe('what an approved consent grants; all that is asked for by default'),
    },
    run: async ({ link, ...body }, call) => {
      const id = link.replace(/[?#].*$/, '').replace(/^.*\//, '')
      const { redirect_url: url } = await call('POST /links/{id}/complete', { path: { id }, body })
      return [
        `Done. The browser would now go to ${url}`,
        'Next: the program verifies the user there; see list_accounts.',
      ]
    },
  }),
  controlTool({
    name: 'list_accounts',
    description: 'The connected accounts, a line each: id, connector, identifier, status.',
    reads: true,
    input: {
      query: text.optional().describe('part of identifier, connector or provider'),
      status: z.enum(ACCOUNT_STATUSES).optional(),
      limit,
    },
    run: async (query, call) => {
      const { accounts, total_size: total } = await call('GET /accounts', { query: { ...query, order: 'newest' } })
      return [
        `${accounts.length} of ${plural(total, 'account')}, newest first.`,
        'Next: account_event with an id changes its state.',
        ...accounts.map(accountLine),
      ]
    },
  }),
  controlTool({
    name: 'account_event',
    description: 'Let an event occur to an account, as the third party or its user would cause it.',
    reads: false,
    input: { account: text.describe('id, or an identifier that one account has'), event: z.enum(ACCOUNT_EVENTS) },
    run: async ({ account: id, event }, call) => {
      const { account } = await call('POST /accounts/{id}/{event}', { path: { id, event } })
      return [accountLine(account), RUN_AGAIN]
    },
  }),
  controlTool({
    name: 'set_clock',
    description: "Move, freeze or run the mock's clock: tokens and links expire by it. Without arguments, shows it.",
    reads: false,
    input: {
      advance: text.optional().describe('such as 90s, 2h or PT5M'),
      now: text.optional().describe('instant such as 2026-01-31T12:00:00Z'),
      frozen: z.boolean().optional(),
    },
    run: async (body, call) => {
      const isChange = Object.values(body).some((value) => value !== undefined)
      const { now, frozen } = await (isChange ? call('PUT /clock', { body }) : call('GET /clock'))
      return [`${now}, ${frozen ? 'frozen' : 'running'}`, 'Next: list_accounts shows what has expired.']
    },
  }),
  controlTool({
    name: 'list_scenarios',
    description: 'The faults that can be started by name; of those that were started, how often each rule fired.',
    reads: true,
    input: {},
    run: async (_, call) => {
      const { scenarios } = await call('GET /scenarios')
      return [
        `${plural(scenarios.length, 'scenario')}.`,
        'Next: start_scenario with a name.',
        ...scenarios.flatMap(scenarioLines),
      ]
    },
  }),
  controlTool({
    name: 'start_scenario',
    description: 'Start a scenario; its rules act on the requests that follow.',
    reads: false,
    input: { name: text.describe('from list_scenarios') },
    run: async (path, call) => {
      const { scenario } = await call('POST /scenarios/{name}/start', { path })
      return [...scenarioLines(scenario), `${RUN_AGAIN} stop_scenario ends it.`]
    },
  }),
  controlTool({
    name: 'stop_scenario',
    description: 'Stop a scenario; its counts stay.',
    reads: false,
    input: { name: text },
    run: async (path, call) => {
      const { scenario } = await call('POST /scenarios/{name}/stop', { path })
      return [...scenarioLines(scenario), 'Next: list_requests marks what its rules changed.']
    },
  }),
  controlTool({
    name: 'contract_verdict',
    description:
      "Whether the program under test keeps the service's contract: each violation, path that is not served, and rule that never fired.",
    reads: true,
    input: {},
    run: async (_, call) => verdictLines(await call('GET /contract')),
  }),
  controlTool({
    name: 'snapshot',
    description: 'List, save, restore or delete snapshots of the state.',
    reads: false,
    input: {
      action: z.enum(['list', 'save', 'restore', 'delete']),
      name: text.optional().describe('for all but list'),
    },
    run: async ({ action, name }, call) => {
      if (action === 'list') return snapshotLines(await call('GET /snapshots'))
      if (name === undefined) throw new Error(`\`name\` is required for ${action}; list shows the snapshots`)
      const route = {
        save: 'PUT /snapshots/{name}',
        restore: 'POST /snapshots/{name}/restore',
        delete: 'DELETE /snapshots/{name}',
      } as const
      await call(route[action], { path: { name } })
      return [`Done: ${action} ${name}.`, action === 'save' ? 'Next: restore takes the state back to it.' : RUN_AGAIN]
    },
  }),
  controlTool({
    name: 'reset',
    description: 'Take the state back to the seed; snapshots and bearer tokens stay.',
    reads: false,
    input: {},
    run: async (_, call) => {
      await call('POST /reset')
      return ['The state is back at the seed.', RUN_AGAIN]
    },
  }),
]

const RUN_AGAIN = 'Next: run the program, then list_requests.'

/** Parts that there are, as one line; they may come from a client. */
function joinedLine(...parts: readonly (string | number | false | null | undefined)[]): string {
  return parts
    .flatMap((part) => (part === false || part === null || part === undefined ? [] : [oneLine(String(part))]))
    .join(' ')
}

function summaryLine(entry: ControlResponse<'GET /requests'>['requests'][number]): string {
  const { id, at, method, operation, path, status, error_code, account_state: account, tool: called } = entry
  // A change of the clock or by the control API has a sentence in place of a method and a path.
  if (method === '') return joinedLine(id, at, path)
  const { rules, transitions, findings } = entry
  return joinedLine(
    ...[id, at, method, operation ?? path, status === 0 ? 'no answer' : status, error_code],
    account && `${account.connector} ${account.identifier}`,
    called,
    ...transitions.map(({ from, to }) => from !== to && `(${from} → ${to})`),
    ...rules.map(({ scenario, rule }) => `(rule ${scenario}/${rule})`),
    ...findings.map((finding) => `${finding.kind}: ${findingText(finding)}`),
  )
}

function accountLine(account: ControlResponse<'GET /accounts'>['accounts'][number]): string {
  const { id, connector, identifier, status, token_expires_at: expiry } = account
  return joinedLine(id, connector, identifier, status, expiry && `token until ${expiry}`)
}

/** The rules of a scenario that was not started have counted nothing. */
function scenarioLines(scenario: ControlResponse<'GET /scenarios'>['scenarios'][number]): string[] {
  const { name, description, running, started, state, rules } = scenario
  const what = running ? `runs${state === null ? '' : `, state ${state}`}` : 'stopped'
  return [
    joinedLine(`${name}:`, description, started && `(${what})`),
    ...rules.flatMap((rule) =>
      started ? [joinedLine(`- ${rule.name} (${rule.sentence}) fired`, firedText(name, rule))] : [],
    ),
  ]
}

function verdictLines({ ok, total }: ControlResponse<'GET /contract'>): string[] {
  const { requests, judged, injected, scenarios, findings } = total
  const lines = [...(requests > 0 ? nothingJudged(total, {}) : []), ...findings].map((each) =>
    joinedLine('-', `${each.kind}:`, findingSentence(each), each.request !== null && `[${each.request}]`),
  )
  const verdict = !ok ? 'the verdict failed' : judged === 0 ? 'nothing to judge' : 'the contract was kept'
  return [
    `${verdict}: ${plural(requests, 'request')}, ${injected} answered or changed by a scenario.`,
    lines.some((each) => each.endsWith(']')) ? 'Next: explain_request with an id in brackets.' : RUN_AGAIN,
    ...lines,
    ...ruleSentences(scenarios).map((sentence) => joinedLine('-', sentence)),
  ]
}

function snapshotLines({ snapshots }: ControlResponse<'GET /snapshots'>): string[] {
  const rows = snapshots.map(({ name, taken_at: at }) => joinedLine(name, at))
  return [`${plural(rows.length, 'snapshot')}.`, 'Next: save, or restore one.', ...rows]
}
